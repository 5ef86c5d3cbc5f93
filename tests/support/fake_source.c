// SPDX-License-Identifier: Apache-2.0
// The hand-made source. It allocates with malloc and not through base/alloc.h, so that tests of
// lacking memory hit the code under test only.
#include "fake_source.h"

#include <stdlib.h>
#include <string.h>

enum { FAKE_BLOCK_WORDS = (MXP_CHUNK_BYTES - 64) / 8 };

typedef struct fake_entry {
    mxp_name_view view;
    char *text;
} fake_entry;

typedef struct fake_run {
    mxp_record_range range;  // words and end are set when it is handed out
    uint64_t *words;
    size_t count, capacity;
} fake_run;

typedef struct fake_writer {
    size_t run;  // index of its current one
    uint32_t sequence;  // of the next
    int open;
} fake_writer;

// A growing array of `size` byte elements.
typedef struct fake_array {
    void *data;
    size_t count, capacity, size;
} fake_array;

typedef struct fake_source {
    mxp_source base;
    mxp_timebase timebase;
    mxp_clock_point point;
    fake_array segments;
    fake_array names, threads, writers, runs, losses, info, stats;
} fake_source;

static void *array_add(fake_array *array)
{
    if (array->count == array->capacity) {
        array->capacity = array->capacity == 0 ? 8 : 2 * array->capacity;
        array->data = realloc(array->data, array->capacity * array->size);
        if (array->data == NULL) {
            abort();
        }
    }
    void *element = (char *)array->data + array->count++ * array->size;
    memset(element, 0, array->size);
    return element;
}

static void *array_at(const fake_array *array, size_t i)
{
    if (i >= array->count) {
        abort();
    }
    return (char *)array->data + i * array->size;
}

static char *copy_bytes(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

// ---- the source's own functions ----------------------------------------------------------------
static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    const fake_source *fake = (const fake_source *)source;
    if (id >= fake->names.count) {
        return (mxp_name_view){.text = "<bad name>", .length = 10};
    }
    return ((const fake_entry *)array_at(&fake->names, id))->view;
}

static int get_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    const fake_source *fake = (const fake_source *)source;
    if (number >= fake->runs.count) {
        return 0;
    }
    const fake_run *run = array_at(&fake->runs, number);
    *range = run->range;
    range->words = run->words;
    range->end = run->words + run->count;
    return 1;
}

static void close_fake(mxp_source *source)
{
    fake_source *fake = (fake_source *)source;
    for (size_t i = 0; i < fake->names.count; i++) {
        free(((fake_entry *)array_at(&fake->names, i))->text);
    }
    for (size_t i = 0; i < fake->runs.count; i++) {
        free(((fake_run *)array_at(&fake->runs, i))->words);
    }
    for (size_t i = 0; i < fake->info.count; i++) {
        mxp_info_pair *pair = array_at(&fake->info, i);
        free((void *)(uintptr_t)pair->key);
        free((void *)(uintptr_t)pair->value);
    }
    for (size_t i = 0; i < fake->stats.count; i++) {
        free((void *)(uintptr_t)((mxp_stats_view *)array_at(&fake->stats, i))->histogram);
    }
    fake_array *arrays[] = {&fake->segments, &fake->names,  &fake->threads, &fake->writers,
                            &fake->runs,     &fake->losses, &fake->info,    &fake->stats};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]->data);
    }
    free(fake);
}

mxp_source *fake_source_create(void)
{
    fake_source *fake = calloc(1, sizeof *fake);
    if (fake == NULL) {
        abort();
    }
    fake->point = (mxp_clock_point){.realtime_ns = UINT64_C(1700000000000000000)};
    fake->timebase = (mxp_timebase){.source = MXP_CLOCK_SOURCE_MONOTONIC,
                                    .points = &fake->point,
                                    .point_count = 1,
                                    .segment_count = 1};
    fake->segments.size = sizeof(mxp_clock_segment);
    *(mxp_clock_segment *)array_add(&fake->segments) =
        (mxp_clock_segment){.mult = UINT64_C(1) << 32};
    fake->timebase.segments = fake->segments.data;
    fake->names.size = sizeof(fake_entry);
    fake->threads.size = sizeof(mxp_thread_entry);
    fake->writers.size = sizeof(fake_writer);
    fake->runs.size = sizeof(fake_run);
    fake->losses.size = sizeof(mxp_loss_entry);
    fake->info.size = sizeof(mxp_info_pair);
    fake->stats.size = sizeof(mxp_stats_view);
    fake->base = (mxp_source){.pid = 4711,
                              .timebase = &fake->timebase,
                              .name = view_name,
                              .range = get_range,
                              .close = close_fake};
    fake_name_bytes(&fake->base, 0, "", 0, MXP_STYLE_NONE, MXP_UNIT_NONE);
    fake_name_bytes(&fake->base, 0, "<names full>", 12, MXP_STYLE_NONE, MXP_UNIT_NONE);
    return &fake->base;
}

void fake_segment(mxp_source *source, uint64_t ticks0, uint64_t mult)
{
    fake_source *fake = (fake_source *)source;
    int64_t ns0 = mxp__timebase_ns(&fake->timebase, ticks0);
    mxp_clock_segment *segment = array_add(&fake->segments);
    *segment = (mxp_clock_segment){.ticks0 = ticks0, .ns0 = ns0, .mult = mult};
    fake->timebase.segments = fake->segments.data;
    fake->timebase.segment_count = fake->segments.count;
}

// ---- names and threads -------------------------------------------------------------------------
uint32_t fake_name_bytes(mxp_source *source, uint32_t category, const char *text, size_t length,
                         int style, int unit)
{
    fake_source *fake = (fake_source *)source;
    fake_entry *entry = array_add(&fake->names);
    entry->text = copy_bytes(text, length);
    entry->view = (mxp_name_view){.text = entry->text,
                                  .length = (uint32_t)length,
                                  .category = category,
                                  .style = (uint8_t)style,
                                  .unit = (uint8_t)unit};
    return source->name_count++;
}

static uint32_t find_or_add(mxp_source *source, uint32_t category, const char *text, int style,
                            int unit)
{
    for (uint32_t id = 0; id < source->name_count; id++) {
        mxp_name_view view = view_name(source, id);
        if (view.category == category && view.length == strlen(text) &&
            memcmp(view.text, text, view.length) == 0 &&
            (view.style == MXP_STYLE_SCOPE) == (style == MXP_STYLE_SCOPE)) {
            return id;
        }
    }
    return fake_name_bytes(source, category, text, strlen(text), style, unit);
}

uint32_t fake_string(mxp_source *source, const char *text)
{
    return find_or_add(source, 0, text, MXP_STYLE_NONE, MXP_UNIT_NONE);
}

uint32_t fake_name(mxp_source *source, const char *category, const char *text, int style, int unit)
{
    return find_or_add(source, fake_string(source, category), text, style, unit);
}

uint32_t fake_span_name(mxp_source *source, const char *category, const char *text)
{
    return fake_name(source, category, text, MXP_STYLE_SPAN, MXP_UNIT_NONE);
}

uint32_t fake_scope(mxp_source *source, uint32_t parent, const char *text)
{
    return find_or_add(source, parent, text, MXP_STYLE_SCOPE, MXP_UNIT_NONE);
}

uint32_t fake_thread(mxp_source *source, const char *name)
{
    fake_source *fake = (fake_source *)source;
    uint32_t index = source->thread_count++;
    mxp_thread_entry *entry = array_add(&fake->threads);
    entry->index = index;
    entry->tid = 1000 + index;
    entry->name = name == NULL ? MXP_NAME_NONE : fake_string(source, name);
    source->threads = fake->threads.data;
    array_add(&fake->writers);
    return index;
}

mxp_thread_entry *fake_thread_entry(mxp_source *source, uint32_t thread)
{
    return array_at(&((fake_source *)source)->threads, thread);
}

// ---- records -----------------------------------------------------------------------------------
void fake_range(mxp_source *source, uint32_t thread, uint64_t base_ticks, uint64_t lost_before)
{
    fake_source *fake = (fake_source *)source;
    fake_writer *writer = array_at(&fake->writers, thread);
    fake_run *run = array_add(&fake->runs);
    run->range = (mxp_record_range){.thread = thread,
                                    .sequence = writer->sequence++,
                                    .base_ticks = base_ticks,
                                    .lost_before = lost_before};
    writer->run = fake->runs.count - 1;
    writer->open = 1;
}

// Room for `count` words of one record that ends at `ticks`.
static uint64_t *record_room(mxp_source *source, uint32_t thread, uint64_t ticks, size_t count)
{
    fake_source *fake = (fake_source *)source;
    fake_writer *writer = array_at(&fake->writers, thread);
    fake_run *run = writer->open ? array_at(&fake->runs, writer->run) : NULL;
    if (run == NULL || run->count + count > FAKE_BLOCK_WORDS) {
        fake_range(source, thread, ticks, 0);
        run = array_at(&fake->runs, writer->run);
    }
    if (run->count + count > run->capacity) {
        run->capacity = 2 * run->capacity + count + 16;
        run->words = realloc(run->words, run->capacity * sizeof *run->words);
        if (run->words == NULL) {
            abort();
        }
    }
    uint64_t *words = run->words + run->count;
    memset(words, 0, count * sizeof *words);
    run->count += count;
    fake_thread_entry(source, thread)->records++;
    return words;
}

static uint64_t *record_add(mxp_source *source, uint32_t thread, unsigned kind, unsigned units,
                            uint64_t stamp, uint64_t end)
{
    uint64_t *words = record_room(source, thread, end, 2 * (size_t)units);
    words[0] = kind | (uint64_t)units << 8 | stamp << 16;
    return words;
}

void fake_words(mxp_source *source, uint32_t thread, uint64_t ticks, const uint64_t *words,
                size_t count)
{
    memcpy(record_room(source, thread, ticks, count), words, count * sizeof *words);
}

void fake_long_span(mxp_source *source, uint32_t thread, const mxp_span *span)
{
    uint32_t count = span->arg_count;
    uint64_t *words = record_add(source, thread, MXP_KIND_SPAN_LONG, 3 + count, span->begin_ticks,
                                 span->end_ticks);
    words[1] = span->name | (uint64_t)span->flags << 32 | (uint64_t)count << 48 |
               (uint64_t)span->clock << 56;
    words[2] = span->end_ticks - span->begin_ticks;
    words[3] = span->begin_ticks;
    words[4] = span->lane | (uint64_t)span->scope << 32;
    for (uint32_t i = 0; i < count; i++) {
        words[6 + 2 * i] = span->args[i].key | (uint64_t)span->args[i].type << 32;
        words[7 + 2 * i] = span->args[i].value.u64;
    }
}

void fake_span(mxp_source *source, uint32_t thread, uint32_t name, uint64_t begin, uint64_t end)
{
    if ((end - begin) >> 32 != 0) {
        fake_long_span(source, thread,
                       &(mxp_span){.name = name, .begin_ticks = begin, .end_ticks = end});
        return;
    }
    uint64_t *words = record_add(source, thread, MXP_KIND_SPAN, 1, begin, end);
    words[1] = name | (end - begin) << 32;
}

static void add_counter(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks,
                        uint64_t type, uint64_t bits)
{
    uint64_t *words = record_add(source, thread, MXP_KIND_COUNTER, 2, ticks, ticks);
    words[1] = name | type << 32;
    words[2] = bits;
}

void fake_counter_u64(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks,
                      uint64_t value)
{
    add_counter(source, thread, name, ticks, MXP_ARG_U64, value);
}

void fake_counter_i64(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks,
                      int64_t value)
{
    add_counter(source, thread, name, ticks, MXP_ARG_I64, (uint64_t)value);
}

void fake_counter_f64(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks,
                      double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_counter(source, thread, name, ticks, MXP_ARG_F64, bits);
}

void fake_instant(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks, int scope)
{
    uint64_t *words = record_add(source, thread, MXP_KIND_INSTANT, 1, ticks, ticks);
    words[1] = name | (uint64_t)scope << 32;
}

void fake_flow_on(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks, int phase,
                  uint64_t id, uint32_t lane)
{
    uint64_t *words = record_add(source, thread, MXP_KIND_FLOW, 2, ticks, ticks);
    words[1] = name | (uint64_t)phase << 32;
    words[2] = id;
    words[3] = lane;
}

void fake_flow(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks, int phase,
               uint64_t id)
{
    fake_flow_on(source, thread, name, ticks, phase, id, 0);
}

void fake_meta(mxp_source *source, uint32_t thread, int what, uint32_t name, uint64_t ticks,
               uint64_t value)
{
    uint64_t *words = record_add(source, thread, MXP_KIND_META, 2, ticks, ticks);
    words[1] = name | (uint64_t)what << 32;
    words[2] = value;
}

static void memory_add(mxp_source *source, uint32_t thread, uint32_t kind, uint64_t ticks,
                       const mxp_memory *memory)
{
    uint64_t *words = record_add(source, thread, kind, 3, ticks, ticks);
    words[1] = memory->name | (uint64_t)memory->scope << 32;
    words[2] = memory->block | (uint64_t)memory->device << 48 | (uint64_t)memory->flags << 56 |
               (uint64_t)memory->category << 60;
    words[3] = memory->requested_bytes;
    words[4] = memory->rounded_bytes;
    words[5] = memory->live_bytes;
}

void fake_memory(mxp_source *source, uint32_t thread, uint64_t ticks, const mxp_memory *memory)
{
    memory_add(source, thread, MXP_KIND_MEMORY, ticks, memory);
}

void fake_census(mxp_source *source, uint32_t thread, uint64_t ticks, const mxp_memory *memory)
{
    memory_add(source, thread, MXP_KIND_CENSUS, ticks, memory);
}

void fake_wait(mxp_source *source, uint32_t thread, const fake_wait_record *wait)
{
    uint64_t *words =
        record_add(source, thread, MXP_KIND_WAIT, 2, wait->begin_ticks, wait->end_ticks);
    words[1] = wait->name | (uint64_t)wait->ended_by << 32;
    words[2] = (wait->end_ticks - wait->begin_ticks) | (uint64_t)wait->what << MXP_WAIT_WHAT_SHIFT |
               (uint64_t)wait->flags << MXP_WAIT_FLAGS_SHIFT;
    words[3] = wait->variable;
}

// ---- operators ---------------------------------------------------------------------------------
static uint64_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void operator_add(mxp_source *source, uint32_t thread, uint64_t kind, const mxp_operator *op)
{
    uint64_t start = op->start_ticks;
    uint64_t push = op->push_ticks == 0 ? start : op->push_ticks;
    uint64_t ready = op->ready_ticks == 0 ? start : op->ready_ticks;
    uint32_t count = op->variable_count;
    // One room for all, so that a range's end does not fall in between.
    uint32_t records = (count + MXP_VARIABLES_PER_RECORD - 1) / MXP_VARIABLES_PER_RECORD;
    uint64_t *words = record_room(source, thread, op->end_ticks, 8 + 8 * (size_t)records);
    words[0] = kind | UINT64_C(4) << 8 | start << 16;
    words[1] = op->name | (uint64_t)op->id << 32;
    words[2] = (op->end_ticks - start) | (uint64_t)op->flags << 48;
    words[3] = (start - push) | (uint64_t)op->push_thread << 48;
    words[4] =
        (start - ready) | (uint64_t)op->device << 48 | (uint64_t)(count < 255 ? count : 255) << 56;
    words[5] = op->released_by | (uint64_t)op->bulk_parent << 32;
    words[6] = op->scope | (uint64_t)op->shape << 32;
    words[7] = float_bits(op->flops) | float_bits(op->bytes) << 32;
    for (uint32_t i = 0; i < records; i++) {
        uint64_t *more = words + 8 + 8 * (size_t)i;
        uint32_t left = count - i * MXP_VARIABLES_PER_RECORD;
        uint32_t here = left < MXP_VARIABLES_PER_RECORD ? left : MXP_VARIABLES_PER_RECORD;
        more[0] =
            MXP_KIND_VARIABLES | UINT64_C(4) << 8 | (uint64_t)here << 16 | (uint64_t)op->id << 32;
        memcpy(more + 1, op->variables + i * MXP_VARIABLES_PER_RECORD, here * sizeof(uint32_t));
    }
}

void fake_operator(mxp_source *source, uint32_t thread, const mxp_operator *op)
{
    operator_add(source, thread, MXP_KIND_OPERATOR, op);
}

void fake_hidden_operator(mxp_source *source, uint32_t thread, const mxp_operator *op)
{
    operator_add(source, thread, MXP_KIND_HIDDEN, op);
}

// ---- the rest ----------------------------------------------------------------------------------
void fake_loss(mxp_source *source, const mxp_loss_entry *loss)
{
    fake_source *fake = (fake_source *)source;
    *(mxp_loss_entry *)array_add(&fake->losses) = *loss;
    source->losses = fake->losses.data;
    source->loss_count = fake->losses.count;
}

void fake_info(mxp_source *source, const char *key, const char *value)
{
    fake_source *fake = (fake_source *)source;
    mxp_info_pair *pair = array_add(&fake->info);
    pair->key = copy_bytes(key, strlen(key));
    pair->value = copy_bytes(value, strlen(value));
    source->info = fake->info.data;
    source->info_count = fake->info.count;
}

void fake_stats(mxp_source *source, uint32_t name, const uint64_t *values, size_t count)
{
    fake_source *fake = (fake_source *)source;
    mxp_histogram *histogram = calloc(1, sizeof *histogram);
    if (histogram == NULL) {
        abort();
    }
    histogram->min = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        mxp__histogram_add(histogram, values[i]);
    }
    mxp_stats_view *stats = array_add(&fake->stats);
    stats->name = name;
    stats->histogram = histogram;
    source->stats = fake->stats.data;
    source->stats_count = fake->stats.count;
}
