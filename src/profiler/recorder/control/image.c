// SPDX-License-Identifier: Apache-2.0
// See image.h. The magic is written byte by byte and last, so that it stands nowhere else, and only
// where everything else is there.
#include "profiler/recorder/control/image.h"

#include <assert.h>
#include <mxprof/version.h>
#include <stddef.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "profiler/recorder/drain/report.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/async_table.h"
#include "profiler/recorder/thread/modules.h"
#include "profiler/recorder/thread/names.h"
#include "profiler/trace/image.h"

static_assert(sizeof(void *) == sizeof(uint64_t), "addresses of the image have 64 bits");

static_assert(sizeof MXP_VERSION_STRING <= sizeof((mxp_image_anchor *)0)->version,
              "the version fits into the anchor");

static volatile mxp_image_anchor anchor;

static uint64_t address(const volatile void *of)
{
    return (uint64_t)(uintptr_t)of;
}

static void put_threads(volatile mxp_image_anchor *to)
{
    to->threads = address(mxp__threads_list());
    to->thread_next = offsetof(mxp_thread, next);
    to->thread_first = offsetof(mxp_thread, first);
    to->thread_tid = offsetof(mxp_thread, tid);
    to->thread_index = offsetof(mxp_thread, index);
    to->thread_start = offsetof(mxp_thread, start_ticks);
    to->thread_page = sizeof(mxp_recorder_section);
}

static void put_limits(volatile mxp_image_anchor *to)
{
    to->full_policy = (uint32_t)mxp__rec.limits.full_policy;
    to->memory_limit_bytes = mxp__rec.limits.memory_limit_bytes;
    to->clock_source = mxp__clock_source();
    to->state = address(&mxp__rec.state);
    to->timebase = address(&mxp__rec.timebase);
}

void mxp__image_show(void)
{
    volatile mxp_image_anchor *to = &anchor;
    to->magic[0] = 0;
    mxp_compiler_barrier();
    to->self = address(to);
    to->layout = MXP__IMAGE_LAYOUT;
    to->pid = mxp__os_process_id();
    put_limits(to);
    put_threads(to);
    mxp__names_image(to);
    mxp__modules_image(to);
    mxp__info_image(to);
    to->async = address(mxp__async_slots());
    for (size_t i = 0; i < sizeof MXP_VERSION_STRING; i++) {
        to->version[i] = MXP_VERSION_STRING[i];
    }
    mxp_compiler_barrier();
    for (size_t i = MXP__IMAGE_MAGIC_BYTES; i-- > 0;) {
        to->magic[i] = (unsigned char)(i < sizeof MXP__IMAGE_MAGIC - 1 ? MXP__IMAGE_MAGIC[i] : 0);
    }
}
