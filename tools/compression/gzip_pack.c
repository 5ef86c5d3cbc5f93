// SPDX-License-Identifier: Apache-2.0
// libdeflate, which packs what is whole in memory in less time than zlib, to fewer bytes.
#include <libdeflate.h>

#include "base/fail.h"
#include "compression/gzip.h"

int mxp__gzip_pack(const void *data, size_t size_bytes, int level, mxp_strbuf *out)
{
    struct libdeflate_compressor *packer = libdeflate_alloc_compressor(level);
    const size_t most = packer == NULL ? 0 : libdeflate_gzip_compress_bound(packer, size_bytes);
    char *to = packer == NULL ? NULL : mxp__strbuf_reserve(out, most);
    if (to != NULL) {
        out->length += libdeflate_gzip_compress(packer, data, size_bytes, to, most);
    }
    libdeflate_free_compressor(packer);
    return to != NULL ? MXP_OK : mxp__fail_memory("compressing a section");
}
