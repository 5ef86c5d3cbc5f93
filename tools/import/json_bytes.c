// SPDX-License-Identifier: Apache-2.0
// See json_bytes.h. Members of a gzip file follow one another; a stream that ends early or whose
// bytes are wrong gives what came before.
#include "import/json_bytes.h"

#include <errno.h>
#include <mxprof/error.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compression/gunzip.h"

enum { INPUT_BYTES = 1 << 16 };

struct mxp_json_bytes {
    int fd;  // -1: memory
    const char *path;
    const char *memory;
    size_t memory_bytes;
    bool is_gzip, ended;  // ended: the descriptor or the memory
    bool in_member;
    const char *damage;
    mxp_gunzip *gunzip;
    size_t at, end;  // of `input`
    unsigned char input[INPUT_BYTES];
};

// ---- what is below the compression -------------------------------------------------------------
static ssize_t read_memory(mxp_json_bytes *bytes, void *to, size_t size_bytes)
{
    size_t count = size_bytes < bytes->memory_bytes ? size_bytes : bytes->memory_bytes;
    if (count > 0) {
        memcpy(to, bytes->memory, count);
        bytes->memory += count;
        bytes->memory_bytes -= count;
    }
    return (ssize_t)count;
}

static ssize_t read_below(mxp_json_bytes *bytes, void *to, size_t size_bytes)
{
    if (bytes->fd < 0) {
        return read_memory(bytes, to, size_bytes);
    }
    ssize_t got;
    do {
        got = read(bytes->fd, to, size_bytes);
    } while (got < 0 && errno == EINTR);
    return got >= 0 ? got
                    : mxp__fail(MXP_EIO, "cannot read '%s': %s", bytes->path, strerror(errno));
}

// At least `least` bytes of input, if there are so many. 0 or a negative error.
static int fill_input(mxp_json_bytes *bytes, size_t least)
{
    if (bytes->end - bytes->at >= least || bytes->ended) {
        return MXP_OK;
    }
    memmove(bytes->input, bytes->input + bytes->at, bytes->end - bytes->at);
    bytes->end -= bytes->at;
    bytes->at = 0;
    while (bytes->end < least && !bytes->ended) {
        ssize_t got = read_below(bytes, bytes->input + bytes->end, INPUT_BYTES - bytes->end);
        if (got < 0) {
            return (int)got;
        }
        bytes->ended = got == 0;
        bytes->end += (size_t)got;
    }
    return MXP_OK;
}

// ---- opening -----------------------------------------------------------------------------------
static int begin(mxp_json_bytes *bytes)
{
    int error = fill_input(bytes, 2);
    if (error != MXP_OK) {
        return error;
    }
    bytes->is_gzip = bytes->end >= 2 && bytes->input[0] == 0x1f && bytes->input[1] == 0x8b;
    bytes->in_member = bytes->is_gzip;
    return bytes->is_gzip ? mxp__gunzip_open(&bytes->gunzip) : MXP_OK;
}

static int open_either(mxp_json_bytes model, mxp_json_bytes **opened)
{
    *opened = NULL;
    mxp_json_bytes *bytes = mxp__alloc(sizeof *bytes);
    if (bytes == NULL) {
        return mxp__fail_memory("reading a trace");
    }
    bytes->fd = model.fd;
    bytes->path = model.path;
    bytes->memory = model.memory;
    bytes->memory_bytes = model.memory_bytes;
    int error = begin(bytes);
    if (error != MXP_OK) {
        mxp__json_bytes_close(bytes);
        return error;
    }
    *opened = bytes;
    return MXP_OK;
}

int mxp__json_bytes_open(int fd, const char *path, mxp_json_bytes **bytes)
{
    return open_either((mxp_json_bytes){.fd = fd, .path = path}, bytes);
}

int mxp__json_bytes_open_memory(const void *data, size_t size_bytes, mxp_json_bytes **bytes)
{
    return open_either(
        (mxp_json_bytes){.fd = -1, .path = "memory", .memory = data, .memory_bytes = size_bytes},
        bytes);
}

// ---- reading -----------------------------------------------------------------------------------
static ssize_t read_plain(mxp_json_bytes *bytes, char *to, size_t size_bytes)
{
    size_t held = bytes->end - bytes->at;
    if (held == 0) {
        return bytes->ended ? 0 : read_below(bytes, to, size_bytes);
    }
    size_t count = held < size_bytes ? held : size_bytes;
    memcpy(to, bytes->input + bytes->at, count);
    bytes->at += count;
    return (ssize_t)count;
}

static void fail_stream(mxp_json_bytes *bytes, const char *text)
{
    bytes->damage = text;
    bytes->in_member = false;
    bytes->ended = true;
    bytes->at = bytes->end;
}

// Behind the end of a member: whether another one follows. What is no member there is left alone,
// as gzip does.
static int next_member(mxp_json_bytes *bytes)
{
    int error = fill_input(bytes, 2);
    bytes->in_member = error == MXP_OK && bytes->end - bytes->at >= 2 &&
                       bytes->input[bytes->at] == 0x1f && bytes->input[bytes->at + 1] == 0x8b;
    if (bytes->in_member) {
        mxp__gunzip_next_member(bytes->gunzip);
    }
    return error;
}

// One step of the decompression.
static int inflate_some(mxp_json_bytes *bytes, mxp_gunzip_piece *piece)
{
    int error = fill_input(bytes, 1);
    if (error != MXP_OK) {
        return error;
    }
    const size_t room = piece->out_bytes;
    piece->in = bytes->input + bytes->at;
    piece->in_bytes = bytes->end - bytes->at;
    const mxp_gunzip_state state = mxp__gunzip_step(bytes->gunzip, piece);
    bytes->at = bytes->end - piece->in_bytes;
    if (state == MXP_GUNZIP_END) {
        return next_member(bytes);
    }
    if (state == MXP_GUNZIP_NO_MEMORY) {
        return mxp__fail_memory("decompressing a trace");
    }
    if (state == MXP_GUNZIP_DAMAGED) {
        fail_stream(bytes, "the compressed stream is damaged");
    } else if (piece->out_bytes == room && bytes->ended && bytes->at == bytes->end) {
        fail_stream(bytes, "the compressed stream is cut short");
    }
    return MXP_OK;
}

static ssize_t read_gzip(mxp_json_bytes *bytes, char *to, size_t size_bytes)
{
    mxp_gunzip_piece piece = {.out = to, .out_bytes = size_bytes};
    while (bytes->in_member && piece.out_bytes == size_bytes) {
        int error = inflate_some(bytes, &piece);
        if (error != MXP_OK) {
            return error;
        }
    }
    return (ssize_t)(size_bytes - piece.out_bytes);
}

ssize_t mxp__json_bytes_read(mxp_json_bytes *bytes, char *to, size_t size_bytes)
{
    return bytes->is_gzip ? read_gzip(bytes, to, size_bytes) : read_plain(bytes, to, size_bytes);
}

const char *mxp__json_bytes_damage(const mxp_json_bytes *bytes)
{
    return bytes->damage;
}

bool mxp__json_bytes_is_gzip(const mxp_json_bytes *bytes)
{
    return bytes->is_gzip;
}

void mxp__json_bytes_close(mxp_json_bytes *bytes)
{
    if (bytes != NULL) {
        mxp__gunzip_close(bytes->gunzip);
        mxp__free(bytes, sizeof *bytes);
    }
}
