// SPDX-License-Identifier: Apache-2.0
// In the place of gzip_pack.c where there was no libdeflate to build with: zlib, which takes
// longer.
#include "base/fail.h"
#include "compression/gzip.h"

#ifdef MXP_WITH_ZLIB
#include <assert.h>
#include <zlib.h>

int mxp__gzip_pack(const void *data, size_t size_bytes, int level, mxp_strbuf *out)
{
    enum { WINDOW_BITS_GZIP = 15 + 16, MEMORY_LEVEL = 8 };
    z_stream stream = {0};
    if (deflateInit2(&stream, level, Z_DEFLATED, WINDOW_BITS_GZIP, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        return mxp__fail_memory("compressing a section");
    }
    const size_t most = deflateBound(&stream, size_bytes);
    char *to = most <= UINT32_MAX ? mxp__strbuf_reserve(out, most) : NULL;
    if (to != NULL) {
        stream.next_in = (unsigned char *)(uintptr_t)data;  // zlib only reads it
        stream.avail_in = (unsigned)size_bytes;
        stream.next_out = (unsigned char *)to;
        stream.avail_out = (unsigned)most;
        deflate(&stream, Z_FINISH);
        assert(stream.avail_in == 0 && "there is room for all of it");
        out->length += most - stream.avail_out;
    }
    deflateEnd(&stream);
    return to != NULL ? MXP_OK : mxp__fail_memory("compressing a section");
}
#else
int mxp__gzip_pack(const void *data, size_t size_bytes, int level, mxp_strbuf *out)
{
    (void)data, (void)size_bytes, (void)level, (void)out;
    return mxp__fail(
        MXP_ENOTSUP,
        "this mxprof was built without libdeflate and zlib, one of which a page needs");
}
#endif
