// SPDX-License-Identifier: Apache-2.0
// In the place of pack.c and unpack.c where there was no zstd to build with.
#include <mxprof/error.h>

#include "base/fail.h"
#include "compression/packed_file.h"

int mxp__pack(mxp_source *source, int fd, const char *path)
{
    (void)source, (void)fd;
    return mxp__fail(MXP_ENOTSUP,
                     "cannot write '%s': this mxprof was built without zstd and makes no "
                     "compressed traces (*.mxpz); a *.mxp it does",
                     path);
}

int mxp__unpack(const void *data, size_t size_bytes, mxp_sink *sink, mxp_damage *damage)
{
    (void)data, (void)size_bytes, (void)sink;
    *damage = (mxp_damage){0, NULL};
    return mxp__fail(MXP_ENOTSUP,
                     "compressed traces (*.mxpz) need zstd, which this mxprof was built without; "
                     "one that has it makes another of it: mxprof convert FILE -o FILE.mxp");
}
