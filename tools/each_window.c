// SPDX-License-Identifier: Apache-2.0
// See each_window.h.
#include "each_window.h"

#include <mxprof/error.h>
#include <unistd.h>

#include "coverage.h"
#include "profiler/analysis/graph/graph.h"
#include "profiler/trace/merge.h"

int mxp__window_options_check(const mxp_command *command, mxp_window_options *options)
{
    size_t mib = 0;
    options->limit_bytes = MXP__GRAPH_BYTES_MAX;
    int code = mxp__selection_check(command, &options->selection);
    if (code < 0 && options->memory != NULL) {
        code = mxp__count_option(command, "--memory", options->memory, &mib);
        options->limit_bytes = (uint64_t)mib << 20;
    }
    return code;
}

// Why a process of several is passed over; `must`: an error line instead.
static int pass_over(mxp_each_window *run, const char *why, bool must)
{
    if (must) {
        fprintf(stderr, "mxprof %s: %s", run->command->name, why);
        return MXP_EXIT_UNKNOWN;
    }
    mxp__strbuf_puts(&run->out, run->options->json ? "" : why);
    return -1;
}

static int look_at_window(mxp_each_window *run, mxp_source *process, const mxp_steps *steps,
                          bool must, mxp_window_look *look)
{
    mxp_choice choice;
    int (*const choose)(const mxp_command *, const mxp_selection *, const mxp_steps *,
                        mxp_choice *) =
        run->options->wants_ends ? mxp__selection_whole_window : mxp__selection_window;
    const mxp_selection *selection = &run->options->selection;
    int code = choose(run->command, selection, steps, &choice);
    if (code < 0 && mxp__selection_lacks(selection, &choice)) {
        code = pass_over(run,
                         selection->step != NULL ? "it has none of these steps\n"
                                                 : "nothing of it is recorded in this time\n",
                         must);
        mxp__choice_fini(&choice);
    } else if (code < 0) {
        run->looked_at++;
        code = look(run, process, steps, &choice);
        mxp__choice_fini(&choice);
    }
    return code;
}

// A process without what is asked for, as a server of a job has no steps, has a line in place of
// its window, unless it must have some.
static int look_at_process(mxp_each_window *run, mxp_source *process, bool must,
                           mxp_window_look *look)
{
    mxp_steps steps;
    int code = -1;
    if (mxp__steps_find(process, &steps) != MXP_OK) {
        return mxp__command_failed(run->command);
    }
    if (steps.count == 0 && run->options->selection.step != NULL && !must) {
        code = pass_over(run, "no steps are marked in it\n", false);
    } else {
        code = look_at_window(run, process, &steps, must, look);
    }
    mxp__steps_fini(&steps);
    return code;
}

static int look_at_all(mxp_each_window *run, mxp_source *source, mxp_window_look *look)
{
    int code = -1;
    run->is_one = source->process_count == 0;
    for (size_t i = 0; code < 0; i++) {
        mxp_source *process = mxp__source_process(source, i);
        if (process == NULL) {
            break;
        }
        if (!run->is_one && !run->options->json) {
            mxp__strbuf_printf(&run->out, "%sprocess %u\n", i == 0 ? "" : "\n",
                               (unsigned)process->pid);
        }
        code = look_at_process(run, process, run->is_one, look);
    }
    if (code < 0 && run->looked_at == 0) {
        code = look_at_process(run, mxp__source_process(source, 0), true, look);  // says why not
    }
    return code;
}

// Of a ring only what all threads are there for: -1, or the exit code after an error line.
static int take_covered(mxp_each_window *run, mxp_input *input)
{
    mxp_strbuf note = {0};
    const int error = mxp__coverage_take(input, &note);
    mxp__strbuf_puts(&run->out, run->options->json ? "" : mxp__strbuf_text(&note));
    mxp__strbuf_fini(&note);
    return error == MXP_OK ? -1 : mxp__command_failed(run->command);
}

int mxp__each_window(const mxp_command *command, const char *file,
                     const mxp_window_options *options, mxp_window_look *look, void *context)
{
    mxp_input input;
    mxp_window_options shared = *options;  // of several processes the same step and times
    mxp_each_window run = {.command = command, .options = &shared, .context = context};
    if (mxp__input_open(command, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    mxp__screen_look(STDOUT_FILENO, &run.screen);
    run.screen.unit = options->unit;
    if (options->json) {
        run.json.out = &run.out;
        mxp__json_object(&run.json, NULL);
        mxp__json_array(&run.json, "processes");
    }
    int code = take_covered(&run, &input);
    if (code < 0) {
        code = mxp__selection_share(command, &shared.selection, input.source);
    }
    if (code < 0) {
        code = look_at_all(&run, input.source, look);
    }
    if (options->json) {
        mxp__json_end(&run.json);
        mxp__json_end(&run.json);
    }
    if (code < 0) {
        code = mxp__output_print(command, &run.out);
        code = code == MXP_EXIT_FINE && run.answered == 0 ? MXP_EXIT_UNKNOWN : code;
    }
    code = mxp__input_end(&input, code);
    mxp__strbuf_fini(&run.out);
    mxp__input_close(&input);
    return code;
}
