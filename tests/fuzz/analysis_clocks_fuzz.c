// SPDX-License-Identifier: Apache-2.0
// Fuzzes processes on one clock: whatever their files tell of clocks, cuts and messages, time goes
// forwards, bounds are bounds, and no arrow between clocks that are known goes back.
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/analysis/clocks/messages.h"
#include "profiler/analysis/clocks/one_clock.h"
#include "profiler/analysis/ranks/rank_waits.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"
#include "seal_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_time(const mxp_timebase *timebase)
{
    for (size_t i = 0; i < timebase->segment_count; i++) {
        const mxp_clock_segment *segment = &timebase->segments[i];
        require(segment->mult > 0);
        require(segment->ns0 <= MXP__CLOCK_NS_MAX && segment->ns0 >= -MXP__CLOCK_NS_MAX);
        if (i > 0) {
            const mxp_clock_segment *before = &timebase->segments[i - 1];
            require(segment->ticks0 > before->ticks0 && segment->ns0 >= before->ns0);
        }
    }
}

static int require_forwards(void *context, const mxp_message *message)
{
    const mxp_one_clock *clock = context;
    const bool is_known = mxp__one_clock_doubt(clock, message->from, message->to) != INT64_MAX;
    require(is_known && message->received_ns >= message->sent_ns);
    return MXP_OK;
}

static void check_process(const mxp_process_clock *clock, mxp_source *process)
{
    mxp_rank_waits waits = {0};
    check_time(process->timebase);
    for (int i = 0; i < 3; i++) {
        require(clock->doubt_ns[i] >= 0);
    }
    require(memchr(clock->name, '\0', sizeof clock->name) != NULL);
    require(mxp__rank_waits_read(process, &waits) == MXP_OK);
    for (size_t i = 0; i < waits.wait_count; i++) {
        const mxp_rank_wait *wait = &waits.waits[i];
        require(wait->waited_ns <= (uint64_t)(wait->end_ns - wait->begin_ns));
        require(i == 0 || wait->begin_ns >= waits.waits[i - 1].begin_ns);
    }
    mxp__rank_waits_fini(&waits);
}

static void check(mxp_source *source)
{
    mxp_one_clock *clock;
    mxp_message_counts counts;
    require(mxp__one_clock_open(source, true, &clock) == MXP_OK);
    require(mxp__one_clock_check(clock) == MXP_OK);
    require(clock->arrows.backward <= clock->arrows.checked);
    for (size_t i = 0; i < clock->count && clock->source.process_count > 0; i++) {
        check_process(&clock->clocks[i], clock->source.processes[i]);
    }
    if (clock->source.process_count > 0) {
        require(mxp__messages_each(clock->source.processes, clock->count, require_forwards, clock,
                                   &counts) == MXP_OK);
    }
    mxp__source_close(&clock->source);
}

static void check_file(const void *data, size_t size)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open_memory(data, size, &source, &damage) == MXP_OK) {
        check(source);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    use_sealed_copy(data, size, check_file);
    return 0;
}
