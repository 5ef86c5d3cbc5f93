// SPDX-License-Identifier: Apache-2.0
// Where an export goes: a file, a string, or nowhere but a count.
#ifndef MXP_EXPORT_SINK_H
#define MXP_EXPORT_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

typedef struct mxp_sink mxp_sink;
struct mxp_sink {
    int (*write)(mxp_sink *sink, const char *data, size_t size_bytes);  // 0 or MXP_EIO with a line
    void *target;  // write's own: a descriptor in `fd`, or a strbuf
    int fd;
    const char *path;  // for messages
    uint64_t written_bytes;
};

void mxp__sink_fd(mxp_sink *sink, int fd,
                  const char *path);  // retries short and interrupted writes
void mxp__sink_string(mxp_sink *sink, mxp_strbuf *buffer);

#endif
