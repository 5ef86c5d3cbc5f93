// SPDX-License-Identifier: Apache-2.0
// In the place of gzip.c and gunzip.c where there was no zlib to build with.
#include <mxprof/error.h>

#include "base/fail.h"
#include "compression/gunzip.h"
#include "compression/gzip.h"

int mxp__gzip_open(mxp_sink *to, mxp_gzip **gzip)
{
    (void)to;
    *gzip = NULL;
    return mxp__fail(MXP_ENOTSUP,
                     "this mxprof was built without zlib and writes no gzip; leave out "
                     "the .gz and run gzip on the file");
}

mxp_sink *mxp__gzip_sink(mxp_gzip *gzip)
{
    (void)gzip;
    return NULL;
}

int mxp__gzip_finish(mxp_gzip *gzip)
{
    (void)gzip;
    return MXP_OK;
}

void mxp__gzip_close(mxp_gzip *gzip)
{
    (void)gzip;
}

int mxp__gunzip_open(mxp_gunzip **gunzip)
{
    *gunzip = NULL;
    return mxp__fail(
        MXP_ENOTSUP,
        "this mxprof was built without zlib and reads no gzip; run gunzip on the file");
}

mxp_gunzip_state mxp__gunzip_step(mxp_gunzip *gunzip, mxp_gunzip_piece *piece)
{
    (void)gunzip, (void)piece;
    return MXP_GUNZIP_DAMAGED;
}

void mxp__gunzip_next_member(mxp_gunzip *gunzip)
{
    (void)gunzip;
}

void mxp__gunzip_close(mxp_gunzip *gunzip)
{
    (void)gunzip;
}

uint32_t mxp__gzip_checksum(uint32_t before, const unsigned char *data, size_t size_bytes)
{
    uint32_t checksum = ~before;
    for (size_t i = 0; i < size_bytes; i++) {
        checksum ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            checksum = checksum >> 1 ^ (0xedb88320 & (0 - (checksum & 1)));
        }
    }
    return ~checksum;
}
