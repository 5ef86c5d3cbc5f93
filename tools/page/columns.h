// SPDX-License-Identifier: Apache-2.0
// Packed columns of a page's section (docs/page-format.md): numbers as LEB128 varints, columns one
// behind the other, as one gzip member.
//
//     uint8_t *to = mxp__column_begin(&columns[0], count);     // null: no memory
//     for (...) to = mxp__varint_put(to, value);
//     mxp__column_end(&columns[0], to);
//     mxp__columns_pack(columns, 1, count, &raw, &packed);
#ifndef MXP_TOOLS_COLUMNS_H
#define MXP_TOOLS_COLUMNS_H

#include "base/strbuf.h"

#define MXP_PAGE_MAGIC 0x3142584du  // "MXB1"
#define MXP_PAGE_NUMBER_MAX (UINT64_C(1) << 53)  // what a reader holds exactly
enum { MXP_VARINT_BYTES = 10, MXP_PAGE_COLUMNS_MAX = 64 };

// Up to 10 bytes.
static inline uint8_t *mxp__varint_put(uint8_t *to, uint64_t value)
{
    while (value > 127) {
        *to++ = (uint8_t)(value | 128);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

static inline uint8_t *mxp__signed_put(uint8_t *to, int64_t value)
{
    return mxp__varint_put(to, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

// Room for `count` more varints at the end of a column. Null: no memory, and the column has failed.
static inline uint8_t *mxp__column_begin(mxp_strbuf *column, size_t count)
{
    return (uint8_t *)mxp__strbuf_reserve(column, count * MXP_VARINT_BYTES);
}

static inline void mxp__column_end(mxp_strbuf *column, const uint8_t *to)
{
    column->length = (size_t)(to - (const uint8_t *)column->data);
}

void mxp__column_put(mxp_strbuf *column, uint64_t value);  // one varint
void mxp__column_put_f64(mxp_strbuf *column, double value);

// Sets `raw` to the section of these columns, and appends it to `packed` as a gzip member. `raw` is
// memory to be used again; its length is the section's unpacked size. MXP_ENOMEM, MXP_ENOTSUP.
int mxp__columns_pack(const mxp_strbuf *columns, size_t column_count, size_t count, mxp_strbuf *raw,
                      mxp_strbuf *packed);

#endif
