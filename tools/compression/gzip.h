// SPDX-License-Identifier: Apache-2.0
// A sink that compresses what it is given and hands it on, as gzip does.
#ifndef MXP_TOOLS_GZIP_H
#define MXP_TOOLS_GZIP_H

#include "profiler/export/sink.h"

typedef struct mxp_gzip mxp_gzip;

// `to` must outlive it. MXP_ENOMEM.
int mxp__gzip_open(mxp_sink *to, mxp_gzip **gzip);
mxp_sink *mxp__gzip_sink(mxp_gzip *gzip);
// Writes what is left; without that the file is incomplete.
int mxp__gzip_finish(mxp_gzip *gzip);
void mxp__gzip_close(mxp_gzip *gzip);  // null is fine

// Appends all of `data` as one member. `level`: 1, the fastest, to 9. MXP_ENOMEM, MXP_ENOTSUP.
int mxp__gzip_pack(const void *data, size_t size_bytes, int level, mxp_strbuf *out);

#endif
