// SPDX-License-Identifier: Apache-2.0
// report --by thread: how much of the time each thread was in spans, how much of that it waited,
// and what it did mostly: the time of a name is what no other span inside of its spans took.
#include <fnmatch.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "instances/instance_tables.h"
#include "instances/moment.h"
#include "instances/thread_labels.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

enum { NAMES_SHOWN = 3, NAMES_TOLD = 10, COLUMNS_BEFORE = 48 };

static const char memory_for[] = "the table by thread";

// The own time of one name on one thread.
typedef struct own_time {
    uint64_t key;  // thread << 32 | name, + 1
    int64_t ns;
    uint64_t count;
} own_time;

typedef struct thread_row {
    uint64_t spans;
    int64_t in_spans_ns;
    uint32_t *open_names;  // of what encloses the instance at hand, by depth
    size_t capacity;
    const own_time *own;  // of its names, the largest first
    size_t own_count;
} thread_row;

typedef struct by_thread {
    mxp_instance_table *table;
    mxp_json json;
    size_t processes;  // printed
    const mxp_selected *selected;
    mxp_source *process;
    thread_row *rows;
    bool *waits;  // by name id
    mxp_id_map own;
    own_time *sorted;  // `own`, once all is counted
    size_t sorted_count;
    int64_t begin_ns, end_ns;
} by_thread;

// ---- counting ----------------------------------------------------------------------------------
// Names of the categories lock and wait, and those that the user gave, do no work.
static bool name_waits(const by_thread *self, uint32_t id)
{
    const mxp_option_list *idle = &self->table->wish->idle;
    mxp_name_view name = self->process->name(self->process, id);
    const char *category = self->process->name(self->process, name.category).text;
    bool waits = strcmp(category, "lock") == 0 || strcmp(category, "wait") == 0;
    for (size_t i = 0; i < idle->count && !waits; i++) {
        waits = fnmatch(idle->words[i], name.text, 0) == 0;
    }
    return waits && name.style != MXP_STYLE_NONE;
}

static int64_t within(const by_thread *self, const mxp_instance *instance)
{
    int64_t begin = instance->begin_ns > self->begin_ns ? instance->begin_ns : self->begin_ns;
    int64_t end = instance->end_ns < self->end_ns ? instance->end_ns : self->end_ns;
    return end > begin ? end - begin : 0;
}

static own_time *own_of(by_thread *self, uint32_t thread, uint32_t name)
{
    return mxp__id_map_add(&self->own, ((uint64_t)thread << 32 | name) + 1);
}

static int count(by_thread *self, const mxp_instance *instance, int64_t ns)
{
    thread_row *row = &self->rows[instance->thread];
    own_time *own = own_of(self, instance->thread, instance->name);
    if (own == NULL || mxp__grow(&row->open_names, &row->capacity, (size_t)instance->depth + 1,
                                 sizeof *row->open_names) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    bool counts = mxp__selected_in_window(self->selected, instance);
    own->ns += ns;
    own->count += counts;
    row->spans += counts;
    if (instance->depth == 0) {
        row->in_spans_ns += ns;
    } else {
        own = own_of(self, instance->thread, row->open_names[instance->depth - 1]);
        if (own == NULL) {
            return mxp__fail_memory(memory_for);
        }
        own->ns -= ns;
    }
    row->open_names[instance->depth] = instance->name;
    return MXP_OK;
}

static int visit(void *context, const mxp_instance *instance)
{
    by_thread *self = context;
    if (instance->is_async) {
        return MXP_OK;
    }
    if (instance->kind == MXP_KIND_WAIT && instance->name < self->process->name_count) {
        self->waits[instance->name] = true;
    }
    return count(self, instance, within(self, instance));
}

static int begin(void *context, mxp_source *process, const mxp_selected *selected)
{
    by_thread *self = context;
    int error = MXP_OK;
    self->process = process;
    self->selected = selected;
    if (selected->has_window) {
        mxp__selected_extent(selected, &self->begin_ns, &self->end_ns);
    } else if (!mxp__recorded_extent(process, &self->begin_ns, &self->end_ns, &error)) {
        self->begin_ns = self->end_ns = 0;
    }
    self->rows = mxp__alloc(process->thread_count * sizeof *self->rows);
    self->waits = mxp__alloc(process->name_count * sizeof *self->waits);
    if (error == MXP_OK && ((self->rows == NULL && process->thread_count > 0) ||
                            (self->waits == NULL && process->name_count > 0))) {
        error = mxp__fail_memory(memory_for);
    }
    for (uint32_t id = 0; error == MXP_OK && id < process->name_count; id++) {
        self->waits[id] = name_waits(self, id);
    }
    return error;
}

static void forget(by_thread *self)
{
    for (uint32_t i = 0; self->rows != NULL && i < self->process->thread_count; i++) {
        mxp__free(self->rows[i].open_names, self->rows[i].capacity * sizeof(uint32_t));
    }
    if (self->process != NULL) {
        mxp__free(self->rows, self->process->thread_count * sizeof *self->rows);
        mxp__free(self->waits, self->process->name_count * sizeof *self->waits);
    }
    mxp__free(self->sorted, self->sorted_count * sizeof *self->sorted);
    self->sorted = NULL;
    mxp__id_map_fini(&self->own);
    self->own = (mxp_id_map){.entry_bytes = sizeof(own_time)};
    self->process = NULL;
    self->rows = NULL;
    self->waits = NULL;
}

// ---- the names of a thread ---------------------------------------------------------------------
static uint32_t name_of(const own_time *own)
{
    return (uint32_t)(own->key - 1);
}

static uint32_t thread_of(const own_time *own)
{
    return (uint32_t)((own->key - 1) >> 32);
}

static int compare_own(const void *left, const void *right)
{
    const own_time *a = left, *b = right;
    if (thread_of(a) != thread_of(b)) {
        return thread_of(a) < thread_of(b) ? -1 : 1;
    }
    if (a->ns != b->ns) {
        return a->ns > b->ns ? -1 : 1;
    }
    return (a->key > b->key) - (a->key < b->key);
}

// All at once, because there may be as many threads as names.
static int sort_own(by_thread *self)
{
    self->sorted_count = self->own.count;
    self->sorted = mxp__alloc(self->sorted_count * sizeof *self->sorted);
    if (self->sorted == NULL && self->sorted_count > 0) {
        return mxp__fail_memory(memory_for);
    }
    own_time *to = self->sorted;
    for (const own_time *own = NULL; (own = mxp__id_map_next(&self->own, own)) != NULL;) {
        *to++ = *own;
    }
    if (self->sorted_count > 1) {
        qsort(self->sorted, self->sorted_count, sizeof *self->sorted, compare_own);
    }
    for (size_t i = 0; i < self->sorted_count; i++) {
        thread_row *row = &self->rows[thread_of(&self->sorted[i])];
        row->own = row->own_count++ == 0 ? &self->sorted[i] : row->own;
    }
    return MXP_OK;
}

// How many of the first names of a thread took time, `most` at most.
static size_t count_largest(const thread_row *row, size_t most)
{
    size_t count = 0;
    while (count < row->own_count && count < most && row->own[count].ns > 0) {
        count++;
    }
    return count;
}

// What of the time in spans a thread waited.
static int64_t waited(const by_thread *self, const thread_row *row)
{
    int64_t ns = 0;
    for (size_t i = 0; i < row->own_count; i++) {
        uint32_t name = name_of(&row->own[i]);
        ns += name < self->process->name_count && self->waits[name] ? row->own[i].ns : 0;
    }
    return ns;
}

// ---- printing ----------------------------------------------------------------------------------
// As many of the largest as fit behind the other columns, one at least.
static void put_mostly(const by_thread *self, const thread_row *row, mxp_strbuf *out)
{
    const mxp_screen *screen = &self->table->wish->screen;
    bool is_narrow = screen->is_bounded && screen->columns > COLUMNS_BEFORE;
    size_t room = is_narrow ? screen->columns - COLUMNS_BEFORE : SIZE_MAX, used = 0;
    const size_t count = count_largest(row, NAMES_SHOWN);
    mxp_strbuf one = {0};
    for (size_t i = 0; i < count; i++) {
        mxp_name_view name = self->process->name(self->process, name_of(&row->own[i]));
        mxp__strbuf_clear(&one);
        mxp__strbuf_puts(&one, i > 0 ? ", " : "");
        mxp__put_label(screen, name.text, name.length, &one);
        mxp__strbuf_putc(&one, ' ');
        mxp__put_duration(screen, (double)row->own[i].ns, &one);
        used += mxp__label_columns(mxp__strbuf_text(&one), one.length);
        if (i > 0 && used > room) {
            break;
        }
        mxp__strbuf_append(out, mxp__strbuf_text(&one), one.length);
    }
    mxp__strbuf_fini(&one);
}

static void put_text(by_thread *self)
{
    static const mxp_text_column columns[] = {
        {"thread", MXP_COLUMN_NAME, 0},    {"spans", MXP_COLUMN_RIGHT, 3},
        {"in spans", MXP_COLUMN_RIGHT, 0}, {"share", MXP_COLUMN_RIGHT, 0},
        {"waited", MXP_COLUMN_RIGHT, 2},   {"mostly (own time)", MXP_COLUMN_NAME, 0}};
    const mxp_screen *screen = &self->table->wish->screen;
    double all = (double)(self->end_ns - self->begin_ns);
    mxp_text_table text;
    mxp_thread_labels labels = {0};
    mxp__strbuf_printf(self->table->out, "process %" PRIu32 ", %.6f s to %.6f s\n\n",
                       self->process->pid, (double)self->begin_ns / 1e9,
                       (double)self->end_ns / 1e9);
    mxp__text_table_init(&text, screen, columns, sizeof columns / sizeof columns[0]);
    for (uint32_t i = 0; i < self->process->thread_count; i++) {
        const thread_row *row = &self->rows[i];
        if (row->spans == 0 ||
            !mxp__filter_takes_id(&self->selected->filter, MXP_FILTER_THREAD, i)) {
            continue;
        }
        mxp__put_thread(&labels, screen, self->process, i, false, mxp__text_cell(&text));
        mxp__put_count((double)row->spans, mxp__text_cell(&text));
        mxp__put_duration(screen, (double)row->in_spans_ns, mxp__text_cell(&text));
        mxp__put_percent(all > 0 ? (double)row->in_spans_ns / all : 0, mxp__text_cell(&text));
        mxp__put_duration(screen, (double)waited(self, row), mxp__text_cell(&text));
        put_mostly(self, row, mxp__text_cell(&text));
        mxp__text_row(&text, MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&text, self->table->out);
    mxp__text_table_fini(&text);
    mxp__thread_labels_fini(&labels);
}

static void json_names(const by_thread *self, const thread_row *row, mxp_json *json)
{
    const size_t count = count_largest(row, NAMES_TOLD);
    mxp__json_array(json, "names");
    for (size_t i = 0; i < count; i++) {
        mxp_name_view name = self->process->name(self->process, name_of(&row->own[i]));
        mxp__json_row(json, NULL);
        mxp__json_bytes(json, "name", name.text, name.length);
        mxp__json_u64(json, "count", row->own[i].count);
        mxp__json_i64(json, "own_ns", row->own[i].ns);
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

static void put_json(by_thread *self)
{
    mxp_json *json = &self->json;
    mxp__json_object(json, NULL);
    mxp__json_u64(json, "process", self->process->pid);
    mxp__json_i64(json, "begin_ns", self->begin_ns);
    mxp__json_i64(json, "duration_ns", self->end_ns - self->begin_ns);
    mxp__json_array(json, "threads");
    for (uint32_t i = 0; i < self->process->thread_count; i++) {
        if (!mxp__filter_takes_id(&self->selected->filter, MXP_FILTER_THREAD, i)) {
            continue;
        }
        const thread_row *row = &self->rows[i];
        mxp_name_view name = self->process->name(self->process, self->process->threads[i].name);
        mxp__json_row(json, NULL);
        mxp__json_u64(json, "thread", i);
        mxp__json_bytes(json, "name", name.text, name.length);
        mxp__json_u64(json, "spans", row->spans);
        mxp__json_i64(json, "in_spans_ns", row->in_spans_ns);
        mxp__json_i64(json, "waited_ns", waited(self, row));
        json_names(self, row, json);
        mxp__json_end(json);
    }
    mxp__json_end(json);
    mxp__json_end(json);
}

static int end(void *context)
{
    by_thread *self = context;
    bool as_json = self->table->wish->json;
    int error = sort_own(self);
    if (error == MXP_OK) {
        mxp__strbuf_puts(self->table->out, self->processes++ > 0 && !as_json ? "\n" : "");
        (as_json ? put_json : put_text)(self);
    }
    forget(self);
    return error;
}

int mxp__put_by_thread(mxp_instance_table *table)
{
    by_thread self = {
        .table = table, .json = {.out = table->out}, .own = {.entry_bytes = sizeof(own_time)}};
    const mxp_table_reader reader = {.begin = begin, .visit = visit, .end = end, .context = &self};
    bool is_list = table->wish->json && table->input->source->process_count > 1;
    if (is_list) {
        mxp__json_array(&self.json, NULL);
    }
    int code = mxp__table_read(table, &reader);
    forget(&self);
    if (is_list) {
        mxp__json_end(&self.json);
    }
    return code;
}
