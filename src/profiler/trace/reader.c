// SPDX-License-Identifier: Apache-2.0
// The k-way merge: one cursor a thread that has records, each with its next event decoded, in a
// binary heap by the time of that event. Memory is a cursor a thread and 4 bytes a range; records
// stay where the source keeps them. What is damaged ends one range and not the reading: the rest of
// the trace is given out, then the error.
#include "profiler/trace/reader.h"

#include <assert.h>
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"

typedef struct reader_cursor {
    mxp_decoder decoder;
    mxp_event event;  // its next
    uint32_t next, end;  // its remaining ranges, in reader.ranges
} reader_cursor;

typedef struct heap_entry {
    uint64_t key;  // ticks of the cursor's next event
    uint32_t cursor;  // ascending as their threads: who goes first if the ticks are the same
} heap_entry;

struct mxp_reader {
    mxp_source *source;
#ifndef NDEBUG
    mxp_atomic_bool in_use;  // a thread is inside mxp__reader_next
#endif
    reader_cursor *cursors;  // of the threads that have ranges, by thread
    uint32_t cursor_count;
    uint32_t *ranges;  // numbers of ranges, thread by thread, each in its order
    size_t range_count;
    heap_entry *heap;
    uint32_t heap_count;
    bool advance;  // the top of the heap was given out
    int error;  // the first
    char error_text[256];
};

static void keep_error(mxp_reader *reader, int error)
{
    if (reader->error == MXP_OK) {
        reader->error = error;
        size_t length = strnlen(mxp_last_error(), sizeof reader->error_text - 1);
        memcpy(reader->error_text, mxp_last_error(), length);
        reader->error_text[length] = 0;
    }
}

// ---- index of ranges ---------------------------------------------------------------------------
typedef struct range_threads {
    uint32_t *thread;  // of each range
    size_t capacity;
    uint32_t *cursor;  // of each thread; while counting, its number of ranges
} range_threads;

static int thread_of_range(mxp_source *source, size_t number, uint32_t *thread)
{
    if (source->range_thread != NULL) {
        return source->range_thread(source, number, thread);
    }
    mxp_record_range range;
    int found = source->range(source, number, &range);
    if (found == 1 || found == MXP_EFORMAT) {
        *thread = range.thread;  // what cannot be read is met again in its turn
        return 1;
    }
    return found;
}

// Notes the thread of each range, and how many ranges each thread has.
static int collect_threads(mxp_reader *reader, range_threads *threads)
{
    for (;;) {
        uint32_t thread = 0;
        int found = thread_of_range(reader->source, reader->range_count, &thread);
        if (found < 0) {
            keep_error(reader, found);
        }
        if (found != 1) {
            return MXP_OK;
        }
        if (thread >= reader->source->thread_count) {
            return mxp__fail(MXP_EFORMAT, "range %zu is of thread %u, but the trace has %u threads",
                             reader->range_count, thread, reader->source->thread_count);
        }
        if (mxp__grow(&threads->thread, &threads->capacity, reader->range_count + 1,
                      sizeof *threads->thread) != MXP_OK) {
            return mxp__fail_memory("the index of a trace's records");
        }
        threads->thread[reader->range_count++] = thread;
        reader->cursor_count += threads->cursor[thread]++ == 0;
    }
}

static int make_cursors(mxp_reader *reader)
{
    reader->cursors = mxp__alloc(reader->cursor_count * sizeof *reader->cursors);
    reader->heap = mxp__alloc(reader->cursor_count * sizeof *reader->heap);
    reader->ranges = mxp__alloc(reader->range_count * sizeof *reader->ranges);
    if (reader->cursors == NULL || reader->heap == NULL || reader->ranges == NULL) {
        return mxp__fail_memory("a trace reader's cursors");
    }
    return MXP_OK;
}

// Counting sort: keeps the order of each thread's ranges.
static void sort_ranges(mxp_reader *reader, const range_threads *threads)
{
    uint32_t first = 0, made = 0;
    for (uint32_t i = 0; i < reader->source->thread_count; i++) {
        uint32_t count = threads->cursor[i];
        if (count > 0) {
            threads->cursor[i] = made;
            reader->cursors[made].next = reader->cursors[made].end = first;
            first += count;
            made++;
        }
    }
    for (size_t i = 0; i < reader->range_count; i++) {
        reader_cursor *cursor = &reader->cursors[threads->cursor[threads->thread[i]]];
        reader->ranges[cursor->end++] = (uint32_t)i;
    }
}

static int index_ranges(mxp_reader *reader)
{
    size_t thread_count = reader->source->thread_count;
    range_threads threads = {.cursor = mxp__alloc(thread_count * sizeof *threads.cursor)};
    if (threads.cursor == NULL && thread_count > 0) {
        return mxp__fail_memory("the index of a trace's records");
    }
    int error = collect_threads(reader, &threads);
    if (error == MXP_OK && reader->range_count > 0) {
        error = make_cursors(reader);
        if (error == MXP_OK) {
            sort_ranges(reader, &threads);
        }
    }
    mxp__free(threads.thread, threads.capacity * sizeof *threads.thread);
    mxp__free(threads.cursor, thread_count * sizeof *threads.cursor);
    return error;
}

// ---- merge -------------------------------------------------------------------------------------
static bool open_next_range(mxp_reader *reader, reader_cursor *cursor)
{
    while (cursor->next < cursor->end) {
        mxp_record_range range;
        int found = reader->source->range(reader->source, reader->ranges[cursor->next++], &range);
        if (found == 1) {
            assert((range.end - range.words) % 2 == 0 && "a range ends inside a record");
            assert(range.thread < reader->source->thread_count);
            mxp__decoder_begin(&cursor->decoder, reader->source->timebase, &range);
            return true;
        }
        if (found < 0) {
            keep_error(reader, found);
        }
    }
    return false;
}

// Decodes the cursor's next event. False at its end.
static bool advance_cursor(mxp_reader *reader, reader_cursor *cursor)
{
    for (;;) {
        int found = mxp__decoder_next(&cursor->decoder, &cursor->event);
        if (__builtin_expect(found == 1, 1)) {
            return true;
        }
        if (found < 0) {
            keep_error(reader, found);
        }
        if (!open_next_range(reader, cursor)) {
            return false;
        }
    }
}

// A span of a lane's own clock says nothing about when it was: it follows its predecessor.
static uint64_t key_of(const mxp_event *event, uint64_t previous)
{
    return mxp__event_clock(event) == MXP_CLOCK_TRACE ? event->end_ticks : previous;
}

static bool is_before(const heap_entry *a, const heap_entry *b)
{
    return a->key != b->key ? a->key < b->key : a->cursor < b->cursor;
}

static void sift_down(mxp_reader *reader, uint32_t at)
{
    heap_entry *heap = reader->heap;
    heap_entry moving = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= reader->heap_count) {
            break;
        }
        if (child + 1 < reader->heap_count && is_before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!is_before(&heap[child], &moving)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

static void build_heap(mxp_reader *reader)
{
    for (uint32_t i = 0; i < reader->cursor_count; i++) {
        reader_cursor *cursor = &reader->cursors[i];
        if (open_next_range(reader, cursor) && advance_cursor(reader, cursor)) {
            reader->heap[reader->heap_count++] = (heap_entry){key_of(&cursor->event, 0), i};
        }
    }
    for (uint32_t i = reader->heap_count / 2; i-- > 0;) {
        sift_down(reader, i);
    }
}

static void advance_top(mxp_reader *reader)
{
    heap_entry *top = &reader->heap[0];
    reader_cursor *cursor = &reader->cursors[top->cursor];
    if (advance_cursor(reader, cursor)) {
        top->key = key_of(&cursor->event, top->key);
    } else {
        *top = reader->heap[--reader->heap_count];
    }
    if (reader->heap_count > 1) {
        sift_down(reader, 0);
    }
}

// ---- the reader --------------------------------------------------------------------------------
int mxp__reader_open(mxp_source *source, mxp_reader **opened)
{
    *opened = NULL;
    mxp_reader *reader = mxp__alloc(sizeof *reader);
    if (reader == NULL) {
        return mxp__fail_memory("a trace reader");
    }
    reader->source = source;
    int error = index_ranges(reader);
    if (error != MXP_OK) {
        mxp__reader_close(reader);
        return error;
    }
    build_heap(reader);
    *opened = reader;
    return MXP_OK;
}

int mxp__reader_next(mxp_reader *reader, mxp_event *event)
{
    assert(!mxp_atomic_exchange(&reader->in_use, true) && "two threads use one reader");
    if (__builtin_expect(reader->advance, 1)) {
        advance_top(reader);
        reader->advance = false;
    }
    assert(mxp_atomic_exchange(&reader->in_use, false));
    if (__builtin_expect(reader->heap_count == 0, 0)) {
        if (reader->error != MXP_OK) {
            return mxp__fail(reader->error, "%s", reader->error_text);
        }
        return 0;
    }
    *event = reader->cursors[reader->heap[0].cursor].event;
    reader->advance = true;
    return 1;
}

void mxp__reader_close(mxp_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    mxp__free(reader->heap, reader->cursor_count * sizeof *reader->heap);
    mxp__free(reader->ranges, reader->range_count * sizeof *reader->ranges);
    mxp__free(reader->cursors, reader->cursor_count * sizeof *reader->cursors);
    mxp__free(reader, sizeof *reader);
}
