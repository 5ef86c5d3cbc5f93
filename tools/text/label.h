// SPDX-License-Identifier: Apache-2.0
// Names that programs chose, as text on a screen: nothing in them moves the cursor or changes a
// colour, and they can be made to fit.
#ifndef MXP_TOOLS_LABEL_H
#define MXP_TOOLS_LABEL_H

#include "text/screen.h"

// How many columns valid UTF-8 takes: wide characters two, combining ones none.
size_t mxp__label_columns(const char *text, size_t length);
// On one line whatever it contains: control characters become blanks, invalid bytes U+FFFD, and
// what a screen without UTF-8 cannot show a question mark.
void mxp__put_label(const mxp_screen *screen, const char *text, size_t length, mxp_strbuf *out);
// `text`, which a mxp__put_label wrote, in at most `columns` (at least 3): what is too much is left
// out in the middle, because names of a scope begin alike and names of operators end alike. Blanks
// in front, which indent, stay where there is room for more than them.
void mxp__put_shortened(const mxp_screen *screen, const char *text, size_t length, size_t columns,
                        mxp_strbuf *out);

#endif
