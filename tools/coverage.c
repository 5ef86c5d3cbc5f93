// SPDX-License-Identifier: Apache-2.0
// See coverage.h. Records are not read. The first chunk that a thread still has tells the time of
// its begin, and its sequence number how many chunks there were before it.
#include "coverage.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/clock/timebase.h"
#include "profiler/trace/window.h"

static uint64_t number_of(const mxp_source *source, const char *key)
{
    const char *value = mxp__source_info(source, key);
    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

static bool is_of_a_chunk(const mxp_record_range *range)
{
    if (range->sequence == MXP_SEQUENCE_STANDING || range->end - range->words < 2) {
        return false;
    }
    bool stands = (range->words[0] & 0xff) == MXP_KIND_COUNTER &&
                  (range->words[1] >> 40 & MXP_COUNTER_STANDING) != 0;
    return !stands;
}

typedef struct first_chunk {
    uint64_t base_ticks;
    uint32_t sequence;
    bool is_there;
} first_chunk;

static void find_first_chunks(mxp_source *source, first_chunk *threads)
{
    mxp_record_range range;
    int found;
    for (size_t i = 0; (found = source->range(source, i, &range)) != 0; i++) {
        if (found != 1 && found != MXP_EFORMAT) {
            return;
        }
        if (found == 1 && is_of_a_chunk(&range) && range.thread < source->thread_count) {
            first_chunk *first = &threads[range.thread];
            if (!first->is_there || range.sequence < first->sequence) {
                *first = (first_chunk){range.base_ticks, range.sequence, true};
            }
        }
    }
}

static void note_missing(mxp_coverage *coverage, int64_t before_ns)
{
    if (!coverage->overwritten || before_ns > coverage->complete_ns) {
        coverage->overwritten = true;
        coverage->complete_ns = before_ns;
    }
}

// A thread whose first chunk was begun after it was first seen has had older ones.
static void cover_thread(mxp_coverage *coverage, const mxp_source *source, uint32_t i,
                         const first_chunk *first)
{
    enum { CHUNK_ROOM_BYTES = MXP_CHUNK_BYTES - sizeof(mxp_chunk_header) };
    uint64_t start = source->threads[i].start_ticks;
    bool is_older = first->is_there && first->base_ticks > start;
    uint64_t ticks = is_older ? first->base_ticks : start;
    coverage->since_ns[i] = mxp__timebase_ns(source->timebase, ticks);
    if (!first->is_there && source->threads[i].end_ticks != 0) {
        coverage->since_ns[i] = INT64_MAX;  // it has ended, and made room
        if (coverage->older_records > 0) {
            note_missing(coverage,
                         mxp__timebase_ns(source->timebase, source->threads[i].end_ticks));
        }
    }
    if (is_older && first->sequence > 0) {
        coverage->older_bytes += (uint64_t)first->sequence * CHUNK_ROOM_BYTES;
    }
    if (is_older) {
        note_missing(coverage, coverage->since_ns[i]);
    }
}

bool mxp__is_ring(const mxp_source *source)
{
    const char *policy = mxp__source_info(source, "full_policy");
    return policy != NULL && strcmp(policy, "ring") == 0;
}

int mxp__coverage_make(mxp_source *source, mxp_coverage *coverage)
{
    *coverage = (mxp_coverage){.is_ring = mxp__is_ring(source)};
    if (!coverage->is_ring || source->thread_count == 0) {
        return MXP_OK;
    }
    size_t count = source->thread_count;
    first_chunk *threads = mxp__alloc(count * sizeof *threads);
    coverage->since_ns = mxp__alloc(count * sizeof *coverage->since_ns);
    coverage->thread_count = count;
    if (threads == NULL || coverage->since_ns == NULL) {
        mxp__free(threads, count * sizeof *threads);
        mxp__coverage_fini(coverage);
        return mxp__fail_memory("the coverage of a ring");
    }
    find_first_chunks(source, threads);
    coverage->limit_bytes = number_of(source, "memory_limit_bytes");
    coverage->older_records = number_of(source, "overwritten_records");
    for (uint32_t i = 0; i < count; i++) {
        cover_thread(coverage, source, i, &threads[i]);
    }
    mxp__free(threads, count * sizeof *threads);
    return MXP_OK;
}

void mxp__coverage_fini(mxp_coverage *coverage)
{
    mxp__free(coverage->since_ns, coverage->thread_count * sizeof *coverage->since_ns);
    *coverage = (mxp_coverage){0};
}

static const double mib = 1024.0 * 1024.0;

void mxp__coverage_print(const mxp_coverage *coverage, int64_t last_ns, mxp_strbuf *out)
{
    if (coverage->limit_bytes > 0) {
        mxp__strbuf_printf(out, "%.4g MiB; ", (double)coverage->limit_bytes / mib);
    }
    if (!coverage->overwritten) {
        mxp__strbuf_puts(out, "it has not been full: nothing made room");
        return;
    }
    mxp__strbuf_printf(out, "holds the last %.3f s of all threads; ",
                       (double)(last_ns - coverage->complete_ns) / 1e9);
    if (coverage->older_records > 0) {
        mxp__strbuf_printf(out, "%" PRIu64 " older records made room", coverage->older_records);
    } else if (coverage->older_bytes > 0) {
        mxp__strbuf_printf(out, "about %.3g MiB of older records made room",
                           (double)coverage->older_bytes / mib);
    } else {
        mxp__strbuf_puts(out, "older records made room");
    }
}

bool mxp__is_ring_alone(const mxp_source *source)
{
    return source->process_count == 0 && mxp__is_ring(source);
}

static int take_covered(mxp_input *input, const mxp_coverage *coverage)
{
    mxp_source *whole = input->source;
    input->source = NULL;
    return mxp__window_open(whole, coverage->complete_ns, &input->source);
}

// The threads of a ring cover different times: busy ones the last seconds, idle ones all of the
// run. Its table counts from the time on that all of them cover.
int mxp__coverage_limit(mxp_input *input, int64_t last_ns)
{
    mxp_coverage coverage;
    mxp_strbuf text = {0};
    int error = mxp__coverage_make(input->source, &coverage);
    if (error == MXP_OK && coverage.is_ring) {
        mxp__coverage_print(&coverage, last_ns, &text);
        if (coverage.overwritten) {
            mxp__strbuf_printf(&text, "; counted from %.3f s on",
                               (double)coverage.complete_ns / 1e9);
            error = take_covered(input, &coverage);
        }
        snprintf(input->ring, sizeof input->ring, "%s", mxp__strbuf_text(&text));
        input->made_room |= coverage.overwritten;
    }
    mxp__strbuf_fini(&text);
    mxp__coverage_fini(&coverage);
    return error;
}

int mxp__coverage_take(mxp_input *input, mxp_strbuf *note)
{
    mxp_coverage coverage;
    if (!mxp__is_ring_alone(input->source)) {
        return MXP_OK;
    }
    int error = mxp__coverage_make(input->source, &coverage);
    if (error == MXP_OK && coverage.overwritten) {
        mxp__strbuf_printf(note, "a ring: counted from %.3f s on, where all threads are there\n",
                           (double)coverage.complete_ns / 1e9);
        error = take_covered(input, &coverage);
        input->made_room = true;
    }
    mxp__coverage_fini(&coverage);
    return error;
}
