// SPDX-License-Identifier: Apache-2.0
// mxprof diff: whether the runs of one side take longer than those of the other. The run is the
// unit, and what cannot be told is said to be so.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diff/diff.h"
#include "diff/diff_document.h"
#include "selection.h"

static const char help[] =
    "mxprof diff compares runs of a program before a change with runs after it: whether they take\n"
    "longer, how sure that is, how small a change these runs could have shown, and what the\n"
    "difference consists of.\n"
    "\n"
    "usage: mxprof diff [OPTIONS] BEFORE... -- AFTER...\n"
    "       mxprof diff [OPTIONS] --baseline BEFORE AFTER...\n"
    "       mxprof diff [OPTIONS] --noise RUN...\n"
    "\n"
    "  --baseline RUN     the runs before; may be given several times\n"
    "  --step A:B         only steps with these numbers; either may be left out\n"
    "  --at-least SHARE   a change below this share of a step is none (default 1%)\n"
    "  --strict           that nothing can be told is exit code 3, and not 0\n"
    "  --keep-disturbed   runs that the machine disturbed count too\n"
    "  --force            compares different programs all the same\n"
    "  --top N            so many rows of what the difference consists of (default 15)\n"
    "  --markdown         for a pull request\n"
    "  --json             everything, times in ns\n"
    "  --noise            how much runs of one program differ here, and the smallest change that\n"
    "                     3, 5, 10 and 20 runs a side would show\n"
    "\n"
    "A run is a trace of a program that marks its steps (profiler.step()); a directory is all "
    "runs\n"
    "in it, and the directory of one 'mxprof run' is one run. Steps of one run resemble each\n"
    "other, so the runs are compared, by their means, and a verdict takes 4 a side. Make them in\n"
    "turn (before, after, after, before, ...): from 6 pairs on neighbours are compared, which "
    "shows\n"
    "smaller changes. Runs whose threads waited for cores are left out.\n"
    "\n"
    "examples\n"
    "  mxprof diff before/ -- after/\n"
    "  mxprof diff --baseline before/ after/ --at-least 5% --markdown\n"
    "  mxprof diff --noise before/\n"
    "\n"
    "exit code: 0 the same or faster, or nothing can be told; 1 slower; 2 wrong call, or a run "
    "cannot\n"
    "be read; 3 different programs, or disturbed runs, or nothing can be told (--strict)\n";

typedef struct diff_call {
    int strict, keep_disturbed, force, markdown, json, noise;
    const char *at_least, *top;
    mxp_selection selection;
    mxp_option_list baseline;
    char **sides[MXP__SIDES];
    size_t counts[MXP__SIDES];
} diff_call;

// ---- the call ----------------------------------------------------------------------------------
// "5%", "5 %" or "0.05".
static bool parse_share(const char *text, double *share)
{
    char *end;
    *share = strtod(text, &end);
    if (end == text || !isfinite(*share) || *share < 0) {
        return false;
    }
    end += strspn(end, " ");
    if (*end == '%') {
        *share /= 100;
        end++;
    }
    return *end == '\0' && *share < 1;
}

static int check_steps(const mxp_command *self, diff_call *call, mxp_diff *diff)
{
    int code = mxp__selection_check(self, &call->selection);
    diff->steps = call->selection.window;
    if (code < 0 && call->selection.step != NULL && diff->steps.steps != MXP_STEPS_RANGE) {
        code = mxp__usage_error(self, "--step takes a number or A:B here, not '%s'",
                                call->selection.step);
    }
    return code;
}

static int check_values(const mxp_command *self, diff_call *call, mxp_diff *diff)
{
    if (call->at_least != NULL && !parse_share(call->at_least, &diff->comparison.at_least)) {
        return mxp__usage_error(
            self, "--at-least takes a share below 100%%, as 5%% or 0.05, not '%s'", call->at_least);
    }
    if (call->markdown && call->json) {
        return mxp__usage_error(self, "--markdown and --json exclude each other");
    }
    int code = mxp__count_option(self, "--top", call->top, &diff->rows_shown);
    return code < 0 ? check_steps(self, call, diff) : code;
}

static int check_sides(const mxp_command *self, const diff_call *call)
{
    if (call->noise && call->counts[MXP__AFTER] > 0) {
        return mxp__usage_error(self, "--noise is of the runs of one program: without '--' and "
                                      "without --baseline");
    }
    if (!call->noise && call->counts[MXP__AFTER] == 0) {
        return mxp__usage_error(self, "which runs are those after the change? Put -- before them: "
                                      "mxprof diff before/ -- after/");
    }
    return -1;
}

static int parse_part(const mxp_command *self, const mxp_option *options, int count,
                      char **arguments, char ***paths, size_t *path_count)
{
    int files = 0;
    int code = mxp__options_parse_all(self, options, count, arguments, &files);
    *paths = arguments;
    *path_count = (size_t)files;
    return code;
}

static int parse(const mxp_command *self, int count, char **arguments, diff_call *call)
{
    const mxp_option options[] = {
        {.name = "--baseline", .list = &call->baseline},
        {.name = "--step", .text = &call->selection.step},
        {.name = "--at-least", .text = &call->at_least},
        {.name = "--strict", .number = &call->strict},
        {.name = "--keep-disturbed", .number = &call->keep_disturbed},
        {.name = "--force", .number = &call->force},
        {.name = "--top", .text = &call->top},
        {.name = "--markdown", .number = &call->markdown},
        {.name = "--json", .number = &call->json},
        {.name = "--noise", .number = &call->noise},
        {.name = NULL},
    };
    int border = 0;
    while (border < count && strcmp(arguments[border], "--") != 0) {
        border++;
    }
    int code = parse_part(self, options, border, arguments, &call->sides[MXP__BEFORE],
                          &call->counts[MXP__BEFORE]);
    if (code < 0 && border < count) {
        code = parse_part(self, options, count - border - 1, arguments + border + 1,
                          &call->sides[MXP__AFTER], &call->counts[MXP__AFTER]);
    }
    return code;
}

// With --baseline the files of the call are the other side.
static int take_baseline(const mxp_command *self, diff_call *call)
{
    if (call->baseline.count == 0) {
        return -1;
    }
    if (call->counts[MXP__AFTER] > 0) {
        return mxp__usage_error(self, "the runs before are those of --baseline or those before "
                                      "'--', not both");
    }
    call->sides[MXP__AFTER] = call->sides[MXP__BEFORE];
    call->counts[MXP__AFTER] = call->counts[MXP__BEFORE];
    call->sides[MXP__BEFORE] = (char **)(uintptr_t)call->baseline.words;
    call->counts[MXP__BEFORE] = call->baseline.count;
    return -1;
}

// ---- the comparison ----------------------------------------------------------------------------
static int compute(mxp_diff *diff, const diff_call *call)
{
    int error = mxp__comparison_judge(&diff->comparison);
    if (error == MXP_OK) {
        error = mxp__differences_find(&diff->comparison, &diff->differences);
    }
    if (error == MXP_OK) {
        diff->is_refused =
            !call->force && mxp__are_different_programs(&diff->comparison, &diff->differences);
    }
    if (error == MXP_OK && !diff->is_refused) {
        error = mxp__contributions_find(&diff->comparison, &diff->contributions);
    }
    return error;
}

static int verdict_code(const mxp_diff *diff, bool is_strict)
{
    if (diff->is_refused) {
        return MXP_EXIT_UNKNOWN;
    }
    switch (diff->comparison.wall.verdict) {
    case MXP_VERDICT_SLOWER:
        return MXP_EXIT_ERROR;
    case MXP_VERDICT_DISTURBED:
        return MXP_EXIT_UNKNOWN;
    case MXP_VERDICT_NONE:
    case MXP_VERDICT_CANNOT_TELL:
        return is_strict ? MXP_EXIT_UNKNOWN : MXP_EXIT_FINE;
    default:
        return MXP_EXIT_FINE;
    }
}

static int print(const mxp_command *self, const mxp_diff *diff, const diff_call *call)
{
    mxp_screen screen;
    mxp_strbuf out = {0};
    mxp__screen_look(STDOUT_FILENO, &screen);
    int error = MXP_OK;
    if (call->noise) {
        error = mxp__diff_put_noise(&screen, diff, call->json, &out);
    } else if (call->json) {
        mxp__diff_put_json(diff, &out);
    } else if (call->markdown) {
        mxp__diff_put_markdown(diff, &out);
    } else {
        mxp__diff_put_text(&screen, diff, &out);
    }
    int code = error == MXP_OK ? mxp__output_print(self, &out) : mxp__command_failed(self);
    mxp__strbuf_fini(&out);
    return code == MXP_EXIT_FINE ? MXP_EXIT_FINE : MXP_EXIT_USAGE;
}

// -1, or the exit code after an error line: what runs of two programs differ by is no noise.
static int check_noise(const mxp_command *self, const mxp_diff *diff)
{
    const mxp_compared_run *other = mxp__run_of_another_program(&diff->comparison, MXP__BEFORE);
    if (other == NULL) {
        return -1;
    }
    fprintf(stderr,
            "mxprof %s: '%s' and '%s' are runs of different programs; --force takes them all the "
            "same\n",
            self->name, diff->comparison.sides[MXP__BEFORE].runs[0].path, other->path);
    return MXP_EXIT_UNKNOWN;
}

static int compare(const mxp_command *self, mxp_diff *diff, const diff_call *call)
{
    for (int side = 0; side < MXP__SIDES; side++) {
        if (mxp__diff_read_side(self, diff, side, call->sides[side], call->counts[side]) !=
            MXP_OK) {
            return MXP_EXIT_USAGE;  // 1 says that it is slower
        }
    }
    int error =
        call->noise ? mxp__comparison_find_disturbed(&diff->comparison) : compute(diff, call);
    if (error != MXP_OK) {
        mxp__command_failed(self);
        return MXP_EXIT_USAGE;
    }
    int code = call->noise && !call->force ? check_noise(self, diff) : -1;
    if (code >= 0) {
        return code;
    }
    code = print(self, diff, call);
    return code != MXP_EXIT_FINE || call->noise ? code : verdict_code(diff, call->strict);
}

static const mxp_diff usual = {.comparison = {.at_least = 0.01}, .rows_shown = 15};

int mxp__diff_document(const mxp_command *command, const char *before, const char *after,
                       mxp_strbuf *out)
{
    const diff_call call = {0};
    mxp_diff diff = usual;
    char *paths[MXP__SIDES];
    paths[MXP__BEFORE] = (char *)(uintptr_t)before;
    paths[MXP__AFTER] = (char *)(uintptr_t)after;
    int error = MXP_OK;
    for (int side = 0; side < MXP__SIDES && error == MXP_OK; side++) {
        error = mxp__diff_read_side(command, &diff, side, &paths[side], 1);
    }
    if (error == MXP_OK && (error = compute(&diff, &call)) != MXP_OK) {
        mxp__command_failed(command);
    }
    if (error == MXP_OK) {
        mxp__diff_put_json(&diff, out);
    }
    mxp__diff_fini(&diff);
    return error;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    diff_call call = {0};
    mxp_diff diff = usual;
    int code = parse(self, count, arguments, &call);
    if (code < 0) {
        code = take_baseline(self, &call);
    }
    if (code < 0) {
        code = check_sides(self, &call);
    }
    if (code < 0) {
        code = check_values(self, &call, &diff);
    }
    if (code < 0) {
        diff.comparison.keeps_disturbed = call.keep_disturbed;
        code = compare(self, &diff, &call);
    }
    mxp__diff_fini(&diff);
    return code;
}

const mxp_command mxp__command_diff = {
    .name = "diff",
    .summary = "whether a change made a program slower, and where",
    .help = help,
    .wants = "runs",
    .example = "before/ -- after/",
    .run = run,
};
