// SPDX-License-Identifier: Apache-2.0
// How the arguments of a long span lie in its record, or in an entry of open_args.h: first all of
// them, then the bytes of the texts. Both functions go through the texts alike, so what is measured
// is what is written.
#ifndef MXP_PROF_SPAN_ARGS_H
#define MXP_PROF_SPAN_ARGS_H

#include <mxprof/record.h>

enum { MXP__RECORD_HEAD_WORDS = 6, MXP__RECORD_WORDS_MOST = 2 * 255 };

// How many words `count` arguments take with `head_words` before them, at most
// MXP__RECORD_WORDS_MOST: of the texts as much as fits.
uint32_t mxp__args_measure(uint32_t head_words, const mxp_arg *args, uint32_t count);

// Writes them behind the first `head_words` of what begins at `words`; gives what measure gives.
// `count` is at most MXP_SPAN_ARGS_MAX.
uint32_t mxp__args_write(uint64_t *words, uint32_t head_words, const mxp_arg *args, uint32_t count);

#endif
