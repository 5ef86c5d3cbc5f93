// SPDX-License-Identifier: Apache-2.0
// mxprof path: the chain of what each step waited for, from its end back to its begin.
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>

#include "each_window.h"
#include "path_view.h"

static const char help[] =
    "mxprof path prints the critical path: what the time of a step is made of, if one goes\n"
    "back from its end to what each thing waited for last. It fills a step without a gap. What\n"
    "is not on it may become faster, and no step does.\n"
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
    mxp_window_options window;
    int pieces;
    const char *trace;
} path_options;

static void print_view(mxp_each_window *run, const mxp_path_view *view, const mxp_steps *steps)
{
    const mxp_selection *selection = &run->options->selection;
    if (run->options->json) {
        mxp__json_object(&run->json, NULL);
        mxp__path_view_json(view, steps, &run->json);
        mxp__json_end(&run->json);
    } else {
        mxp__selection_put_no_end(selection, view->choice, &run->out);
        mxp__path_view_print(view, steps, &run->screen, &run->out);
    }
}

// The exit code; of one of several processes -1 after a line in its place.
static int tell_empty(mxp_each_window *run)
{
    static const char line[] = "nothing is recorded in this window: it has no path\n";
    if (run->is_one) {
        fprintf(stderr, "mxprof %s: %s", run->command->name, line);
        return MXP_EXIT_UNKNOWN;
    }
    mxp__strbuf_puts(&run->out, line);
    return -1;
}

static int show_view(mxp_each_window *run, mxp_path_view *view, const mxp_steps *steps)
{
    const path_options *options = run->context;
    if (mxp__path_view_is_empty(view) && !run->options->json) {
        return tell_empty(run);
    }
    run->answered++;
    const int code = options->trace == NULL
                         ? MXP_EXIT_FINE
                         : mxp__path_view_trace(run->command, view, options->trace);
    if (code != MXP_EXIT_FINE) {
        return code;
    }
    if (options->trace == NULL || strcmp(options->trace, "-") != 0) {
        print_view(run, view, steps);
    }
    return -1;
}

static int look(mxp_each_window *run, mxp_source *process, const mxp_steps *steps,
                const mxp_choice *choice)
{
    const path_options *options = run->context;
    const bool is_one = choice->step_count == 1 || (choice->steps == NULL && run->options->json);
    const bool keeps = options->pieces || options->trace != NULL || is_one;
    mxp_path_view view;
    int error = mxp__path_view_make(process, choice, run->options->limit_bytes, keeps, &view);
    if (error != MXP_OK) {
        return mxp__command_failed(run->command);
    }
    const int code = show_view(run, &view, steps);
    mxp__path_view_fini(&view);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    path_options chosen = {.window.wants_ends = true};
    const mxp_option options[] = {
        MXP_EACH_WINDOW_OPTIONS(&chosen.window),
        {.name = "--pieces", .number = &chosen.pieces},
        {.name = "--trace", .text = &chosen.trace},
        {.name = NULL},
    };
    const char *file;
    int code = mxp__options_parse(self, options, count, arguments, &file);
    if (code < 0) {
        code = mxp__window_options_check(self, &chosen.window);
    }
    return code >= 0 ? code : mxp__each_window(self, file, &chosen.window, look, &chosen);
}

const mxp_command mxp__command_path = {
    .name = "path",
    .summary = "the critical path: what the time of a step is made of",
    .help = help,
    .run = run,
};
