// SPDX-License-Identifier: Apache-2.0
// zlib behind a sink.
#include "compression/gzip.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compression/deflate_runs.h"

enum { BUFFER_BYTES = 1 << 16, WINDOW_BITS = 15, WINDOW_BITS_GZIP = 15 + 16, MEMORY_LEVEL = 8 };

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

// ---- pieces ------------------------------------------------------------------------------------
static void put_little(mxp_deflate_bits *out, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        *out->to++ = (uint8_t)(value >> (8 * i));
    }
}

// Blocks of zlib's, which end with a whole byte, as they begin.
static int put_repeating(mxp_deflate_bits *out, const mxp_gzip_piece *piece, int level,
                         size_t room_bytes)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, level, Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        return mxp__fail_memory("compressing a section");
    }
    mxp__deflate_align(out);
    stream.next_in = (unsigned char *)(uintptr_t)piece->data;  // zlib only reads it
    stream.avail_in = (unsigned)piece->size_bytes;
    stream.next_out = out->to;
    stream.avail_out = (unsigned)room_bytes;
    deflate(&stream, Z_SYNC_FLUSH);
    assert(stream.avail_in == 0 && stream.avail_out > 0 && "there is room for all of it");
    out->to = stream.next_out;
    deflateEnd(&stream);
    return MXP_OK;
}

static int put_pieces(mxp_deflate_bits *out, const mxp_gzip_piece *pieces, size_t count, int level,
                      const uint8_t *end)
{
    static const uint8_t head[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3};
    uLong checksum = crc32(0, NULL, 0);
    size_t size_bytes = 0;
    int error = MXP_OK;
    memcpy(out->to, head, sizeof head);
    out->to += sizeof head;
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        const mxp_gzip_piece *piece = &pieces[i];
        checksum = crc32(checksum, piece->data, (unsigned)piece->size_bytes);
        size_bytes += piece->size_bytes;
        if (piece->repeats && piece->size_bytes > 0) {
            error = put_repeating(out, piece, level, (size_t)(end - out->to));
        } else {
            mxp__deflate_runs(out, piece->data, piece->size_bytes);
        }
    }
    mxp__deflate_end(out);
    put_little(out, (uint32_t)checksum);
    put_little(out, (uint32_t)size_bytes);
    return error;
}

int mxp__gzip_pack_pieces(const mxp_gzip_piece *pieces, size_t count, int level, mxp_strbuf *out)
{
    enum { ENDS = 64 };  // head, checksum, and what bits write behind them
    size_t most = ENDS;
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = pieces[i].size_bytes;
        most += pieces[i].repeats ? compressBound(bytes) + ENDS : mxp__deflate_runs_bound(bytes);
    }
    char *to = most <= UINT32_MAX ? mxp__strbuf_reserve(out, most) : NULL;
    if (to == NULL) {
        return mxp__fail_memory("compressing a section");
    }
    mxp_deflate_bits bits = {.to = (uint8_t *)to};
    const int error = put_pieces(&bits, pieces, count, level, bits.to + most);
    if (error == MXP_OK) {
        out->length += (size_t)((char *)bits.to - to);
    }
    return error;
}

int mxp__gzip_pack(const void *data, size_t size_bytes, int level, mxp_strbuf *out)
{
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
