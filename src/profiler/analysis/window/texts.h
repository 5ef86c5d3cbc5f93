// SPDX-License-Identifier: Apache-2.0
// Texts by number, each once, so that names of several processes can be compared and added up.
#ifndef MXP_ANALYSIS_TEXTS_H
#define MXP_ANALYSIS_TEXTS_H

#include "base/id_map.h"
#include "base/strbuf.h"

typedef struct mxp_text_place {
    size_t at, length;
} mxp_text_place;

// Begins as zeros.
typedef struct mxp_texts {
    mxp_strbuf bytes;  // terminated, one behind the other
    mxp_text_place *places;  // by number
    size_t count, capacity;
    mxp_id_map known;
} mxp_texts;

// The number of a text. Equal texts have one number; the first is 0. MXP_ENOMEM.
int mxp__texts_number(mxp_texts *texts, const char *text, size_t length, uint32_t *number);
// Terminated; valid until the next mxp__texts_number.
const char *mxp__texts_at(const mxp_texts *texts, uint32_t number, size_t *length);
void mxp__texts_fini(mxp_texts *texts);

#endif
