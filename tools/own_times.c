// SPDX-License-Identifier: Apache-2.0
// Records of a thread come in the order of their ends, so a span comes after all spans inside it:
// `pending` has the finished spans of a thread that nothing around them has claimed yet, in the
// order of their begins. A new span claims those that began in it.
#include "own_times.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/event.h"

// Beyond this many the older half is forgotten: no span of a real program has so many children that
// matter to its parent's own time.
enum { PENDING_MAX = 1 << 20 };

typedef struct pending_span {
    int64_t begin_ns;
    uint64_t duration_ns;
} pending_span;

typedef struct own_thread {
    pending_span *pending;
    size_t count, capacity;
} own_thread;

typedef struct own_pass {
    mxp_own_times *times;
    mxp_source *source;
    own_thread *threads;
    uint32_t *row_of;  // of each name id: its row's place + 1
} own_pass;

// ---- rows --------------------------------------------------------------------------------------
static uint64_t hash_text(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static size_t put_text(mxp_own_times *times, const char *text, size_t length)
{
    const size_t at = times->texts.length;
    mxp__strbuf_append(&times->texts, text, length);
    mxp__strbuf_putc(&times->texts, '\0');
    return at;
}

const char *mxp__own_times_text(const mxp_own_times *times, size_t at)
{
    return mxp__strbuf_text(&times->texts) + at;
}

// The bucket of the texts, or the empty one where they belong.
static uint32_t *bucket_of(const mxp_own_times *times, uint64_t hash, const char *category,
                           const char *text)
{
    size_t at = (size_t)hash;
    for (;; at++) {
        uint32_t *bucket = &times->buckets[at & (times->bucket_count - 1)];
        const mxp_own_row *row = *bucket == 0 ? NULL : &times->rows[*bucket - 1];
        if (row == NULL || (row->hash == hash &&
                            strcmp(mxp__own_times_text(times, row->category_at), category) == 0 &&
                            strcmp(mxp__own_times_text(times, row->text_at), text) == 0)) {
            return bucket;
        }
    }
}

// Keeps the buckets at most half full.
static int grow_buckets(mxp_own_times *times)
{
    if (2 * (times->row_count + 1) <= times->bucket_count) {
        return MXP_OK;
    }
    const size_t count = times->bucket_count == 0 ? 256 : 2 * times->bucket_count;
    uint32_t *buckets = mxp__alloc(count * sizeof *buckets);
    if (buckets == NULL) {
        return MXP_ENOMEM;
    }
    for (size_t i = 0; i < times->row_count; i++) {
        size_t at = (size_t)times->rows[i].hash;
        while (buckets[at & (count - 1)] != 0) {
            at++;
        }
        buckets[at & (count - 1)] = (uint32_t)i + 1;
    }
    mxp__free(times->buckets, times->bucket_count * sizeof *times->buckets);
    times->buckets = buckets;
    times->bucket_count = count;
    return MXP_OK;
}

// The place of the row + 1 of a name of this process; 0 without memory.
static uint32_t find_row(own_pass *pass, uint32_t name)
{
    mxp_own_times *times = pass->times;
    const mxp_name_view view = pass->source->name(pass->source, name);
    const mxp_name_view category = pass->source->name(pass->source, view.category);
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), category.text, strlen(category.text));
    hash = hash_text(hash, view.text, strlen(view.text));
    if (grow_buckets(times) != MXP_OK) {
        return 0;
    }
    uint32_t *bucket = bucket_of(times, hash, category.text, view.text);
    if (*bucket != 0) {
        return *bucket;
    }
    if (mxp__grow(&times->rows, &times->row_capacity, times->row_count + 1, sizeof *times->rows) !=
        MXP_OK) {
        return 0;
    }
    times->rows[times->row_count] = (mxp_own_row){
        .category_at = put_text(times, category.text, strlen(category.text)),
        .text_at = put_text(times, view.text, strlen(view.text)),
        .hash = hash,
        .overlaps = view.style == MXP_STYLE_ASYNC,
    };
    return *bucket = (uint32_t)++times->row_count;
}

static mxp_own_row *row_of(own_pass *pass, uint32_t name)
{
    uint32_t none = 0;
    uint32_t *place = name < pass->source->name_count ? &pass->row_of[name] : &none;
    if (*place == 0) {
        *place = find_row(pass, name);
    }
    return *place == 0 || pass->times->texts.failed ? NULL : &pass->times->rows[*place - 1];
}

// ---- records -----------------------------------------------------------------------------------
static void forget_older_half(own_thread *thread)
{
    const size_t kept = thread->count / 2;
    memmove(thread->pending, thread->pending + thread->count - kept,
            kept * sizeof *thread->pending);
    thread->count = kept;
}

static int claim_children(own_thread *thread, const mxp_event *event, uint64_t *own_ns)
{
    const uint64_t duration_ns = (uint64_t)(event->end_ns - event->begin_ns);
    uint64_t inside_ns = 0;
    while (thread->count > 0 && thread->pending[thread->count - 1].begin_ns >= event->begin_ns) {
        inside_ns += thread->pending[--thread->count].duration_ns;
    }
    *own_ns = inside_ns < duration_ns ? duration_ns - inside_ns : 0;
    if (thread->count >= PENDING_MAX) {
        forget_older_half(thread);
    }
    if (mxp__grow(&thread->pending, &thread->capacity, thread->count + 1,
                  sizeof *thread->pending) != MXP_OK) {
        return MXP_ENOMEM;
    }
    thread->pending[thread->count++] = (pending_span){event->begin_ns, duration_ns};
    return MXP_OK;
}

static int add_event(own_pass *pass, const mxp_event *event)
{
    if ((event->kind != MXP_KIND_SPAN && event->kind != MXP_KIND_OPERATOR) ||
        mxp__event_clock(event) != MXP_CLOCK_TRACE) {
        return MXP_OK;
    }
    mxp_own_row *row = row_of(pass, event->name);
    if (row == NULL) {
        return MXP_ENOMEM;
    }
    // The time of a span on a lane is another thread's or a device's: nothing here is inside it.
    uint64_t own_ns = (uint64_t)(event->end_ns - event->begin_ns);
    int error = MXP_OK;
    if (!row->overlaps && event->lane == 0) {
        error = claim_children(&pass->threads[event->thread], event, &own_ns);
    }
    row->count++;
    row->own_ns += own_ns;
    pass->times->spans++;
    return error;
}

static int add_range(own_pass *pass, const mxp_record_range *range)
{
    mxp_decoder decoder;
    mxp_event event;
    int error = MXP_OK;
    if (range->thread >= pass->source->thread_count) {
        return MXP_OK;
    }
    mxp__decoder_begin(&decoder, pass->source->timebase, range);
    while (error == MXP_OK && mxp__decoder_next(&decoder, &event) == 1) {
        error = add_event(pass, &event);
    }
    return error;
}

static int add_ranges(own_pass *pass)
{
    mxp_record_range range;
    int error = MXP_OK;
    for (size_t number = 0; error == MXP_OK; number++) {
        const int found = pass->source->range(pass->source, number, &range);
        if (found != 1 && found != MXP_EFORMAT) {
            return found == MXP_ENOMEM ? MXP_ENOMEM : MXP_OK;
        }
        error = found == 1 ? add_range(pass, &range) : MXP_OK;
    }
    return error;
}

int mxp__own_times_add(mxp_own_times *times, mxp_source *process)
{
    const size_t thread_bytes = process->thread_count * sizeof(own_thread);
    const size_t row_bytes = ((size_t)process->name_count + 1) * sizeof(uint32_t);
    own_pass pass = {.times = times, .source = process};
    pass.threads = mxp__alloc(thread_bytes);
    pass.row_of = mxp__alloc(row_bytes);
    int error =
        pass.row_of == NULL || (pass.threads == NULL && thread_bytes > 0) ? MXP_ENOMEM : MXP_OK;
    if (error == MXP_OK) {
        error = add_ranges(&pass);
    }
    for (uint32_t i = 0; pass.threads != NULL && i < process->thread_count; i++) {
        mxp__free(pass.threads[i].pending, pass.threads[i].capacity * sizeof(pending_span));
    }
    mxp__free(pass.threads, thread_bytes);
    mxp__free(pass.row_of, row_bytes);
    return error == MXP_OK ? MXP_OK : mxp__fail_memory("the summary");
}

// ---- order -------------------------------------------------------------------------------------
static int compare_rows(const void *left, const void *right)
{
    const mxp_own_row *a = left, *b = right;
    if (a->overlaps != b->overlaps) {
        return a->overlaps ? 1 : -1;
    }
    return a->own_ns != b->own_ns ? (a->own_ns < b->own_ns ? 1 : -1) : 0;
}

static int compare_categories(const void *left, const void *right)
{
    const mxp_own_category *a = left, *b = right;
    return a->count != b->count ? (a->count < b->count ? 1 : -1) : 0;
}

static int count_category(mxp_own_times *times, const mxp_own_row *row)
{
    const char *text = mxp__own_times_text(times, row->category_at);
    for (size_t i = 0; i < times->category_count; i++) {
        mxp_own_category *category = &times->categories[i];
        if (strcmp(mxp__own_times_text(times, category->text_at), text) == 0) {
            category->count += row->count;
            return MXP_OK;
        }
    }
    int error = mxp__grow(&times->categories, &times->category_capacity, times->category_count + 1,
                          sizeof *times->categories);
    if (error == MXP_OK) {
        times->categories[times->category_count++] =
            (mxp_own_category){.text_at = row->category_at, .count = row->count};
    }
    return error;
}

int mxp__own_times_rank(mxp_own_times *times)
{
    int error = MXP_OK;
    for (size_t i = 0; i < times->row_count && error == MXP_OK; i++) {
        error = count_category(times, &times->rows[i]);
    }
    if (times->row_count > 0 && error == MXP_OK) {
        qsort(times->rows, times->row_count, sizeof *times->rows, compare_rows);
        qsort(times->categories, times->category_count, sizeof *times->categories,
              compare_categories);
    }
    return error == MXP_OK ? MXP_OK : mxp__fail_memory("the summary");
}

void mxp__own_times_fini(mxp_own_times *times)
{
    mxp__free(times->rows, times->row_capacity * sizeof *times->rows);
    mxp__free(times->categories, times->category_capacity * sizeof *times->categories);
    mxp__free(times->buckets, times->bucket_count * sizeof *times->buckets);
    mxp__strbuf_fini(&times->texts);
    *times = (mxp_own_times){0};
}
