// SPDX-License-Identifier: Apache-2.0
// What commands about a window of each process have in common: their options, the opened file, one
// process after the other with its steps and its window, text or JSON, and the exit code.
#ifndef MXP_TOOLS_EACH_WINDOW_H
#define MXP_TOOLS_EACH_WINDOW_H

#include "selection.h"
#include "text/json_writer.h"
#include "text/screen.h"

typedef struct mxp_window_options {
    mxp_selection selection;
    const char *memory;  // as given
    int json, unit;
    uint64_t limit_bytes;  // of a window's graph: set by mxp__window_options_check
    bool wants_ends;  // set by commands that show means (mxp__selection_whole_window)
} mxp_window_options;

// clang-format off
#define MXP_EACH_WINDOW_OPTIONS(o)                                                             \
    MXP_WINDOW_OPTIONS(&(o)->selection), {.name = "--memory", .text = &(o)->memory},           \
    {.name = "--unit", .words = mxp__unit_words, .number = &(o)->unit},                        \
    {.name = "--json", .number = &(o)->json}
// clang-format on

// Takes the texts apart. -1, or the exit code of a wrong call after an error line.
int mxp__window_options_check(const mxp_command *command, mxp_window_options *options);

// One run of a command. What it prints goes to `out`; with --json, into the list that `json` has
// begun.
typedef struct mxp_each_window {
    const mxp_command *command;
    const mxp_window_options *options;
    mxp_screen screen;
    mxp_strbuf out;
    mxp_json json;
    bool is_one;  // the file is of one process
    size_t looked_at;  // processes that are not passed over, as one without the steps asked for is
    size_t answered;  // processes of which there was something to tell: none makes the exit code 3
    void *context;  // the command's own
} mxp_each_window;

// Called for each process. -1: go on; else the exit code, after an error line.
typedef int mxp_window_look(mxp_each_window *run, mxp_source *process, const mxp_steps *steps,
                            const mxp_choice *choice);

// The exit code. Nothing is printed after an error, but its line.
int mxp__each_window(const mxp_command *command, const char *file,
                     const mxp_window_options *options, mxp_window_look *look, void *context);

#endif
