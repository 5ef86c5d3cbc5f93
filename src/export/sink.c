// SPDX-License-Identifier: Apache-2.0
// The two usual sinks. Invariant: `written_bytes` counts what really arrived, also when a write
// failed in the middle.
#include "export/sink.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

static int write_fd(mxp_sink *sink, const char *data, size_t size_bytes)
{
    while (size_bytes > 0) {
        ssize_t done = write(sink->fd, data, size_bytes);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return mxp__fail(MXP_EIO, "cannot write '%s': %s", sink->path,
                             strerror(done < 0 ? errno : ENOSPC));
        }
        data += done;
        size_bytes -= (size_t)done;
        sink->written_bytes += (uint64_t)done;
    }
    return MXP_OK;
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
