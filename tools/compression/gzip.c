// SPDX-License-Identifier: Apache-2.0
// zlib behind a sink.
#include "compression/gzip.h"

#include <assert.h>
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

static int strategy_of(const mxp_gzip_piece *piece)
{
    return piece->repeats ? Z_DEFAULT_STRATEGY : Z_RLE;
}

// Each piece ends a block of deflate, so that it has codes of its own.
static void pack_piece(z_stream *stream, const mxp_gzip_piece *piece, int level, bool is_last)
{
    deflateParams(stream, level, strategy_of(piece));  // nothing is left to be written before
    stream->next_in = (unsigned char *)(uintptr_t)piece->data;  // zlib only reads it
    stream->avail_in = (unsigned)piece->size_bytes;
    deflate(stream, is_last ? Z_FINISH : Z_BLOCK);
}

static int pack_all(z_stream *stream, const mxp_gzip_piece *pieces, size_t count, int level,
                    mxp_strbuf *out)
{
    enum { BLOCK_BYTES = 16 };  // of its ends, at most
    size_t size_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        size_bytes += pieces[i].size_bytes;
    }
    const size_t most = deflateBound(stream, size_bytes) + count * BLOCK_BYTES;
    char *to = most <= UINT32_MAX ? mxp__strbuf_reserve(out, most) : NULL;
    if (to == NULL) {
        return mxp__fail_memory("compressing a section");
    }
    stream->next_out = (unsigned char *)to;
    stream->avail_out = (unsigned)most;
    for (size_t i = 0; i < count; i++) {
        pack_piece(stream, &pieces[i], level, i + 1 == count);
    }
    assert(stream->avail_in == 0 && stream->avail_out > 0 && "there is room for all of it");
    out->length += most - stream->avail_out;
    return MXP_OK;
}

int mxp__gzip_pack_pieces(const mxp_gzip_piece *pieces, size_t count, int level, mxp_strbuf *out)
{
    assert(count > 0);
    z_stream stream = {0};
    if (deflateInit2(&stream, level, Z_DEFLATED, WINDOW_BITS_GZIP, MEMORY_LEVEL,
                     strategy_of(&pieces[0])) != Z_OK) {
        return mxp__fail_memory("compressing a section");
    }
    const int error = pack_all(&stream, pieces, count, level, out);
    deflateEnd(&stream);
    return error;
}

int mxp__gzip_pack(const void *data, size_t size_bytes, int level, mxp_strbuf *out)
{
    const mxp_gzip_piece all = {.data = data, .size_bytes = size_bytes, .repeats = true};
    return mxp__gzip_pack_pieces(&all, 1, level, out);
}
