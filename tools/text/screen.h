// SPDX-License-Identifier: Apache-2.0
// What a command's text goes to: how wide it is, whether it shows colour, UTF-8 and bars. All that
// prints for people asks here, so that all commands look alike.
#ifndef MXP_TOOLS_SCREEN_H
#define MXP_TOOLS_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

enum { MXP_SCREEN_COLUMNS = 80, MXP_SCREEN_COLUMNS_MIN = 40 };

typedef enum mxp_time_unit {
    MXP_TIME_FITTING,  // chosen a figure at a time
    MXP_TIME_NS,
    MXP_TIME_US,
    MXP_TIME_MS,
    MXP_TIME_S,
} mxp_time_unit;

typedef struct mxp_screen {
    size_t columns;  // MXP_SCREEN_COLUMNS_MIN at least; MXP_SCREEN_COLUMNS where nothing says it
    bool is_bounded;  // a terminal, or COLUMNS is set: names are shortened to fit; else they are
                      // whole
    bool has_colour;
    bool is_utf8;
    size_t bar_columns;  // 8 at 80 columns and below, 40 at 200 and above; 0: no bars
    int unit;  // mxp_time_unit; an int, so that an option can set it
} mxp_screen;

// For mxp_option.words of `--unit`: "auto", "ns", "us", "ms", "s", null. Places are mxp_time_unit.
extern const char *const mxp__unit_words[];

// Looks at an open descriptor and at COLUMNS, NO_COLOR, TERM, LC_ALL, LC_CTYPE and LANG. Never
// fails: what cannot be known is as plain as in a pipe.
void mxp__screen_look(int descriptor, mxp_screen *screen);

// How a piece of text stands out. Colour alone tells nothing: where there is none, nothing is lost.
typedef enum mxp_look {
    MXP_LOOK_PLAIN,
    MXP_LOOK_TOTAL,  // bold
    MXP_LOOK_LARGEST,  // the one hue
    MXP_LOOK_FAINT,
    MXP_LOOK_HEADING,
} mxp_look;

// Around text that stands out. Nothing is written where there is no colour, or for plain text.
void mxp__look_begin(const mxp_screen *screen, mxp_look look, mxp_strbuf *out);
void mxp__look_end(const mxp_screen *screen, mxp_look look, mxp_strbuf *out);

#endif
