// SPDX-License-Identifier: Apache-2.0
#include "closing_source.h"

#include <unistd.h>

static int (*given_block)(mxp_source *source, size_t number, mxp_block *block);

static int block_and_close(mxp_source *source, size_t number, mxp_block *block)
{
    enum { NUMBERS = 256 };
    for (int fd = 3; fd < NUMBERS; fd++) {
        close(fd);
    }
    return given_block(source, number, block);
}

mxp_source *closing_source(mxp_source *source)
{
    given_block = source->block;
    source->block = block_and_close;
    return source;
}
