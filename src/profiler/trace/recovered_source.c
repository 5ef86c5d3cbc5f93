// SPDX-License-Identifier: Apache-2.0
// See recovered_source.h. All ranges are searched for damage once, when the source is opened.
#include "profiler/trace/recovered_source.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/event.h"
#include "profiler/trace/merge.h"

// A range of the inner source, as far as it can be read, and its number there.
typedef struct readable_range {
    mxp_record_range range;
    size_t number;
} readable_range;

// The readable part of one process.
typedef struct recovered {
    mxp_source source;  // must stay first
    mxp_source *inner;
    readable_range *ranges;
    size_t count, capacity;
} recovered;

static const char memory_for[] = "recovering a trace";

static recovered *recovered_of(const mxp_source *source)
{
    return (recovered *)(uintptr_t)source;
}

static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    const mxp_source *inner = recovered_of(source)->inner;
    return inner->name(inner, id);
}

// The inner source is asked again, because it counts what is read: memory that it holds for long is
// given back.
static int get_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    const recovered *self = recovered_of(source);
    if (number >= self->count) {
        return 0;
    }
    (void)self->inner->range(self->inner, self->ranges[number].number, range);
    *range = self->ranges[number].range;
    return 1;
}

static void close_recovered(mxp_source *source)
{
    recovered *self = recovered_of(source);
    mxp__free(self->ranges, self->capacity * sizeof *self->ranges);
    mxp__free(self, sizeof *self);
}

static void note_loss(mxp_recovery_loss *lost, uint64_t bytes)
{
    if (lost->chunks++ == 0) {
        strncat(lost->text, mxp_last_error(), sizeof lost->text - 1);
    }
    lost->bytes += bytes;
}

// Ends the range before its first damaged record.
static void truncate_end(const mxp_source *inner, mxp_record_range *range, mxp_recovery_loss *lost)
{
    mxp_decoder decoder;
    mxp__decoder_begin(&decoder, inner->timebase, range);
    const uint64_t *at = range->words;
    mxp_event event;
    int found;
    while ((found = mxp__decoder_next(&decoder, &event)) == 1) {
        at = decoder.at;
    }
    if (found < 0) {
        note_loss(lost, (uint64_t)(range->end - at) * sizeof *at);
        range->end = at;
    }
}

static int add_range(recovered *self, const mxp_record_range *range, size_t number)
{
    if (mxp__grow(&self->ranges, &self->capacity, self->count + 1, sizeof *self->ranges) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    self->ranges[self->count++] = (readable_range){*range, number};
    return MXP_OK;
}

static int add_ranges(recovered *self, mxp_recovery_loss *lost)
{
    for (size_t number = 0;; number++) {
        mxp_record_range range;
        int found = self->inner->range(self->inner, number, &range);
        if (found == 1) {
            truncate_end(self->inner, &range, lost);
            int error = range.words != range.end ? add_range(self, &range, number) : MXP_OK;
            if (error != MXP_OK) {
                return error;
            }
        } else if (found == MXP_EFORMAT) {
            note_loss(lost, range.unread_bytes);
        } else {
            return found;
        }
    }
}

static int open_process(mxp_source *inner, mxp_source **opened, mxp_recovery_loss *lost)
{
    recovered *self = mxp__alloc(sizeof *self);
    if (self == NULL) {
        return mxp__fail_memory(memory_for);
    }
    self->source = *inner;
    self->source.name = view_name;
    self->source.range = get_range;
    self->source.range_thread = NULL;
    self->source.rename = NULL;
    self->source.close = close_recovered;
    self->inner = inner;
    int error = add_ranges(self, lost);
    if (error != MXP_OK) {
        close_recovered(&self->source);
        return error;
    }
    *opened = &self->source;
    return MXP_OK;
}

static int open_processes(mxp_source *inner, mxp_source **parts, size_t count,
                          mxp_recovery_loss *lost, mxp_source **source)
{
    for (size_t i = 0; i < count; i++) {
        int error = open_process(mxp__source_process(inner, i), &parts[i], lost);
        if (error != MXP_OK) {
            while (i > 0) {
                mxp__source_close(parts[--i]);
            }
            return error;
        }
    }
    return mxp__together_open(parts, count, source);
}

int mxp__recovered_open(mxp_source *inner, mxp_source **source, mxp_recovery_loss *lost)
{
    *source = NULL;
    size_t count = inner->process_count;
    if (count == 0) {
        return open_process(inner, source, lost);
    }
    mxp_source **parts = mxp__alloc(count * sizeof(mxp_source *));
    if (parts == NULL) {
        return mxp__fail_memory(memory_for);
    }
    int error = open_processes(inner, parts, count, lost, source);
    mxp__free(parts, count * sizeof(mxp_source *));
    return error;
}
