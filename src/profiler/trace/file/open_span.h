// SPDX-License-Identifier: Apache-2.0
// A span that was open when its process died, as a record with what is known of it. Private to
// file_open.c.
#ifndef MXP_TRACE_OPEN_SPAN_H
#define MXP_TRACE_OPEN_SPAN_H

#include <mxprof/open_args.h>
#include <mxprof/record_inline.h>

// Words of its record, an even number. Nothing in `args` is trusted; null: there are none.
uint32_t mxp__open_span_words(const mxp_open_span *span, const mxp_open_arguments *args);

// Writes the record: the span lasted until `last`, the last time known.
void mxp__open_span_write(uint64_t *words, const mxp_open_span *span,
                          const mxp_open_arguments *args, uint64_t last);

#endif
