// SPDX-License-Identifier: Apache-2.0
// Folder tools/page: the page that `mxprof view` writes: its sections, and the scripts that read
// them. docs/page-format.md has both sides' contract.
//
// A script without what only its authors read: comments, indents, blanks beside signs. Its tokens
// and the ends of its lines stay, so that it is the same program, and errors name the same names.
#ifndef MXP_TOOLS_PAGE_SQUEEZE_H
#define MXP_TOOLS_PAGE_SQUEEZE_H

#include "base/strbuf.h"

enum { MXP_SQUEEZE_NESTED = 16 };

// Where a line begins. All zeros at the begin of a script.
typedef struct mxp_squeeze {
    enum { MXP_SQUEEZE_CODE, MXP_SQUEEZE_COMMENT, MXP_SQUEEZE_TEMPLATE } in;
    char before;  // the last character of code, 0: none
    size_t depth;  // of `${`, each with the braces that are open in it
    unsigned braces[MXP_SQUEEZE_NESTED];
} mxp_squeeze;

// Appends a line and its end; a line of which nothing is left is left out. Templates in templates
// deeper than MXP_SQUEEZE_NESTED are not for a page. What runs out of memory is `out`'s `failed`.
void mxp__page_squeeze(mxp_squeeze *self, const char *line, size_t length, mxp_strbuf *out);

// The same of a style sheet, all at once. Blanks stay where they may join selectors or parts of a
// value.
void mxp__page_squeeze_style(const char *text, size_t length, mxp_strbuf *out);

#endif
