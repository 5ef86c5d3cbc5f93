// SPDX-License-Identifier: Apache-2.0
// report --by arg:KEY: a row for each value of an argument. Of spans with one value inside of one
// another, on one thread, only the outermost one counts, so that no time is in a row twice.
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "base/sum.h"
#include "instances/arguments.h"
#include "instances/instance_tables.h"
#include "instances/nearest.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

enum { ROWS_SHOWN = 100 };

static const char memory_for[] = "the table by an argument";

typedef struct value_row {
    size_t text_at, text_length;  // in `texts`
    uint32_t next;  // of the rows with the same hash, + 1; 0: none
    uint64_t total_ns;
    double sum;  // of the other argument
    uint64_t summed;
    mxp_durations durations;
} value_row;

typedef struct value_hash {
    uint64_t key;
    uint32_t row;
} value_hash;

typedef struct thread_open {
    uint32_t *rows;  // by depth: the row that what encloses the instance at hand counts in, + 1
    size_t capacity;
} thread_open;

typedef struct by_arg {
    mxp_instance_table *table;
    const mxp_selected *selected;
    mxp_source *process;
    mxp_wanted_arg wanted, summed;
    thread_open *open;
    mxp_arg_keys keys;
    bool has_key;  // a span that is not chosen has it
    mxp_nearest nearest;
    mxp_screen plain;  // values are kept as text that loses nothing
    mxp_strbuf texts, text;
    value_row *rows;
    size_t count, capacity;
    mxp_id_map hashes;
} by_arg;

// ---- rows --------------------------------------------------------------------------------------
static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    }
    return hash | 1;
}

static value_row *add_row(by_arg *self, value_hash *hash)
{
    if (mxp__grow(&self->rows, &self->capacity, self->count + 1, sizeof *self->rows) != MXP_OK) {
        return NULL;
    }
    value_row *row = &self->rows[self->count++];
    *row = (value_row){
        .text_at = self->texts.length, .text_length = self->text.length, .next = hash->row};
    hash->row = (uint32_t)self->count;
    mxp__strbuf_append(&self->texts, mxp__strbuf_text(&self->text), self->text.length);
    return self->texts.failed ? NULL : row;
}

// The row of the value in `text`; null without memory.
static value_row *row_of(by_arg *self)
{
    const char *text = mxp__strbuf_text(&self->text);
    value_hash *hash = mxp__id_map_add(&self->hashes, hash_of(text, self->text.length));
    if (hash == NULL || self->text.failed) {
        return NULL;
    }
    for (uint32_t at = hash->row; at != 0; at = self->rows[at - 1].next) {
        value_row *row = &self->rows[at - 1];
        if (row->text_length == self->text.length &&
            memcmp(mxp__strbuf_text(&self->texts) + row->text_at, text, row->text_length) == 0) {
            return row;
        }
    }
    return add_row(self, hash);
}

static void add_sum(by_arg *self, const mxp_instance *instance, value_row *row)
{
    int place = self->table->wish->sum != NULL ? mxp__wanted_arg_find(&self->summed, instance) : -1;
    if (place < 0) {
        return;
    }
    const mxp_event event = mxp__instance_event(instance);
    uint32_t key, type;
    uint64_t bits;
    double number;
    mxp__event_arg(&event, (uint32_t)place, &key, &type, &bits);
    if (mxp__arg_number(type, bits, &number)) {
        row->sum += number;
        row->summed++;
    }
}

// Whether something around it counts in the row already.
static bool is_counted(const thread_open *open, uint32_t depth, uint32_t row)
{
    for (uint32_t i = 0; i < depth; i++) {
        if (open->rows[i] == row) {
            return true;
        }
    }
    return false;
}

// ---- reading -----------------------------------------------------------------------------------
// Gives the row that the instance counts in, + 1; 0: in none.
static int count(by_arg *self, const mxp_instance *instance, uint32_t *counted)
{
    int place = mxp__selected_takes(self->selected, instance)
                    ? mxp__wanted_arg_find(&self->wanted, instance)
                    : -1;
    *counted = 0;
    if (place < 0) {
        return mxp__arg_keys_note(&self->keys, instance);
    }
    mxp__strbuf_clear(&self->text);
    mxp__put_arg_value(&self->plain, instance, (uint32_t)place, &self->text);
    value_row *row = row_of(self);
    if (row == NULL) {
        return mxp__fail_memory(memory_for);
    }
    *counted = (uint32_t)(row - self->rows) + 1;
    add_sum(self, instance, row);
    if (!instance->is_async &&
        is_counted(&self->open[instance->thread], instance->depth, *counted)) {
        return MXP_OK;
    }
    mxp__sum_add(&row->total_ns, (uint64_t)mxp__instance_ns(instance));
    return mxp__durations_add(&row->durations, mxp__instance_ns(instance));
}

static int visit(void *context, const mxp_instance *instance)
{
    by_arg *self = context;
    uint32_t counted;
    int error = count(self, instance, &counted);
    if (error != MXP_OK || instance->is_async) {
        return error;
    }
    thread_open *open = &self->open[instance->thread];
    if (mxp__grow(&open->rows, &open->capacity, (size_t)instance->depth + 1, sizeof *open->rows) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    open->rows[instance->depth] = counted;
    return MXP_OK;
}

static int begin(void *context, mxp_source *process, const mxp_selected *selected)
{
    by_arg *self = context;
    const mxp_instance_wish *wish = self->table->wish;
    self->process = process;
    self->selected = selected;
    self->open = mxp__alloc(process->thread_count * sizeof *self->open);
    if (self->open == NULL && process->thread_count > 0) {
        return mxp__fail_memory(memory_for);
    }
    int error = mxp__wanted_arg_init(&self->wanted, process, wish->arg, strlen(wish->arg), NULL);
    if (error == MXP_OK && wish->sum != NULL) {
        error = mxp__wanted_arg_init(&self->summed, process, wish->sum, strlen(wish->sum), NULL);
    }
    return error;
}

static void forget(by_arg *self)
{
    for (uint32_t i = 0; self->open != NULL && i < self->process->thread_count; i++) {
        mxp__free(self->open[i].rows, self->open[i].capacity * sizeof *self->open[i].rows);
    }
    if (self->process != NULL) {
        mxp__free(self->open, self->process->thread_count * sizeof *self->open);
    }
    self->open = NULL;
    mxp__wanted_arg_fini(&self->wanted);
    mxp__wanted_arg_fini(&self->summed);
    mxp__arg_keys_fini(&self->keys);
}

static int end(void *context)
{
    by_arg *self = context;
    for (size_t i = 0; i < self->keys.count; i++) {
        mxp_name_view name = self->process->name(self->process, self->keys.ids[i]);
        self->has_key |= self->wanted.is_key[self->keys.ids[i]];
        mxp__nearest_offer(&self->nearest, name.text, name.length);
    }
    forget(self);
    return MXP_OK;
}

// ---- printing ----------------------------------------------------------------------------------
static int largest_first(const void *a, const void *b)
{
    const value_row *x = a, *y = b;
    if (x->total_ns != y->total_ns) {
        return x->total_ns > y->total_ns ? -1 : 1;
    }
    return (x->text_at > y->text_at) - (x->text_at < y->text_at);
}

static size_t shown(const by_arg *self)
{
    size_t most = self->table->wish->top > 0 ? self->table->wish->top : ROWS_SHOWN;
    return self->count < most ? self->count : most;
}

static void put_row(const by_arg *self, mxp_text_table *text, const value_row *row)
{
    const mxp_instance_wish *wish = self->table->wish;
    const char *value = mxp__strbuf_text(&self->texts) + row->text_at;
    mxp__put_label(&wish->screen, value, row->text_length, mxp__text_cell(text));
    mxp__put_count((double)row->durations.total, mxp__text_cell(text));
    mxp__put_duration(&wish->screen, (double)row->total_ns, mxp__text_cell(text));
    for (size_t i = 0; i < wish->percentiles.count; i++) {
        mxp_strbuf *cell = mxp__text_cell(text);
        mxp__strbuf_puts(cell, mxp__durations_are_exact(&row->durations) ? "" : "~");
        mxp__put_duration(
            &wish->screen,
            (double)mxp__durations_percentile(&row->durations, wish->percentiles.percents[i]),
            cell);
    }
    if (wish->sum != NULL) {
        mxp__strbuf_printf(mxp__text_cell(text), "%.12g", row->sum);
    }
    mxp__text_row(text, MXP_LOOK_PLAIN);
}

static void put_others(const by_arg *self, mxp_text_table *text)
{
    uint64_t spans = 0, total_ns = 0;
    for (size_t i = shown(self); i < self->count; i++) {
        spans += self->rows[i].durations.total;
        mxp__sum_add(&total_ns, self->rows[i].total_ns);
    }
    if (shown(self) < self->count) {
        mxp__strbuf_printf(mxp__text_cell(text), "%zu others", self->count - shown(self));
        mxp__put_count((double)spans, mxp__text_cell(text));
        mxp__put_duration(&self->table->wish->screen, (double)total_ns, mxp__text_cell(text));
        mxp__text_row(text, MXP_LOOK_FAINT);
    }
}

static void put_text(const by_arg *self)
{
    const mxp_instance_wish *wish = self->table->wish;
    mxp_text_column columns[4 + MXP__PERCENTILES_MOST] = {{wish->arg, MXP_COLUMN_NAME, 0},
                                                          {"spans", MXP_COLUMN_RIGHT, 0},
                                                          {"total", MXP_COLUMN_RIGHT, 0}};
    char headings[MXP__PERCENTILES_MOST][16];
    size_t count = 3;
    for (size_t i = 0; i < wish->percentiles.count; i++) {
        snprintf(headings[i], sizeof headings[i], "p%.6g", wish->percentiles.percents[i]);
        columns[count++] = (mxp_text_column){headings[i], MXP_COLUMN_RIGHT, i > 0 ? 1 : 0};
    }
    if (wish->sum != NULL) {
        columns[count++] = (mxp_text_column){wish->sum, MXP_COLUMN_RIGHT, 0};
    }
    mxp_text_table text;
    mxp__text_table_init(&text, &wish->screen, columns, count);
    for (size_t i = 0; i < shown(self); i++) {
        put_row(self, &text, &self->rows[i]);
    }
    put_others(self, &text);
    mxp__text_table_put(&text, self->table->out);
    mxp__text_table_fini(&text);
}

static void put_json(const by_arg *self)
{
    mxp_json json = {.out = self->table->out};
    const mxp_instance_wish *wish = self->table->wish;
    mxp__json_object(&json, NULL);
    mxp__json_text(&json, "key", wish->arg);
    mxp__json_u64(&json, "values", self->count);
    mxp__json_array(&json, "rows");
    for (size_t i = 0; i < self->count && (wish->top == 0 || i < wish->top); i++) {
        const value_row *row = &self->rows[i];
        mxp__json_row(&json, NULL);
        mxp__json_bytes(&json, "value", mxp__strbuf_text(&self->texts) + row->text_at,
                        row->text_length);
        mxp__json_u64(&json, "spans", row->durations.total);
        mxp__json_u64(&json, "total_ns", row->total_ns);
        mxp__durations_json(&json, &row->durations, &wish->percentiles);
        if (wish->sum != NULL) {
            mxp__json_text(&json, "sum_of", wish->sum);
            mxp__json_number(&json, "sum", row->sum);
            mxp__json_u64(&json, "summed", row->summed);
        }
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
    mxp__json_end(&json);
}

static int refuse(const by_arg *self)
{
    mxp_strbuf text = {0};
    if (self->has_key) {
        fprintf(stderr, "mxprof %s: no span with the argument '%s' is in what was chosen\n",
                self->table->command->name, self->table->wish->arg);
        return MXP_EXIT_UNKNOWN;
    }
    mxp__nearest_put(&self->nearest, &text);
    fprintf(stderr, "mxprof %s: no span has an argument '%s'%s%s\n", self->table->command->name,
            self->table->wish->arg, text.length > 0 ? "; there are: " : ", nor any other",
            mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    return MXP_EXIT_USAGE;
}

static void put(by_arg *self)
{
    if (self->count > 1) {
        qsort(self->rows, self->count, sizeof *self->rows, largest_first);
    }
    for (size_t i = 0; i < self->count; i++) {
        mxp__durations_sort(&self->rows[i].durations);
    }
    (self->table->wish->json ? put_json : put_text)(self);
}

int mxp__put_by_arg(mxp_instance_table *table)
{
    by_arg self = {.table = table,
                   .plain = {.columns = SIZE_MAX, .is_utf8 = true},
                   .nearest = {.word = table->wish->arg},
                   .hashes = {.entry_bytes = sizeof(value_hash)}};
    const mxp_table_reader reader = {.begin = begin, .visit = visit, .end = end, .context = &self};
    int code = mxp__table_read(table, &reader);
    if (code < 0 && self.count == 0) {
        code = refuse(&self);
    } else if (code < 0) {
        put(&self);
    }
    forget(&self);
    for (size_t i = 0; i < self.count; i++) {
        mxp__durations_fini(&self.rows[i].durations);
    }
    mxp__free(self.rows, self.capacity * sizeof *self.rows);
    mxp__strbuf_fini(&self.texts);
    mxp__strbuf_fini(&self.text);
    mxp__id_map_fini(&self.hashes);
    return code;
}
