// SPDX-License-Identifier: Apache-2.0
// How the arguments of a long span lie in its record: first all of them, then the bytes of the
// texts. Both functions go through the texts alike, so what is measured is what is written.
#ifndef MXP_PROF_SPAN_ARGS_H
#define MXP_PROF_SPAN_ARGS_H

#include <mxprof/record.h>

typedef struct mxp_args_size {
    uint32_t count;  // of the arguments that are kept
    uint32_t units;  // of the whole record
    uint32_t text_words;  // words for texts
} mxp_args_size;

// Of a record with these arguments: as much of their texts as fits into the longest record.
void mxp__args_measure(mxp_args_size *size, const mxp_arg *args, uint32_t count);

// Into the record that begins at `words`, which has room for `size`.
void mxp__args_write(uint64_t *words, const mxp_arg *args, const mxp_args_size *size);

#endif
