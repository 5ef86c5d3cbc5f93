// SPDX-License-Identifier: Apache-2.0
// mxprof whatif: what steps would take if something were changed.
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "ceilings_of_trace.h"
#include "each_window.h"
#include "profiler/analysis/roof/roof.h"
#include "whatif_options.h"
#include "whatif_view.h"

static const char help[] =
    "mxprof whatif predicts what steps would take if something were changed: the\n"
    "recorded steps are replayed with it. Without a change it tries what takes most\n"
    "time, and shows the best ten.\n"
    "\n"
    "usage: mxprof whatif [OPTIONS] [CHANGES] FILE\n"
    "\n"
    "changes, which are made all together\n"
    "  --name GLOB=F   operators of these names take F of their time: 0.5 is twice as\n"
    "                  fast, 0 is no time\n"
    "  --scope GLOB=F  the same of operators in these scopes (layers)\n"
    "  --host F        what the program does by itself takes F of its time\n"
    "  --call GLOB=F   only what it does in calls and spans of these names\n"
    "  --prefetch input\n"
    "                  input is loaded beside everything else, two batches ahead\n"
    "  --no-wait SITE  the program does not wait in calls of this name (GLOB), or only\n"
    "                  in the n-th of them in each step (GLOB#n)\n"
    "  --roof GLOB     operators of these names or in these scopes take what the machine\n"
    "                  needs for them at least, as 'mxprof roof' tells\n"
    "  --workers N     so many compute workers: who is free takes what was pushed first\n"
    "  --bulk N        calls that push an operator push N of them\n"
    "\n"
    "options\n" MXP_WINDOW_HELP
    "  --ceilings FILE  of --roof: those of the trace's machine, as 'mxprof roof\n"
    "                  --measure --ceilings FILE' writes them (default: the user's cache)\n"
    "  --memory MIB    how much the records of a step may take (default 1024)\n"
    "  --unit UNIT     auto (default), ns, us, ms or s\n"
    "  --json          all figures, in ns; of a single prediction also each step\n"
    "\n"
    "Nothing is predicted from a recording that does not come out of its own replay\n"
    "to the nanosecond, or of which more than 1 % of the path is unknown; --roof needs\n"
    "ceilings that no operator is above.\n"
    "\n"
    "examples\n"
    "  mxprof whatif run.mxp\n"
    "  mxprof whatif --scope '*conv1*=0.5' --host 0.8 run.mxp\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged, 2 wrong call, 3 nothing can\n"
    "be predicted\n";

static const char no_operators[] =
    "there are no operators of libmxnet in it, so nothing can be predicted";

// ---- a process ---------------------------------------------------------------------------------
static int failed(const mxp_command *self, int error)
{
    mxp__command_failed(self);
    return error == MXP_ENOTSUP  ? MXP_EXIT_UNKNOWN
           : error == MXP_EINVAL ? MXP_EXIT_USAGE
                                 : MXP_EXIT_ERROR;
}

// The ceilings must be those of the trace's machine, and no operator above them.
static int check_void(mxp_source *process, const mxp_choice *choice, const mxp_ceilings *ceilings)
{
    mxp_roof roof;
    int error = mxp__roof_make(process, choice, ceilings, &roof);
    if (error == MXP_OK && roof.is_void) {
        const mxp_roof_row *row = &roof.rows[roof.worst];
        error = mxp__fail(MXP_ENOTSUP,
                          "the ceilings are void, for '%s' is at %.0f %% of its own: they were "
                          "measured on a busier machine, or its cost is wrong ('mxprof roof')",
                          process->name(process, row->name).text, 100 * row->share);
    }
    mxp__roof_fini(&roof);
    return error;
}

// -1, or the exit code after an error line.
static int find_ceilings(const mxp_each_window *run, mxp_source *process, const mxp_choice *choice)
{
    mxp_whatif_options *options = run->context;
    mxp_strbuf why = {0};
    if (options->roofs.count == 0) {
        return -1;
    }
    int error = mxp__ceilings_of_trace(process, options->ceilings, &options->roof, &why);
    int code = -1;
    if (error == 1) {
        mxp__fail(MXP_ENOTSUP, "%s", mxp__strbuf_text(&why));
        code = failed(run->command, MXP_ENOTSUP);
    } else if (error != MXP_OK) {
        code = mxp__command_failed(run->command);
    } else {
        error = check_void(process, choice, &options->roof);
        code = error == MXP_OK ? -1 : failed(run->command, error);
    }
    mxp__strbuf_fini(&why);
    return code;
}

static void print_result(mxp_each_window *run, const mxp_what_if *result, const mxp_steps *steps,
                         const mxp_change_set *const *order, size_t count)
{
    if (run->options->json) {
        mxp__whatif_json(result, steps, order, count, &run->json);
    } else {
        mxp__whatif_print(result, order, count, &run->screen, &run->out);
    }
}

static int predict(mxp_each_window *run, mxp_source *process, const mxp_steps *steps,
                   const bool *chosen)
{
    const mxp_whatif_options *options = run->context;
    mxp_change_set set = {.changes = options->changes, .count = options->count};
    mxp_what_if result;
    const int error = mxp__what_if(process, steps, chosen, run->options->limit_bytes,
                                   run->options->json != 0, &set, 1, &result);
    if (error != MXP_OK) {
        return failed(run->command, error);
    }
    const mxp_change_set *order = &set;
    print_result(run, &result, steps, &order, 1);
    mxp__what_if_fini(&result);
    return -1;
}

static int compare_gains(const void *a, const void *b)
{
    const mxp_change_set *const *x = a, *const *y = b;
    if ((*x)->gain_ns != (*y)->gain_ns) {
        return (*x)->gain_ns > (*y)->gain_ns ? -1 : 1;
    }
    return *x < *y ? -1 : *x > *y;
}

// The sets that gain anything, the best first, at most MXP_WHATIF_BEST of them; *order has room for
// all of them.
static int find_best(const mxp_what_if *result, const mxp_change_set ***order, size_t *count)
{
    const size_t bytes = result->set_count * sizeof(mxp_change_set *);
    *order = mxp__alloc(bytes);
    *count = 0;
    if (*order == NULL && bytes > 0) {
        return mxp__fail_memory("the best changes");
    }
    for (size_t i = 0; i < result->set_count; i++) {
        if (result->sets[i].gain_ns > 0) {
            (*order)[(*count)++] = &result->sets[i];
        }
    }
    if (*count > 0) {
        qsort(*order, *count, sizeof **order, compare_gains);
    }
    *count = *count < MXP_WHATIF_BEST ? *count : MXP_WHATIF_BEST;
    return MXP_OK;
}

// Called with the best changes.
typedef void show_best(void *context, const mxp_what_if *result, const mxp_steps *steps,
                       const mxp_change_set *const *order, size_t count);

static int try_candidates(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                          uint64_t limit_bytes, bool wants_slack, show_best *show, void *context)
{
    mxp_whatif_candidates candidates;
    mxp_what_if result;
    const mxp_change_set **order = NULL;
    size_t count;
    int error = mxp__whatif_candidates_find(process, steps, chosen, limit_bytes, &candidates);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__what_if(process, steps, chosen, limit_bytes, wants_slack, candidates.sets,
                         candidates.count, &result);
    if (error == MXP_OK) {
        error = find_best(&result, &order, &count);
        if (error == MXP_OK) {
            show(context, &result, steps, order, count);
        }
        mxp__free(order, result.set_count * sizeof *order);
        mxp__what_if_fini(&result);
    }
    mxp__whatif_candidates_fini(&candidates);
    return error;
}

static void show_in_run(void *context, const mxp_what_if *result, const mxp_steps *steps,
                        const mxp_change_set *const *order, size_t count)
{
    print_result(context, result, steps, order, count);
}

typedef struct best_json {
    mxp_json *json;
    mxp_whatif_shown *shown;
    void *context;
} best_json;

static void show_as_json(void *context, const mxp_what_if *result, const mxp_steps *steps,
                         const mxp_change_set *const *order, size_t count)
{
    const best_json *best = context;
    mxp__whatif_json(result, steps, order, count, best->json);
    if (best->shown != NULL) {
        best->shown(best->context, result, order, count);
    }
}

// Of a chosen time, or of a trace without steps: all of it as one step.
static mxp_steps as_one(const mxp_steps *steps, const mxp_choice *choice)
{
    mxp_steps looked_at = *steps;
    if (choice->steps == NULL) {
        looked_at.count = 0;
        looked_at.first_ns = choice->from_ns;
        looked_at.last_ns = choice->until_ns;
    }
    return looked_at;
}

int mxp__whatif_best_json(mxp_source *process, const mxp_steps *steps, const mxp_choice *choice,
                          uint64_t limit_bytes, mxp_json *json, mxp_whatif_shown *shown,
                          void *context)
{
    const mxp_steps looked_at = as_one(steps, choice);
    best_json best = {.json = json, .shown = shown, .context = context};
    if (steps->operators == 0) {
        return mxp__fail(MXP_ENOTSUP, "%s", no_operators);
    }
    return try_candidates(process, &looked_at, choice->steps, limit_bytes, true, show_as_json,
                          &best);
}

// Of several processes some may have no operators.
static int tell_none(mxp_each_window *run)
{
    if (run->is_one) {
        fprintf(stderr, "mxprof %s: %s\n", run->command->name, no_operators);
        return MXP_EXIT_UNKNOWN;
    }
    if (!run->options->json) {
        mxp__strbuf_printf(&run->out, "%s\n", no_operators);
    }
    return -1;
}

static int look(mxp_each_window *run, mxp_source *process, const mxp_steps *steps,
                const mxp_choice *choice)
{
    const mxp_whatif_options *options = run->context;
    const mxp_steps looked_at = as_one(steps, choice);
    if (steps->operators == 0) {
        return tell_none(run);
    }
    run->answered++;
    const int code = find_ceilings(run, process, choice);
    if (code >= 0) {
        return code;
    }
    if (options->count > 0) {
        return predict(run, process, &looked_at, choice->steps);
    }
    const int error = try_candidates(process, &looked_at, choice->steps, run->options->limit_bytes,
                                     run->options->json != 0, show_in_run, run);
    return error == MXP_OK ? -1 : failed(run->command, error);
}

// ---- all ---------------------------------------------------------------------------------------
static int run(const mxp_command *self, int count, char **arguments)
{
    mxp_whatif_options chosen = {0};
    const mxp_option options[] = {
        MXP_EACH_WINDOW_OPTIONS(&chosen.window),
        {.name = "--name", .list = &chosen.names},
        {.name = "--scope", .list = &chosen.scopes},
        {.name = "--call", .list = &chosen.calls},
        {.name = "--no-wait", .list = &chosen.no_waits},
        {.name = "--host", .text = &chosen.host},
        {.name = "--prefetch", .text = &chosen.prefetch},
        {.name = "--roof", .list = &chosen.roofs},
        {.name = "--ceilings", .text = &chosen.ceilings},
        {.name = "--workers", .text = &chosen.workers},
        {.name = "--bulk", .text = &chosen.bulk},
        {.name = NULL},
    };
    const char *file;
    int code = mxp__options_parse(self, options, count, arguments, &file);
    if (code < 0) {
        code = mxp__window_options_check(self, &chosen.window);
    }
    if (code < 0) {
        code = mxp__whatif_take_changes(self, &chosen);
    }
    code = code >= 0 ? code : mxp__each_window(self, file, &chosen.window, look, &chosen);
    mxp__whatif_options_fini(&chosen);
    return code;
}

const mxp_command mxp__command_whatif = {
    .name = "whatif",
    .summary = "what steps would take if something were faster, or left out",
    .help = help,
    .run = run,
};
