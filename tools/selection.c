// SPDX-License-Identifier: Apache-2.0
#include "selection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "text/label.h"

// ---- texts -------------------------------------------------------------------------------------
bool mxp__duration_parse(const char *text, int64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"s", 1e9}, {"", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    char *end;
    if ((text[0] < '0' || text[0] > '9') && text[0] != '.') {
        return false;
    }
    const double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) == 0 && value * units[i].ns < 9e18) {
            *ns = (int64_t)(value * units[i].ns + 0.5);
            return end != text;
        }
    }
    return false;
}

static bool parse_time(const char *text, mxp_time_wish *wish)
{
    wish->base = text[0] == '+'   ? MXP_TIME_FROM_BEGIN
                 : text[0] == '-' ? MXP_TIME_FROM_END
                                  : MXP_TIME_FROM_ZERO;
    return mxp__duration_parse(text + (wish->base != MXP_TIME_FROM_ZERO), &wish->ns);
}

// Digits up to `end`; none: *number stays.
static bool parse_number(const char *text, const char *end, uint64_t *number)
{
    uint64_t value = 0;
    if (text == end) {
        return true;
    }
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || value > (UINT64_MAX - 9) / 10) {
            return false;
        }
        value = 10 * value + (uint64_t)(*text - '0');
    }
    *number = value;
    return true;
}

static bool parse_steps(const char *text, mxp_choice_wish *wish)
{
    const char *colon = strchr(text, ':'), *end = text + strlen(text);
    if (strcmp(text, "last") == 0 || strcmp(text, "slowest") == 0) {
        wish->steps = text[0] == 'l' ? MXP_STEPS_LAST : MXP_STEPS_SLOWEST;
        return true;
    }
    wish->steps = MXP_STEPS_RANGE;
    wish->first = 0;
    wish->last = UINT64_MAX;
    if (colon == NULL) {
        const bool is_number = parse_number(text, end, &wish->first);
        wish->last = wish->first;
        return is_number && text[0] != '\0';
    }
    return text[1] != '\0' && parse_number(text, colon, &wish->first) &&
           parse_number(colon + 1, end, &wish->last) && wish->first <= wish->last;
}

int mxp__count_option(const mxp_command *command, const char *name, const char *text, size_t *count)
{
    uint64_t number = 0;
    if (text == NULL) {
        return -1;
    }
    if (!parse_number(text, text + strlen(text), &number) || number == 0) {
        return mxp__usage_error(command, "%s takes a number above 0, not '%s'", name, text);
    }
    *count = (size_t)number;
    return -1;
}

// ---- options -----------------------------------------------------------------------------------
const char *mxp__first_given(const mxp_given_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (options[i].is_given) {
            return options[i].name;
        }
    }
    return NULL;
}

static int check_phases(const mxp_command *command, mxp_selection *selection)
{
    static const char *const words[] = {[MXP_PHASE_NONE] = "none",
                                        [MXP_PHASE_FORWARD] = "forward",
                                        [MXP_PHASE_BACKWARD] = "backward",
                                        [MXP_PHASE_UPDATE] = "update",
                                        [MXP_PHASE_COMMUNICATION] = "communication"};
    const unsigned count = sizeof words / sizeof words[0];
    for (size_t i = 0; i < selection->phases.count; i++) {
        unsigned phase = 0;
        while (phase < count && strcmp(words[phase], selection->phases.words[i]) != 0) {
            phase++;
        }
        if (phase == count) {
            return mxp__usage_error(command,
                                    "--phase does not know '%s'; it takes one of: forward, "
                                    "backward, update, communication, none",
                                    selection->phases.words[i]);
        }
        selection->filter.phases |= 1u << phase;
    }
    return -1;
}

static int check_window(const mxp_command *command, mxp_selection *selection)
{
    if (selection->step != NULL && (selection->from != NULL || selection->until != NULL)) {
        return mxp__usage_error(command,
                                "--step and --from, --until both choose a window; give one");
    }
    if (selection->step != NULL && !parse_steps(selection->step, &selection->window)) {
        return mxp__usage_error(
            command, "--step takes a number, A:B, 'last' or 'slowest', not '%s'", selection->step);
    }
    const char *const times[] = {selection->from, selection->until};
    mxp_time_wish *const wishes[] = {&selection->window.from, &selection->window.until};
    for (int i = 0; i < 2; i++) {
        if (times[i] != NULL && !parse_time(times[i], wishes[i])) {
            return mxp__usage_error(command,
                                    "%s takes a time such as 1.5s, 20ms, +0.5s or -2s, not '%s'",
                                    i == 0 ? "--from" : "--until", times[i]);
        }
    }
    return -1;
}

int mxp__selection_check(const mxp_command *command, mxp_selection *selection)
{
    const mxp_option_list *const lists[] = {[MXP_FILTER_NAME] = &selection->names,
                                            [MXP_FILTER_SCOPE] = &selection->scopes,
                                            [MXP_FILTER_THREAD] = &selection->threads};
    for (int kind = 0; kind < MXP_FILTER_KINDS; kind++) {
        selection->filter.globs[kind] = lists[kind]->words;
        selection->filter.counts[kind] = lists[kind]->count;
    }
    int code = check_window(command, selection);
    if (code < 0) {
        code = check_phases(command, selection);
    }
    return code < 0 ? mxp__count_option(command, "--top", selection->top, &selection->top_count)
                    : code;
}

// ---- of a process ------------------------------------------------------------------------------
// What is shared is a time, where a process has none of what is asked for.
static int make_choice(const mxp_selection *selection, const mxp_steps *steps, mxp_choice *choice)
{
    const bool takes_time =
        selection->has_shared_time && (selection->step == NULL || steps->count == 0);
    const int error = takes_time ? MXP_OK : mxp__choice_make(steps, &selection->window, choice);
    if (takes_time || (error == MXP_EINVAL && selection->has_shared_time)) {
        mxp__choice_make_time(steps, selection->shared_from_ns, selection->shared_until_ns, choice);
        return MXP_OK;
    }
    return error;
}

int mxp__selection_window(const mxp_command *command, const mxp_selection *selection,
                          const mxp_steps *steps, mxp_choice *choice)
{
    const int error = make_choice(selection, steps, choice);
    if (error == MXP_OK) {
        return -1;
    }
    const int code = mxp__command_failed(command);
    return error == MXP_EINVAL ? MXP_EXIT_USAGE : error == MXP_ENOTSUP ? MXP_EXIT_UNKNOWN : code;
}

bool mxp__selection_lacks(const mxp_selection *selection, const mxp_choice *choice)
{
    return selection->has_shared_time && choice->steps == NULL &&
           (selection->step != NULL || choice->from_ns == choice->until_ns);
}

int mxp__selection_whole_window(const mxp_command *command, const mxp_selection *selection,
                                const mxp_steps *steps, mxp_choice *choice)
{
    const int code = mxp__selection_window(command, selection, steps, choice);
    if (code < 0 && selection->window.steps == MXP_STEPS_RANGE) {
        (void)mxp__choice_leave_out(choice, MXP_STEP_OPEN);
    }
    return code;
}

void mxp__selection_put_no_end(const mxp_selection *selection, const mxp_choice *choice,
                               mxp_strbuf *out)
{
    size_t open = 0;
    for (size_t i = 0; choice->steps != NULL && i < choice->of->count; i++) {
        open += choice->steps[i] && choice->of->all[i].is_open;
    }
    if (selection->window.steps == MXP_STEPS_RANGE && choice->incomplete > 0) {
        mxp__strbuf_printf(out, "left out: %zu " MXP_NO_END "\n", choice->incomplete);
    } else if (open == 1 && choice->step_count == 1) {
        mxp__strbuf_puts(out, MXP_NO_END_OF_ONE);
    }
}

static int nothing_fits(const mxp_command *command, const mxp_source *process,
                        const mxp_filter *filter)
{
    static const char *const whats[] = {
        [MXP_FILTER_NAME] = "name", [MXP_FILTER_SCOPE] = "scope", [MXP_FILTER_THREAD] = "thread"};
    const char *what = whats[filter->empty_kind];
    mxp_strbuf nearest = {0};
    int error = mxp__filter_nearest(process, filter->empty_kind, filter->empty_glob, &nearest);
    if (error != MXP_OK) {
        mxp__strbuf_fini(&nearest);
        return mxp__command_failed(command);
    }
    if (nearest.length == 0) {
        fprintf(stderr, "mxprof %s: no %s fits '%s': there is none at all\n", command->name, what,
                filter->empty_glob);
    } else {
        mxp_strbuf shown = {0};  // names of programs, without what a terminal takes as commands
        const mxp_screen screen = {.is_utf8 = true};
        mxp__put_label(&screen, mxp__strbuf_text(&nearest), nearest.length, &shown);
        fprintf(stderr, "mxprof %s: no %s fits '%s'; the nearest: %s\n", command->name, what,
                filter->empty_glob, mxp__strbuf_text(&shown));
        mxp__strbuf_fini(&shown);
    }
    mxp__strbuf_fini(&nearest);
    return MXP_EXIT_USAGE;
}

int mxp__selection_filter(const mxp_command *command, const mxp_selection *selection,
                          const mxp_source *process, mxp_filter *filter)
{
    if (mxp__filter_make(process, &selection->filter, filter) != MXP_OK) {
        return mxp__command_failed(command);
    }
    if (filter->empty_kind == MXP_FILTER_KINDS || selection->is_shared) {
        return -1;
    }
    const int code = nothing_fits(command, process, filter);
    mxp__filter_fini(filter);
    return code;
}
