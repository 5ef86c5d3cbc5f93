// SPDX-License-Identifier: Apache-2.0
// See file_open.h. Nothing in the file is trusted. A cursor is used only if it points into a chunk
// of its own thread, an open span only if its begin is near the last known time.
#include "profiler/trace/file/file_open.h"

#include <inttypes.h>
#include <mxprof/record_inline.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/file_state.h"
#include "profiler/trace/file/open_async.h"
#include "profiler/trace/file/open_span.h"

// The part of a RECORDER section after its head.
typedef struct recorder_state {
    mxp_recorder hot;
    uint64_t lost;
    uint32_t name, index;
    mxp_open_arguments open_args;  // only where the section says that it has them
} recorder_state;

// False: the section describes no thread, or is too short for one.
static bool read_recorder(const mxp_file_index *index, uint64_t offset, mxp_recorder_section *head,
                          recorder_state *state)
{
    const mxp_section *section = mxp__file_section(index, offset);
    bool has_args = (section->flags & MXP_SECTION_HAS_OPEN_ARGS) != 0;
    size_t bytes = has_args ? sizeof *state : offsetof(recorder_state, open_args);
    if (section->length_bytes < sizeof *head + bytes) {
        return false;
    }
    memcpy(head, section, sizeof *head);
    memcpy(state, (const char *)section + sizeof *head, bytes);
    state->open_args.used_words = has_args ? state->open_args.used_words : 0;
    return mxp_atomic_own(&state->hot.cursor) != NULL;
}

// ---- chunks ------------------------------------------------------------------------------------
static uint64_t cursor_offset(const mxp_recorder_section *head, uint64_t offset,
                              const recorder_state *state)
{
    uint64_t cursor = (uintptr_t)mxp_atomic_own(&state->hot.cursor);
    bool in_block = cursor - head->block <= MXP_BLOCK_BYTES;  // equal when the block is full
    return in_block ? offset + (cursor - head->block) : cursor - head->base;
}

static mxp_file_chunk *chunk_at(mxp_file_index *index, uint64_t offset)
{
    size_t low = 0, high = index->chunk_count;
    while (low < high) {  // finds the last chunk that begins before `offset`
        size_t middle = low + (high - low) / 2;
        if (index->chunks[middle].offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? &index->chunks[low - 1] : NULL;
}

// Extends the chunk that a thread was writing to its cursor. Chunks are sorted by offset here.
static void extend_chunk(mxp_file_index *index, const mxp_recorder_section *head, uint64_t cursor)
{
    mxp_file_chunk *chunk = chunk_at(index, cursor);
    if (chunk == NULL || chunk->thread != head->thread) {
        return;
    }
    const mxp_section *section = mxp__file_section(index, chunk->offset);
    uint64_t begin = chunk->offset + sizeof(mxp_chunk_header);
    if (cursor < begin || cursor > chunk->offset + section->length_bytes ||
        (cursor - begin) % MXP_RECORD_UNIT != 0 || cursor - begin <= chunk->payload_bytes) {
        return;
    }
    index->record_bytes += cursor - begin - chunk->payload_bytes;
    chunk->payload_bytes = cursor - begin;
}

static int compare(const void *a, const void *b)
{
    const mxp_file_chunk *x = a, *y = b;
    if (x->base_ticks != y->base_ticks) {
        return x->base_ticks < y->base_ticks ? -1 : 1;
    }
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

// Sorts chunks by time. Records made before the file began are copied into it, and these copies may
// come after chunks that were recorded since.
static void sort_chunks(mxp_file_index *index)
{
    if (index->chunk_count > 1) {
        qsort(index->chunks, index->chunk_count, sizeof *index->chunks, compare);
    }
}

// ---- the last known time -----------------------------------------------------------------------
static uint64_t last_ticks_of(const mxp_file_index *index, const mxp_file_tables *tables,
                              const mxp_file_chunk *chunk)
{
    const uint64_t *words =
        (const void *)(index->bytes.data + chunk->offset + sizeof(mxp_chunk_header));
    mxp_record_range range = {.words = words,
                              .end = words + chunk->payload_bytes / sizeof *words,
                              .base_ticks = chunk->base_ticks,
                              .thread = chunk->thread};
    mxp_decoder decoder;
    mxp__decoder_begin(&decoder, &tables->timebase, &range);
    mxp_event event;
    uint64_t last = chunk->base_ticks;
    while (mxp__decoder_next(&decoder, &event) == 1) {
        bool ours = event.kind != MXP_KIND_SPAN || mxp__event_clock(&event) == MXP_CLOCK_TRACE;
        last = ours && event.end_ticks > last ? event.end_ticks : last;
    }
    return last;
}

// ---- threads -----------------------------------------------------------------------------------
// Threads that had the same index one after the other share an entry. It describes the last of them
// and counts the losses of all.
static int add_thread(mxp_file_tables *tables, const mxp_recorder_section *head,
                      const recorder_state *state)
{
    int error = mxp__file_tables_threads(tables, (size_t)head->thread + 1);
    if (error != MXP_OK) {
        return error;
    }
    mxp_thread_entry *entry = &tables->threads[head->thread];
    entry->lost += state->lost + mxp_atomic_own(&state->hot.lost_busy);
    entry->flags = entry->start_ticks != 0 ? MXP_THREAD_SEVERAL : 0;
    if (head->start_ticks >= entry->start_ticks) {
        entry->tid = head->tid;
        entry->start_ticks = head->start_ticks;
        entry->name = state->name;
    }
    return MXP_OK;
}

static int add_loss(mxp_file_tables *tables, uint32_t thread, uint32_t reason, uint64_t count,
                    uint64_t from_ticks, uint64_t to_ticks)
{
    if (count == 0) {
        return MXP_OK;
    }
    if (mxp__grow(&tables->own_losses, &tables->own_loss_capacity, tables->loss_count + 1,
                  sizeof *tables->own_losses) != MXP_OK) {
        return mxp__fail_memory("the losses of a native trace");
    }
    tables->own_losses[tables->loss_count++] =
        (mxp_loss_entry){thread, reason, count, from_ticks, to_ticks};
    tables->losses = tables->own_losses;
    return MXP_OK;
}

// ---- open spans --------------------------------------------------------------------------------
static bool is_there(const mxp_open_span *span, uint64_t last)
{
    return mxp_atomic_own(&span->begin) != 0 &&
           (last >= mxp_atomic_own(&span->begin) ? last - mxp_atomic_own(&span->begin)
                                                 : mxp_atomic_own(&span->begin) - last) >>
                   (MXP_STAMP_BITS - 1) ==
               0;
}

// What a stop has closed is among the records.
static bool is_open(const mxp_open_span *span, uint64_t last)
{
    uint64_t begin = mxp_atomic_own(&span->begin);
    return is_there(span, last) && mxp_atomic_own(&span->closed) != ((uint32_t)begin | 1u);
}

// The open spans that the stack keeps, their words in all.
static uint64_t words_of_open(const recorder_state *state, uint64_t last)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < mxp_atomic_own(&state->hot.depth) && i < MXP_OPEN_MAX; i++) {
        const mxp_open_span *span = &state->hot.open[i];
        words += is_open(span, last) ? mxp__open_span_words(span, &state->open_args) : 0;
    }
    return words;
}

// Of the losses of a thread, those of one reason that its page counts.
static uint64_t lost_for(const recorder_state *state, uint32_t reason)
{
    uint64_t packed = mxp_atomic_own(&state->hot.reserved[2]);
    return packed >> (reason - MXP_LOSS_MISUSE) * MXP_REASON_BITS & ((1u << MXP_REASON_BITS) - 1);
}

// Those deeper than the stack keeps have no name, and are counted; not where a stop has counted
// such: they may be the same ones.
static int add_deeper(mxp_file_tables *tables, const mxp_recorder_section *head,
                      const recorder_state *state, uint64_t last)
{
    const mxp_open_span *kept = &state->hot.open[MXP_OPEN_MAX - 1];
    uint32_t depth = mxp_atomic_own(&state->hot.depth);
    bool counts =
        depth > MXP_OPEN_MAX && is_there(kept, last) && lost_for(state, MXP_LOSS_DEEPER) == 0;
    return counts ? add_loss(tables, head->thread, MXP_LOSS_DEEPER, depth - MXP_OPEN_MAX,
                             mxp_atomic_own(&kept->begin), last)
                  : MXP_OK;
}

// Adds a thread's open spans as a range after all others. The innermost span comes first, because
// spans are in the order of their ends.
static int add_open_spans(mxp_file_tables *tables, const mxp_recorder_section *head,
                          const recorder_state *state, uint64_t last)
{
    uint64_t count = words_of_open(state, last);
    if (count == 0) {
        return MXP_OK;
    }
    uint64_t *at = mxp__file_tables_add_open(tables, count, head->thread, last);
    if (at == NULL) {
        return mxp__fail_memory("the open spans of a native trace");
    }
    uint32_t depth = mxp_atomic_own(&state->hot.depth) < MXP_OPEN_MAX
                         ? mxp_atomic_own(&state->hot.depth)
                         : MXP_OPEN_MAX;
    for (uint32_t i = depth; i-- > 0;) {
        const mxp_open_span *span = &state->hot.open[i];
        if (is_open(span, last)) {
            mxp__open_span_write(at, span, &state->open_args, last);
            at += mxp__open_span_words(span, &state->open_args);
        }
    }
    return MXP_OK;
}

// ---- all ---------------------------------------------------------------------------------------
// Whether the value of this key was true only when the file was begun.
static bool is_outdated(const char *key)
{
    static const char *const keys[] = {
        "records",       "bytes",       "lost",         "names",
        "threads",       "names_bytes", "memory_bytes", "estimated_overhead_ns",
        "folded_threads"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(keys[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static int add_pair(mxp_file_tables *tables, const char *key, const char *value)
{
    if (mxp__grow(&tables->info, &tables->info_capacity, tables->info_count + 1,
                  sizeof *tables->info) != MXP_OK) {
        return mxp__fail_memory("the info of a native trace");
    }
    tables->info[tables->info_count++] = (mxp_info_pair){key, value};
    return MXP_OK;
}

// Of a ring: how many records newer ones have overwritten. Each thread stored the total it knew
// when it overwrote a chunk, so the largest is the newest.
static int add_overwritten(mxp_file_tables *tables, const mxp_file_index *index)
{
    uint64_t records = 0;
    for (size_t i = 0; i < index->lists[MXP_SECTION_RECORDER].count; i++) {
        mxp_recorder_section head;
        recorder_state state;
        if (read_recorder(index, index->lists[MXP_SECTION_RECORDER].at[i], &head, &state)) {
            records = mxp_atomic_own(&state.hot.reserved[1]) > records
                          ? mxp_atomic_own(&state.hot.reserved[1])
                          : records;
        }
    }
    if (records == 0) {
        return MXP_OK;
    }
    snprintf(tables->overwritten_records, sizeof tables->overwritten_records, "%" PRIu64, records);
    return add_pair(tables, "overwritten_records", tables->overwritten_records);
}

static int note_unfinished(const mxp_file_index *index, mxp_file_tables *tables)
{
    const mxp_file_bytes *bytes = &index->bytes;
    size_t kept = 0;
    for (size_t i = 0; i < tables->info_count; i++) {
        if (!is_outdated(tables->info[i].key)) {
            tables->info[kept++] = tables->info[i];
        }
    }
    tables->info_count = kept;
    int error =
        add_pair(tables, "unfinished", mxp__file_state_text(mxp__file_state(index, tables)));
    if (error == MXP_OK) {
        error = add_overwritten(tables, index);
    }
    if (error == MXP_OK && bytes->overwritten_chunks > 0) {
        snprintf(tables->overwritten, sizeof tables->overwritten,
                 "%" PRIu64 " bytes of records in %" PRIu64 " chunks", bytes->overwritten_bytes,
                 bytes->overwritten_chunks);
        error = add_pair(tables, "overwritten_while_reading", tables->overwritten);
    }
    return error;
}

// The newest begin of the thread's open spans, which may be later than the last record.
// `last`: a time near to theirs, by which they are known to be there; given back if none is later.
static uint64_t last_begin_of(const recorder_state *state, uint64_t last)
{
    for (uint32_t i = 0; i < mxp_atomic_own(&state->hot.depth) && i < MXP_OPEN_MAX; i++) {
        const mxp_open_span *span = &state->hot.open[i];
        uint64_t begin = mxp_atomic_own(&span->begin);
        last = is_open(span, last) && begin > last ? begin : last;
    }
    return last;
}

static uint64_t find_last_time(mxp_file_index *index, const mxp_file_tables *tables)
{
    uint64_t last = 0;
    for (size_t i = 0; i < index->lists[MXP_SECTION_RECORDER].count; i++) {
        mxp_recorder_section head;
        recorder_state state;
        if (read_recorder(index, index->lists[MXP_SECTION_RECORDER].at[i], &head, &state)) {
            uint64_t cursor =
                cursor_offset(&head, index->lists[MXP_SECTION_RECORDER].at[i], &state);
            extend_chunk(index, &head, cursor);
            const mxp_file_chunk *chunk = chunk_at(index, cursor);
            uint64_t ticks = chunk != NULL ? last_ticks_of(index, tables, chunk) : 0;
            last = ticks > last ? ticks : last;
            ticks = last > head.start_ticks ? last : head.start_ticks;
            uint64_t begin = last_begin_of(&state, ticks);
            last = begin > ticks ? begin : last;
        }
    }
    return last;
}

// The losses of a thread by reason. Those counted under no other reason had no memory, or its file
// was as long as the process's limit allows.
static int add_counted_losses(mxp_file_tables *tables, const mxp_recorder_section *head,
                              const recorder_state *state, uint64_t last)
{
    uint64_t rest = state->lost;
    int error = MXP_OK;
    for (uint32_t reason = MXP_LOSS_MISUSE; reason <= MXP_LOSS_NO_NUMBER && error == MXP_OK;
         reason++) {
        uint64_t count = lost_for(state, reason);
        count = count < rest ? count : rest;
        rest -= count;
        error = add_loss(tables, head->thread, reason, count, head->start_ticks, last);
    }
    const uint32_t of_rest = (mxp_atomic_own(&state->hot.reserved[2]) & MXP_REASON_FILE_LIMIT) != 0
                                 ? MXP_LOSS_FILE_LIMIT
                                 : MXP_LOSS_MEMORY_FULL;
    return error == MXP_OK ? add_loss(tables, head->thread, of_rest, rest, head->start_ticks, last)
                           : error;
}

static int add_recorder(mxp_file_tables *tables, const mxp_file_index *index, size_t number,
                        uint64_t last)
{
    mxp_recorder_section head = {.thread = 0};
    recorder_state state = {.lost = 0};
    bool is_thread =
        read_recorder(index, index->lists[MXP_SECTION_RECORDER].at[number], &head, &state);
    if (!is_thread && head.thread == MXP_RECORDER_NO_HOME) {
        return add_loss(tables, UINT32_MAX, MXP_LOSS_THREAD, state.lost, head.start_ticks, last);
    }
    if (!is_thread || head.thread >= index->lists[MXP_SECTION_RECORDER].count +
                                         tables->thread_count + MXP_CHUNK_BYTES) {
        return MXP_OK;
    }
    int error = add_thread(tables, &head, &state);
    if (error == MXP_OK) {
        error = add_counted_losses(tables, &head, &state, last);
    }
    if (error == MXP_OK) {
        error = add_loss(tables, head.thread, MXP_LOSS_IN_SIGNAL,
                         mxp_atomic_own(&state.hot.lost_busy), head.start_ticks, last);
    }
    bool has_clock = tables->timebase.segment_count > 0;  // otherwise begins have no time
    if (error == MXP_OK && has_clock) {
        error = add_deeper(tables, &head, &state, last);
    }
    return error == MXP_OK && has_clock ? add_open_spans(tables, &head, &state, last) : error;
}

int mxp__file_open_complete(mxp_file_index *index, mxp_file_tables *tables)
{
    if (!index->open || index->begin != 0) {  // cursors are relative to the file's first byte
        if (index->mapped) {
            sort_chunks(index);
        }
        return MXP_OK;
    }
    uint64_t last = find_last_time(index, tables);
    int error = MXP_OK;
    sort_chunks(index);
    tables->loss_count = 0;  // the RECORDER sections have them
    for (size_t i = 0; i < index->lists[MXP_SECTION_RECORDER].count && error == MXP_OK; i++) {
        error = add_recorder(tables, index, i, last);
    }
    if (error == MXP_OK && tables->timebase.segment_count > 0) {
        error = mxp__open_async_add(tables, index, last);
    }
    return error == MXP_OK ? note_unfinished(index, tables) : error;
}
