// SPDX-License-Identifier: Apache-2.0
// See chrome_limit.h. Every item but the first begins with ",\n{". This sequence never occurs
// inside an item, because strings have no line ends.
#include "profiler/export/chrome/chrome_limit.h"

#include <string.h>

static const char between[] = ",\n{";

static const char *next_item(const char *data, const char *end)
{
    return data < end ? memmem(data, (size_t)(end - data), between, sizeof between - 1) : NULL;
}

static uint64_t count_items(const char *data, const char *end)
{
    uint64_t count = 0;
    while ((data = next_item(data, end)) != NULL) {
        data += sizeof between - 1;
        count++;
    }
    return count;
}

// The length of the whole items that fit.
static size_t fitting(const char *data, size_t size_bytes, uint64_t space_bytes)
{
    const char *end = data + size_bytes;
    const char *cut = space_bytes < size_bytes ? data + space_bytes : end;
    while (cut > data && strncmp(cut, between, sizeof between - 1) != 0) {
        cut--;
    }
    return (size_t)(cut - data);
}

static int write_limited(mxp_sink *sink, const char *data, size_t size_bytes)
{
    mxp_chrome_limit *limit = sink->target;
    size_t taken = size_bytes;
    if (limit->is_full || size_bytes > limit->space_bytes) {
        taken = limit->is_full ? 0 : fitting(data, size_bytes, limit->space_bytes);
        limit->is_full = true;
        limit->left_out += count_items(data + taken, data + size_bytes);
    }
    limit->space_bytes -= taken;
    int error = taken > 0 ? limit->to->write(limit->to, data, taken) : 0;
    sink->written_bytes = limit->to->written_bytes;
    return error;
}

void mxp__chrome_limit_init(mxp_chrome_limit *limit, uint64_t space_bytes, uint64_t left_out,
                            mxp_sink *to)
{
    *limit = (mxp_chrome_limit){
        .sink = {.write = write_limited, .fd = to->fd, .path = to->path},
        .to = to,
        .space_bytes = space_bytes,
        .is_full = left_out > 0,
        .left_out = left_out,
    };
    limit->sink.target = limit;
}
