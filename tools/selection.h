// SPDX-License-Identifier: Apache-2.0
// The options by which all commands choose what they look at: a window (steps or time) and filters.
//
//     mxp_selection chosen = {0};
//     const mxp_option options[] = {MXP_SELECTION_OPTIONS(&chosen), {.name = NULL}};
//     ... mxp__options_parse(...)
//     code = mxp__selection_check(self, &chosen);          // -1: goes on
//     ... for each process:
//     code = mxp__selection_window(self, &chosen, &steps, &choice);
//     code = mxp__selection_filter(self, &chosen, process, &filter);
#ifndef MXP_TOOLS_SELECTION_H
#define MXP_TOOLS_SELECTION_H

#include "command.h"
#include "profiler/analysis/window/choice.h"
#include "profiler/analysis/window/filter.h"

// Of steps that are left out of means, and a line for one that is shown alone.
#define MXP_NO_END "of which the end is not recorded"
#define MXP_NO_END_OF_ONE "the end of this step is not recorded: it goes to the last record\n"

typedef struct mxp_selection {
    const char *step, *from, *until, *top;  // as given, or null
    mxp_option_list names, scopes, threads, phases;
    // What mxp__selection_check made of them.
    mxp_choice_wish window;
    mxp_filter_wish filter;
    size_t top_count;  // of --top; 0: not given
    // What mxp__selection_share made of them. A time: of processes without the steps that others
    // have, or of all where a time was asked for.
    bool is_shared, has_shared_time;
    int64_t shared_from_ns, shared_until_ns;
} mxp_selection;

// clang-format off
#define MXP_WINDOW_OPTIONS(s)                                                                  \
    {.name = "--step", .text = &(s)->step}, {.name = "--from", .text = &(s)->from},            \
    {.name = "--until", .text = &(s)->until}
#define MXP_FILTER_OPTIONS(s)                                                                  \
    {.name = "--name", .list = &(s)->names}, {.name = "--scope", .list = &(s)->scopes},        \
    {.name = "--thread", .list = &(s)->threads}, {.name = "--phase", .list = &(s)->phases}
#define MXP_SELECTION_OPTIONS(s)                                                               \
    MXP_WINDOW_OPTIONS(s), MXP_FILTER_OPTIONS(s), {.name = "--top", .text = &(s)->top}
// clang-format on

// The same in a command's help.
#define MXP_WINDOW_HELP                                                                          \
    "  --step N|A:B    that step, or those from A to B (either may be left out); also 'last' "   \
    "and\n"                                                                                      \
    "                  'slowest'. Of several, means leave out those whose end is not recorded\n" \
    "  --from TIME     from there on: 1.5s, 20ms of the trace's time; +0.5s after its begin,\n"  \
    "                  -2s before its end\n"                                                     \
    "  --until TIME    up to there; +0.5s is after --from\n"
#define MXP_FILTER_HELP                                                                          \
    "  --name GLOB     rows of these names only; --scope GLOB (with what is inside), --thread\n" \
    "                  GLOB, --phase forward|backward|update|communication|none. Each may be\n"  \
    "                  given several times: any of one kind, and all kinds. Shares stay those\n" \
    "                  of everything\n"

// Whether something was asked for that leaves rows out.
static inline bool mxp__selection_filters(const mxp_selection *selection)
{
    return selection->names.count + selection->scopes.count + selection->threads.count +
               selection->phases.count >
           0;
}

// Takes the texts apart. -1, or the exit code of a wrong call after an error line.
int mxp__selection_check(const mxp_command *command, mxp_selection *selection);
// Whether a part of the recording was asked for.
static inline bool mxp__selection_has_window(const mxp_selection *selection)
{
    return selection->step != NULL || selection->from != NULL || selection->until != NULL;
}

// Of several processes, before the first is looked at: times are counted from the begin of all to
// the end of all, slowest and last are one step of all (same_step.h), and what one process lacks of
// times, steps and filters is no error where another has it. Of one process it does nothing. -1, or
// the exit code after an error line.
int mxp__selection_share(const mxp_command *command, mxp_selection *selection, mxp_source *source);

// The same where the steps are known: begin, add for each process, end. Steps may be null where no
// window is asked for. Add returns MXP_ENOMEM or another error; end -1, or the exit code after an
// error line.
typedef struct mxp_sharing {
    const mxp_command *command;
    mxp_selection *selection;
    const mxp_source *first;
    mxp_steps whole;  // without steps: from the first to the last record of all
    int64_t from_ns, until_ns;  // of the steps that are chosen
    bool has_steps, lacks_steps, fits;
} mxp_sharing;

void mxp__sharing_begin(mxp_sharing *sharing, const mxp_command *command, mxp_selection *selection);
int mxp__sharing_add(mxp_sharing *sharing, const mxp_source *process, const mxp_steps *steps);
int mxp__sharing_end(mxp_sharing *sharing);

// Whether a choice that is shared has nothing of its process: no step, or no record in the time.
bool mxp__selection_lacks(const mxp_selection *selection, const mxp_choice *choice);

// The window in a process's steps. -1, or after an error line the exit code: MXP_EXIT_USAGE where
// there is no such step or time, MXP_EXIT_UNKNOWN where no steps are marked.
int mxp__selection_window(const mxp_command *command, const mxp_selection *selection,
                          const mxp_steps *steps, mxp_choice *choice);
// The same for means: of steps by their numbers those whose end is not recorded are left out, and
// counted in the choice. Where none has an end they stay.
int mxp__selection_whole_window(const mxp_command *command, const mxp_selection *selection,
                                const mxp_steps *steps, mxp_choice *choice);
// A line of what that left out, or that the one step has no end; none if all have one.
void mxp__selection_put_no_end(const mxp_selection *selection, const mxp_choice *choice,
                               mxp_strbuf *out);
// The filter for a process. -1, or the exit code after an error line: for a glob that fits nothing
// MXP_EXIT_USAGE, with the nearest names, unless the selection is shared.
int mxp__selection_filter(const mxp_command *command, const mxp_selection *selection,
                          const mxp_source *process, mxp_filter *filter);

// A number above 0 of an option. -1, or the exit code of a wrong call after an error line.
int mxp__count_option(const mxp_command *command, const char *name, const char *text,
                      size_t *count);
// An option of the command line and whether it was given, where it does not belong.
typedef struct mxp_given_option {
    const char *name;
    bool is_given;
} mxp_given_option;

// The name of the first one that was given, or null.
const char *mxp__first_given(const mxp_given_option *options, size_t count);

// "20ms", "1.5s", "1.5" (seconds), "300us", "40ns" as ns; no sign. False: it is none.
bool mxp__duration_parse(const char *text, int64_t *ns);

#endif
