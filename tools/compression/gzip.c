// SPDX-License-Identifier: Apache-2.0
// zlib behind a sink.
#include "compression/gzip.h"

#include <zlib.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { BUFFER_BYTES = 1 << 16, WINDOW_BITS_GZIP = 15 + 16, MEMORY_LEVEL = 8 };

struct mxp_gzip {
    mxp_sink sink;  // the one that is written to
    mxp_sink *to;
    z_stream stream;
    unsigned char buffer[BUFFER_BYTES];
};

static int deflate_all(mxp_gzip *gzip, int flush)
{
    z_stream *stream = &gzip->stream;
    do {
        stream->next_out = gzip->buffer;
        stream->avail_out = sizeof gzip->buffer;
        deflate(stream, flush);  // no error is left once the stream is open
        size_t made = sizeof gzip->buffer - stream->avail_out;
        int error = made == 0 ? MXP_OK : gzip->to->write(gzip->to, (char *)gzip->buffer, made);
        if (error != MXP_OK) {
            return error;
        }
    } while (stream->avail_out == 0);
    return MXP_OK;
}

static int write_compressed(mxp_sink *sink, const char *data, size_t size_bytes)
{
    mxp_gzip *gzip = sink->target;
    while (size_bytes > 0) {
        size_t piece = size_bytes < BUFFER_BYTES ? size_bytes : BUFFER_BYTES;
        gzip->stream.next_in = (unsigned char *)(uintptr_t)data;  // zlib only reads it
        gzip->stream.avail_in = (unsigned)piece;
        int error = deflate_all(gzip, Z_NO_FLUSH);
        if (error != MXP_OK) {
            return error;
        }
        data += piece;
        size_bytes -= piece;
        sink->written_bytes += piece;
    }
    return MXP_OK;
}

int mxp__gzip_open(mxp_sink *to, mxp_gzip **opened)
{
    mxp_gzip *gzip = mxp__alloc(sizeof *gzip);
    if (gzip == NULL || deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                     WINDOW_BITS_GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        mxp__free(gzip, sizeof *gzip);
        return mxp__fail_memory("compressing the output");
    }
    gzip->to = to;
    gzip->sink =
        (mxp_sink){.write = write_compressed, .target = gzip, .fd = to->fd, .path = to->path};
    *opened = gzip;
    return MXP_OK;
}

mxp_sink *mxp__gzip_sink(mxp_gzip *gzip)
{
    return &gzip->sink;
}

int mxp__gzip_finish(mxp_gzip *gzip)
{
    gzip->stream.avail_in = 0;
    return deflate_all(gzip, Z_FINISH);
}

void mxp__gzip_close(mxp_gzip *gzip)
{
    if (gzip != NULL) {
        deflateEnd(&gzip->stream);
        mxp__free(gzip, sizeof *gzip);
    }
}
