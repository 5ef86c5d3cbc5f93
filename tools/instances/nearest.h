// SPDX-License-Identifier: Apache-2.0
// The names that a mistyped one may mean.
#ifndef MXP_TOOLS_NEAREST_H
#define MXP_TOOLS_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum { MXP__NEAREST_MOST = 5 };

// Those of `count` texts that are nearest to `word` by the letters to change, nearest first; each
// text counts once. Appends "a, b, c" with what cannot be shown replaced; nothing if there are
// none.
typedef struct mxp_nearest {
    const char *word;
    char texts[MXP__NEAREST_MOST][64];
    uint32_t distances[MXP__NEAREST_MOST];
    size_t count;
} mxp_nearest;

void mxp__nearest_offer(mxp_nearest *nearest, const char *text, size_t length);
void mxp__nearest_put(const mxp_nearest *nearest, mxp_strbuf *out);

#endif
