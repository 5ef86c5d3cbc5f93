// SPDX-License-Identifier: Apache-2.0
// Folder tools/page: the page that `mxprof view` writes: its sections, and the scripts that read
// them. docs/page-format.md has both sides' contract.
//
// The page's own words: modules, style and template of a folder joined to one text, with the hashes
// that its policy allows. Used when the command is built (join.c), and by --page-assets.
#ifndef MXP_TOOLS_JOIN_PAGE_H
#define MXP_TOOLS_JOIN_PAGE_H

#include "base/strbuf.h"

// What the writer puts in between: the text before the title, from there to the plain text, from
// there to the sections, and the rest.
enum { MXP_PAGE_BEFORE_TITLE, MXP_PAGE_BEFORE_PLAIN, MXP_PAGE_BEFORE_DATA, MXP_PAGE_END };
enum { MXP_PAGE_PIECES = MXP_PAGE_END + 1 };

typedef struct mxp_page_text {
    mxp_strbuf pieces[MXP_PAGE_PIECES];
} mxp_page_text;

// Joins page.html, page.css and the modules that modules.txt names, of a folder. MXP_EIO: a file
// cannot be read; MXP_EINVAL: a name that two modules declare, a byte that is not ASCII, a word of
// the template that is missing; MXP_ENOMEM. The text is the caller's to finish, also on errors.
int mxp__page_join(const char *folder, mxp_page_text *text);
void mxp__page_text_fini(mxp_page_text *text);

#endif
