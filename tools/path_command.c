// SPDX-License-Identifier: Apache-2.0
// mxprof path: the chain of what each step waited for, from its end back to its begin.
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "path_view.h"
#include "profiler/trace/merge.h"
#include "selection.h"

static const char help[] =
    "mxprof path prints the critical path: what the time of a step is made of, if one goes back\n"
    "from its end to what each thing waited for last. It fills a step without a gap. What is not "
    "on\n"
    "it may become faster, and no step does.\n"
    "\n"
    "usage: mxprof path [OPTIONS] FILE\n"
    "\n" MXP_WINDOW_HELP "  --pieces        all pieces in --json also of many steps\n"
    "  --trace FILE    also writes the trace as Chrome JSON with the path in it: a row of its "
    "own,\n"
    "                  and arrows along it (of one process; - is standard output)\n"
    "  --memory MIB    how much a window may take (default 1024)\n"
    "  --unit UNIT     auto (default), ns, us, ms or s\n"
    "  --json          all rows, and the pieces of a single step; times in ns\n"
    "\n"
    "Of one step every piece is shown, of several their sums. What a piece is:\n"
    "  run             an operator runs\n"
    "  dispatch        all was there but the worker\n"
    "  wake            what a thread waited for is there; it comes back\n"
    "  call, input, memory, garbage collection, span, between calls\n"
    "                  the program itself, by its innermost span\n"
    "  custom          the function of a custom operator; hand-off: the way to it\n"
    "  communication, back pressure\n"
    "  unknown         something that has no record\n"
    "\n"
    "examples\n"
    "  mxprof path run.mxp\n"
    "  mxprof path --step slowest run.mxp\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged, 2 wrong call, 3 what was asked for is not\n"
    "in the trace\n";

typedef struct path_options {
    mxp_selection selection;
    int json, pieces, unit;
    const char *memory, *trace;
    uint64_t limit_bytes;
} path_options;

typedef struct path_run {
    const mxp_command *self;
    path_options *options;
    bool is_one;  // process
    mxp_screen screen;
    mxp_strbuf out;
    mxp_json json;
} path_run;

static void print_view(path_run *run, const mxp_path_view *view, const mxp_steps *steps)
{
    if (run->options->json) {
        mxp__json_object(&run->json, NULL);
        mxp__path_view_json(view, steps, &run->json);
        mxp__json_end(&run->json);
    } else {
        mxp__path_view_print(view, steps, &run->screen, &run->out);
    }
}

// The exit code; of one of several processes -1 after a line in its place.
static int tell_empty(path_run *run)
{
    static const char line[] = "nothing is recorded in this window: it has no path\n";
    if (run->is_one) {
        fprintf(stderr, "mxprof %s: %s", run->self->name, line);
        return MXP_EXIT_UNKNOWN;
    }
    mxp__strbuf_puts(&run->out, line);
    return -1;
}

// -1, or the exit code after an error line.
static int view_choice(path_run *run, mxp_source *process, const mxp_steps *steps,
                       const mxp_choice *choice)
{
    const path_options *options = run->options;
    const bool is_one = choice->step_count == 1 || (choice->steps == NULL && options->json);
    const bool keeps = options->pieces || options->trace != NULL || is_one;
    mxp_path_view view;
    int error = mxp__path_view_make(process, steps, choice, options->limit_bytes, keeps, &view);
    if (error != MXP_OK) {
        return mxp__command_failed(run->self);
    }
    int code = -1;
    if (mxp__path_view_is_empty(&view) && !options->json) {
        code = tell_empty(run);
        mxp__path_view_fini(&view);
        return code;
    }
    if (choice->steps != NULL &&
        mxp__path_view_bound(&view, steps, options->limit_bytes) != MXP_OK) {
        code = mxp__command_failed(run->self);
    } else if (options->trace != NULL) {
        code = mxp__path_view_trace(run->self, &view, options->trace);
        code = code == MXP_EXIT_FINE ? -1 : code;
    }
    if (code < 0 && (options->trace == NULL || strcmp(options->trace, "-") != 0)) {
        print_view(run, &view, steps);
    }
    mxp__path_view_fini(&view);
    return code;
}

// -1, or the exit code after an error line.
static int view_process(path_run *run, mxp_source *process)
{
    const path_options *options = run->options;
    mxp_steps steps;
    mxp_choice choice;
    if (mxp__steps_find(process, &steps) != MXP_OK) {
        return mxp__command_failed(run->self);
    }
    int code = mxp__selection_window(run->self, &options->selection, &steps, &choice);
    if (code < 0) {
        code = view_choice(run, process, &steps, &choice);
        mxp__choice_fini(&choice);
    }
    mxp__steps_fini(&steps);
    return code;
}

static int view_processes(path_run *run, mxp_input *input)
{
    int code = -1;
    run->is_one = input->source->process_count == 0;
    if (run->options->json) {
        run->json.out = &run->out;
        mxp__json_object(&run->json, NULL);
        mxp__json_array(&run->json, "processes");
    }
    for (size_t i = 0; code < 0; i++) {
        mxp_source *process = mxp__source_process(input->source, i);
        if (process == NULL) {
            break;
        }
        if (!run->is_one && !run->options->json) {
            mxp__strbuf_printf(&run->out, "%sprocess %u\n", i == 0 ? "" : "\n", process->pid);
        }
        code = view_process(run, process);
    }
    if (run->options->json) {
        mxp__json_end(&run->json);
        mxp__json_end(&run->json);
    }
    return code;
}

static int path_of_file(const mxp_command *self, const char *file, path_options *options)
{
    mxp_input input;
    path_run run = {.self = self, .options = options};
    if (mxp__input_open(self, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    mxp__screen_look(STDOUT_FILENO, &run.screen);
    run.screen.unit = options->unit;
    int code = view_processes(&run, &input);
    if (code < 0) {
        code = mxp__output_print(self, &run.out);
    }
    code = mxp__input_end(&input, code);
    mxp__strbuf_fini(&run.out);
    mxp__input_close(&input);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    path_options chosen = {.limit_bytes = MXP__GRAPH_BYTES_MAX};
    const mxp_option options[] = {
        MXP_WINDOW_OPTIONS(&chosen.selection),
        {.name = "--pieces", .number = &chosen.pieces},
        {.name = "--trace", .text = &chosen.trace},
        {.name = "--memory", .text = &chosen.memory},
        {.name = "--unit", .words = mxp__unit_words, .number = &chosen.unit},
        {.name = "--json", .number = &chosen.json},
        {.name = NULL},
    };
    const char *file;
    int code = mxp__options_parse(self, options, count, arguments, &file);
    if (code < 0) {
        code = mxp__selection_check(self, &chosen.selection);
    }
    size_t mib = 0;
    if (code < 0 && chosen.memory != NULL) {
        code = mxp__count_option(self, "--memory", chosen.memory, &mib);
        chosen.limit_bytes = (uint64_t)mib << 20;
    }
    return code >= 0 ? code : path_of_file(self, file, &chosen);
}

const mxp_command mxp__command_path = {
    .name = "path",
    .summary = "the critical path: what the time of a step is made of",
    .help = help,
    .run = run,
};
