// SPDX-License-Identifier: Apache-2.0
// The two usual sinks. Invariant: `written_bytes` counts what really arrived, also when a write
// failed in the middle.
#include "profiler/export/sink.h"

#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/os/os.h"

static int write_fd(mxp_sink *sink, const char *data, size_t size_bytes)
{
    size_t written = mxp__os_write(sink->fd, data, size_bytes);
    sink->written_bytes += written;
    return written == size_bytes
               ? MXP_OK
               : mxp__fail(MXP_EIO, "cannot write '%s': %s", sink->path, strerror(errno));
}

static int write_string(mxp_sink *sink, const char *data, size_t size_bytes)
{
    mxp_strbuf *buffer = sink->target;
    mxp__strbuf_append(buffer, data, size_bytes);
    if (buffer->failed) {
        return mxp__fail_memory("the exported text");
    }
    sink->written_bytes += size_bytes;
    return MXP_OK;
}

void mxp__sink_fd(mxp_sink *sink, int fd, const char *path)
{
    *sink = (mxp_sink){.write = write_fd, .fd = fd, .path = path};
}

void mxp__sink_string(mxp_sink *sink, mxp_strbuf *buffer)
{
    *sink = (mxp_sink){.write = write_string, .target = buffer, .fd = -1, .path = "memory"};
}
