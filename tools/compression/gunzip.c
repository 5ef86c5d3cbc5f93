// SPDX-License-Identifier: Apache-2.0
#include "compression/gunzip.h"

#include <mxprof/error.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { GZIP_WINDOW = 15 + 16 };

struct mxp_gunzip {
    z_stream stream;
};

int mxp__gunzip_open(mxp_gunzip **gunzip)
{
    *gunzip = mxp__alloc(sizeof **gunzip);
    if (*gunzip != NULL && inflateInit2(&(*gunzip)->stream, GZIP_WINDOW) == Z_OK) {
        return MXP_OK;
    }
    mxp__free(*gunzip, sizeof **gunzip);
    *gunzip = NULL;
    return mxp__fail_memory("decompressing a trace");
}

mxp_gunzip_state mxp__gunzip_step(mxp_gunzip *gunzip, mxp_gunzip_piece *piece)
{
    z_stream *stream = &gunzip->stream;
    stream->next_in = (unsigned char *)piece->in;
    stream->avail_in = (uInt)piece->in_bytes;
    stream->next_out = (unsigned char *)piece->out;
    stream->avail_out = (uInt)piece->out_bytes;
    const int result = inflate(stream, Z_NO_FLUSH);
    *piece = (mxp_gunzip_piece){stream->next_in, stream->avail_in, (char *)stream->next_out,
                                stream->avail_out};
    switch (result) {
    case Z_STREAM_END:
        return MXP_GUNZIP_END;
    case Z_OK:
    case Z_BUF_ERROR:
        return MXP_GUNZIP_MORE;
    case Z_MEM_ERROR:
        return MXP_GUNZIP_NO_MEMORY;
    default:
        return MXP_GUNZIP_DAMAGED;
    }
}

void mxp__gunzip_next_member(mxp_gunzip *gunzip)
{
    inflateReset(&gunzip->stream);
}

void mxp__gunzip_close(mxp_gunzip *gunzip)
{
    if (gunzip != NULL) {
        inflateEnd(&gunzip->stream);
        mxp__free(gunzip, sizeof *gunzip);
    }
}

uint32_t mxp__gzip_checksum(uint32_t before, const unsigned char *data, size_t size_bytes)
{
    return (uint32_t)crc32_z(before, data, size_bytes);
}
