// SPDX-License-Identifier: Apache-2.0
#include "whole_file.h"

#include "cmocka_all.h"

#include <mxprof/error.h>

#include "profiler/trace/file/native.h"

mxp_source *open_whole(const char *path)
{
    mxp_source *source = NULL;
    mxp_damage damage;
    if (mxp__native_open(path, &source, &damage) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    assert_null(damage.text);
    return source;
}

uint64_t losses_of(const mxp_source *source)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < source->loss_count; i++) {
        lost += source->losses[i].count;
    }
    return lost;
}
