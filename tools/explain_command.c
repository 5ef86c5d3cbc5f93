// SPDX-License-Identifier: Apache-2.0
// mxprof explain: what made the steps slow, in words, and what is gained without it.
#include <inttypes.h>
#include <mxprof/error.h>
#include <mxprof/format.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "coverage.h"
#include "each_window.h"
#include "explain_ranks.h"
#include "explain_view.h"
#include "profiler/trace/merge.h"
#include "same_step.h"
#include "summary.h"

static const char help[] =
    "mxprof explain tells on one screen what made the steps slow: up to three causes, each with "
    "what\n"
    "shows it, what is gained without it, and the command that shows more.\n"
    "\n"
    "usage: mxprof explain [OPTIONS] FILE|DIRECTORY...\n"
    "\n" MXP_WINDOW_HELP
    "  --force         takes steps with losses and pauses, too, and files of different jobs\n"
    "  --ceilings FILE  those of the trace's machine (mxprof roof --measure), with which a slow "
    "layer "
    "is\n"
    "                  told by its time above the roof; else those of the user's cache, if any\n"
    "  --memory MIB    how much a window may take (default 1024)\n"
    "  --unit UNIT     auto (default), ns, us, ms or s\n"
    "  --json          every cause that was looked at, told or not; times in ns\n"
    "\n"
    "A cause is told if what is gained without it is surely above the noise: half of the 95 %\n"
    "interval of the mean step, and 1 % of a step at least. Looked for:\n"
    "  slow input, custom operators (that wait, or compute), many tiny operators, memory from the\n"
    "  system in every step, the cost of first runs, recording itself, one slow layer, the "
    "program\n"
    "  itself, waits that are not needed, chains of operators, memory that grows, and of several\n"
    "  processes the one that has more to do\n"
    "Of the workers of one job it tells first which one the others wait for, if that is more "
    "often\n"
    "than chance makes likely and costs 2 % of a step; with tables by worker, owner and key.\n"
    "What is on the path comes first. Each gain is what is left to gain after the ones above it.\n"
    "\n"
    "examples\n"
    "  mxprof explain run.mxp\n"
    "  mxprof explain --step 100: run.mxp\n"
    "  mxprof explain ranks/\n"
    "\n"
    "exit code: 0 fine, with a cause or without, 1 cannot be read or is damaged, 2 wrong call, 3 "
    "what\n"
    "was asked for is not in the trace\n";

typedef struct explain_options {
    mxp_window_options window;
    int force;
    const char *ceilings;
} explain_options;

// Steps that are not whole say nothing of how long steps take, also where they were asked for by
// their numbers. If none is whole they stay, as forced ones.
static void leave_out_broken(mxp_choice *choice)
{
    const bool any = mxp__choice_leave_out(choice, MXP_STEP_LOSS | MXP_STEP_PAUSE | MXP_STEP_OPEN);
    choice->is_forced |= !any;
}

static size_t whole_steps_within(const mxp_steps *steps, const mxp_choice *choice)
{
    size_t count = 0;
    for (size_t i = 0; i < steps->count; i++) {
        const mxp_step_window *step = &steps->all[i];
        count += step->begin_ns >= choice->from_ns && step->end_ns <= choice->until_ns &&
                 mxp__step_is_plain(step);
    }
    return count;
}

// Of one step that was asked for by its number.
static bool lacks_only_its_end(const mxp_choice *choice)
{
    for (size_t i = 0; i < choice->of->count && choice->step_count == 1; i++) {
        if (choice->steps[i]) {
            return mxp__step_reasons(&choice->of->all[i]) == MXP_STEP_OPEN;
        }
    }
    return false;
}

// MXP_ENOTSUP where nothing can be said of what was chosen, with the reason.
static int cannot_explain(const explain_options *options, const mxp_source *process,
                          const mxp_steps *steps, const mxp_choice *choice)
{
    if (choice->is_forced && !options->force && lacks_only_its_end(choice)) {
        return mxp__fail(MXP_ENOTSUP,
                         "the end of this step of process %u is not recorded: how long it took "
                         "is not known; --force takes it up to the last record",
                         (unsigned)process->pid);
    }
    if (choice->is_forced && !options->force) {
        return mxp__fail(MXP_ENOTSUP,
                         "no step of process %u is whole: records were lost, or recording paused "
                         "or stopped in it; --force takes them all the same",
                         (unsigned)process->pid);
    }
    if (choice->steps == NULL && steps->count > 0 && whole_steps_within(steps, choice) == 0) {
        return mxp__fail(MXP_ENOTSUP, "no whole step lies from %.9g s to %.9g s",
                         (double)choice->from_ns / 1e9, (double)choice->until_ns / 1e9);
    }
    return MXP_OK;
}

// The exit code of an error, which is the last one.
static int code_of(const mxp_command *self, int error)
{
    mxp__command_failed(self);
    return error == MXP_ENOTSUP ? MXP_EXIT_UNKNOWN : MXP_EXIT_ERROR;
}

// Takes the choice. Where nothing is recorded there is nothing to say.
static int take_choice(const explain_options *options, mxp_source *process, mxp_steps *steps,
                       mxp_choice *choice, mxp_explain_view *view)
{
    if (!options->force) {
        leave_out_broken(choice);
    }
    const int error = cannot_explain(options, process, steps, choice);
    if (error != MXP_OK || steps->operators + steps->spans + steps->waits + steps->count == 0) {
        mxp__choice_fini(choice);
        mxp__steps_fini(steps);
        return error;
    }
    return mxp__explain_view_add(view, process, steps, choice, options->window.limit_bytes);
}

// -1, or the exit code after an error line. A server of a job has no steps: of it all time is taken
// where steps are asked for, unless it must have some.
static int take_process(const mxp_command *self, const explain_options *options,
                        mxp_source *process, bool must_have_steps, mxp_explain_view *view)
{
    const mxp_selection all = {0}, *wanted = &options->window.selection;
    mxp_steps steps;
    mxp_choice choice;
    if (mxp__steps_find(process, &steps) != MXP_OK) {
        return mxp__command_failed(self);
    }
    if (steps.count == 0 && wanted->step != NULL && !must_have_steps) {
        wanted = &all;
    }
    int code = mxp__selection_window(self, wanted, &steps, &choice);
    if (code >= 0) {
        mxp__steps_fini(&steps);
        return code;
    }
    if (mxp__selection_lacks(wanted, &choice)) {
        mxp__choice_fini(&choice);
        mxp__steps_fini(&steps);
        return -1;
    }
    const int error = take_choice(options, process, &steps, &choice, view);
    return error == MXP_OK ? -1 : code_of(self, error);
}

static int begin_view(mxp_explain_view *view, mxp_source *source)
{
    size_t count = 0;
    while (mxp__source_process(source, count) != NULL) {
        count++;
    }
    view->all = mxp__alloc(count * sizeof *view->all);
    if (view->all == NULL) {
        return mxp__fail_memory("the processes of a trace");
    }
    view->capacity = count;
    return MXP_OK;
}

// The processes of a job are compared by its rounds; others, without clocks, by their steps.
static int end_view(mxp_explain_view *view, const mxp_one_clock *clocks, uint64_t limit_bytes)
{
    if (view->count == 0) {
        return mxp__fail(MXP_ENOTSUP, "nothing is recorded in it");
    }
    int error = MXP_OK;
    if (clocks != NULL) {
        error = mxp__explain_ranks_make(view, clocks, limit_bytes, &view->ranks);
    }
    return error == MXP_OK && view->ranks == NULL ? mxp__explain_view_pair(view) : error;
}

static bool any_is_marked(const mxp_explain_view *view)
{
    bool any = false;
    for (size_t i = 0; i < view->count; i++) {
        any |= view->all[i].is_marked;
    }
    return any;
}

// ---- nothing -----------------------------------------------------------------------------------
static void put_one(mxp_strbuf *out, const char *what, uint64_t count)
{
    if (what != NULL && count > 0) {
        mxp__strbuf_printf(out, "%s%s (%" PRIu64 ")", out->length > 0 ? ", " : "", what, count);
    }
}

// What there is besides spans, operators and steps; marks alone are nothing.
static void put_kinds(const mxp_summary *summary, mxp_source *source, mxp_strbuf *out)
{
    static const char *const kinds[MXP_SUMMARY_KINDS] = {
#define TEXT_OF(name, number, units, text) [number] = text,
        MXP_RECORD_KINDS(TEXT_OF)
#undef TEXT_OF
    };
    const mxp_source *process;
    uint64_t statistics = 0;
    for (int kind = 0; kind < MXP_SUMMARY_KINDS; kind++) {
        put_one(out, kind == MXP_KIND_META ? NULL : kinds[kind], summary->by_kind[kind]);
    }
    for (size_t i = 0; (process = mxp__source_process(source, i)) != NULL; i++) {
        statistics += process->stats_count;
    }
    put_one(out, "statistics of names", statistics);
}

static int nothing_to_explain(const mxp_command *self, mxp_input *input)
{
    mxp_summary summary;
    mxp_strbuf kinds = {0};
    int error = mxp__summary_make(self, input, &summary);
    if (error != MXP_OK) {
        return error;
    }
    put_kinds(&summary, input->source, &kinds);
    error = kinds.length == 0
                ? mxp__fail(MXP_ENOTSUP, "nothing is recorded in it")
                : mxp__fail(MXP_ENOTSUP,
                            "no spans, operators and steps are recorded in it, which causes are "
                            "told of; what there is: %s",
                            mxp__strbuf_text(&kinds));
    mxp__strbuf_fini(&kinds);
    mxp__summary_fini(&summary);
    return error;
}

// ---- processes ---------------------------------------------------------------------------------
static int take_processes(const mxp_command *self, const explain_options *options, mxp_input *input,
                          mxp_explain_view *view)
{
    mxp_source *process;
    const bool is_one = input->source->process_count == 0;
    explain_options shared = *options;  // a time is that of all processes
    if (begin_view(view, input->source) != MXP_OK) {
        return mxp__command_failed(self);
    }
    int code = shared.window.selection.step == NULL
                   ? mxp__selection_share(self, &shared.window.selection, input->source)
                   : -1;
    for (size_t i = 0; code < 0; i++) {
        process = mxp__source_process(input->source, i);
        if (process == NULL) {
            break;
        }
        code = take_process(self, &shared, process, is_one, view);
    }
    if (code < 0 && options->window.selection.step != NULL && !any_is_marked(view)) {
        process = mxp__source_process(input->source, 0);
        code = take_process(self, options, process, true, view);  // which says what is missing
    }
    int error = MXP_OK;
    if (code < 0) {
        error = view->count == 0 ? nothing_to_explain(self, input)
                                 : end_view(view, input->clocks, options->window.limit_bytes);
    }
    return error == MXP_OK ? code : mxp__input_end(input, code_of(self, error));
}

int mxp__explain_view_take(mxp_source *source, const mxp_choice_wish *wish,
                           const mxp_one_clock *clocks, uint64_t limit_bytes,
                           mxp_explain_view *view)
{
    const explain_options options = {.window.limit_bytes = limit_bytes};
    const mxp_choice_wish all = {.steps = MXP_STEPS_USUAL};
    const bool is_one = source->process_count == 0, wants_steps = wish->steps != MXP_STEPS_USUAL;
    mxp_source *process;
    int error = begin_view(view, source);
    for (size_t i = 0; error == MXP_OK; i++) {
        mxp_steps steps;
        mxp_choice choice;
        process = mxp__source_process(source, i);
        if (process == NULL) {
            break;
        }
        error = mxp__steps_find(process, &steps);
        if (error != MXP_OK) {
            break;
        }
        const bool takes_all = wants_steps && steps.count == 0 && !is_one;  // as take_process
        error = mxp__choice_make(&steps, takes_all ? &all : wish, &choice);
        if (error != MXP_OK) {
            mxp__steps_fini(&steps);
            break;
        }
        error = take_choice(&options, process, &steps, &choice, view);
    }
    if (error == MXP_OK && wants_steps && !any_is_marked(view)) {
        error = mxp__fail(MXP_ENOTSUP, "no steps are marked in it: " MXP_STEPS_ARE_MARKED_BY);
    }
    return error == MXP_OK ? end_view(view, clocks, options.window.limit_bytes) : error;
}

static int print_view(const mxp_command *self, const explain_options *options,
                      const mxp_explain_view *view)
{
    mxp_strbuf out = {0};
    mxp_screen screen;
    mxp__screen_look(STDOUT_FILENO, &screen);
    screen.unit = options->window.unit;
    if (options->window.json) {
        mxp_json json = {.out = &out};
        mxp__explain_json(view, &json);
    } else {
        mxp__explain_print(view, &screen, &out);
    }
    const int code = mxp__output_print(self, &out);
    mxp__strbuf_fini(&out);
    return code;
}

static int explain_files(const mxp_command *self, char *const *files, size_t count,
                         const explain_options *options)
{
    mxp_input input;
    mxp__input_take_jobs(options->force != 0, false);
    if (mxp__input_open_all(self, files, count, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    explain_options own = *options;  // of several processes the same step
    mxp_explain_view view = {.file = files[0],
                             .step = options->window.selection.step,
                             .from = options->window.selection.from,
                             .until = options->window.selection.until,
                             .ceilings = options->ceilings,
                             .is_imported = input.is_imported};
    int code = mxp__coverage_take(&input, &view.note) == MXP_OK &&
                       mxp__same_step(input.source, &own.window.selection.window) == MXP_OK
                   ? -1
                   : mxp__command_failed(self);
    if (code < 0) {
        code = take_processes(self, &own, &input, &view);
    }
    if (code < 0) {
        code = print_view(self, options, &view);
        code = code == MXP_EXIT_FINE ? mxp__input_exit_code(&input) : code;
        code = code == MXP_EXIT_FINE && !any_is_marked(&view) ? MXP_EXIT_UNKNOWN : code;
    }
    mxp__explain_view_fini(&view);
    mxp__input_close(&input);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    explain_options chosen = {0};
    const mxp_option options[] = {
        MXP_EACH_WINDOW_OPTIONS(&chosen.window),
        {.name = "--force", .number = &chosen.force},
        {.name = "--ceilings", .text = &chosen.ceilings},
        {.name = NULL},
    };
    int files = 0;
    int code = mxp__options_parse_all(self, options, count, arguments, &files);
    if (code < 0) {
        code = mxp__window_options_check(self, &chosen.window);
    }
    return code >= 0 ? code : explain_files(self, arguments, (size_t)files, &chosen);
}

const mxp_command mxp__command_explain = {
    .name = "explain",
    .summary = "what made the steps slow, and what is gained without it",
    .help = help,
    .run = run,
};
