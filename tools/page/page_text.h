// SPDX-License-Identifier: Apache-2.0
// The page that the command was built with, as join wrote it.
#ifndef MXP_TOOLS_PAGE_TEXT_H
#define MXP_TOOLS_PAGE_TEXT_H

#include "page/join_page.h"

typedef struct mxp_page_piece {
    const char *text;
    size_t length;
} mxp_page_piece;

extern const mxp_page_piece mxp__page_pieces[MXP_PAGE_PIECES];

#endif
