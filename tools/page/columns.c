// SPDX-License-Identifier: Apache-2.0
// See columns.h.
#include "page/columns.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "compression/gzip.h"

// The next level wins a fortieth of the page, and takes a seventh more of the time.
enum { GZIP_LEVEL = 1 };

void mxp__column_put(mxp_strbuf *column, uint64_t value)
{
    uint8_t *to = mxp__column_begin(column, 1);
    if (to != NULL) {
        mxp__column_end(column, mxp__varint_put(to, value));
    }
}

static void put_little(mxp_strbuf *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        mxp__strbuf_putc(out, (char)(value >> (8 * i)));
    }
}

void mxp__column_put_f64(mxp_strbuf *column, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_little(column, bits, sizeof bits);
}

int mxp__columns_pack(const mxp_strbuf *columns, size_t column_count, size_t count, mxp_strbuf *raw,
                      mxp_strbuf *packed)
{
    assert(column_count <= MXP_PAGE_COLUMNS_MAX && count <= UINT32_MAX);
    mxp__strbuf_clear(raw);
    put_little(raw, MXP_PAGE_MAGIC, 4);
    put_little(raw, count, 4);
    put_little(raw, column_count, 4);
    bool failed = false;
    for (size_t i = 0; i < column_count; i++) {
        assert(columns[i].length <= UINT32_MAX);
        failed |= columns[i].failed;
        put_little(raw, columns[i].length, 4);
    }
    for (size_t i = 0; i < column_count; i++) {
        mxp__strbuf_append(raw, mxp__strbuf_text(&columns[i]), columns[i].length);
    }
    if (failed || raw->failed) {
        return mxp__fail_memory("a section of the page");
    }
    return mxp__gzip_pack(raw->data, raw->length, GZIP_LEVEL, packed);
}
