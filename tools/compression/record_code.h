// SPDX-License-Identifier: Apache-2.0
// Records as columns of small numbers, which is what makes them compress well (docs/format.md,
// "Compressed files"). Any words survive, also such that are no records.
#ifndef MXP_TOOLS_RECORD_CODE_H
#define MXP_TOOLS_RECORD_CODE_H

#include "base/strbuf.h"
#include "profiler/trace/source.h"

typedef enum mxp_column {
    MXP__COLUMN_CHUNKS,  // thread, sequence, base, lost before, units
    MXP__COLUMN_HEADS,  // kind and units of each record
    MXP__COLUMN_TIMES,
    MXP__COLUMN_NAMES,
    MXP__COLUMN_VALUES,
    MXP__COLUMN_REST,
    MXP__COLUMNS
} mxp_column;

typedef struct mxp_record_coder {
    mxp_strbuf columns[MXP__COLUMNS];
    uint32_t chunks;
    uint64_t record_bytes;
} mxp_record_coder;  // = {0}

// Adds a chunk: the range's words, under that sequence.
void mxp__record_code(mxp_record_coder *coder, const mxp_record_range *range, uint32_t sequence);
void mxp__record_coder_clear(mxp_record_coder *coder);  // keeps the memory
void mxp__record_coder_fini(mxp_record_coder *coder);

// Appends the chunks that `count` columns' bytes stand for, as CHUNK sections of a native file.
// MXP_EFORMAT if they stand for nothing: `out` has then more of it than is right.
typedef struct mxp_column_bytes {
    const uint8_t *at, *end;
} mxp_column_bytes;
int mxp__record_decode(mxp_column_bytes columns[MXP__COLUMNS], uint32_t chunks, mxp_strbuf *out,
                       uint64_t *record_bytes);

#endif
