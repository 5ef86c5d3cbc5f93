// SPDX-License-Identifier: Apache-2.0
// What a source knows without its records: names, threads, statistics, losses, and the process.
#include "export/sqlite/process.h"
#include "profiler/export/scope_path.h"
#include "profiler/trace/loss.h"

static const char *word(const char *const *words, size_t count, size_t number)
{
    return number < count ? words[number] : NULL;
}

static const char *style_word(uint8_t style)
{
    static const char *const words[] = {"none",    "span", "async", "counter",
                                        "instant", "flow", "scope"};
    return word(words, sizeof words / sizeof words[0], style);
}

static const char *unit_word(uint8_t unit)
{
    static const char *const words[] = {NULL, "bytes", "ns", "percent"};
    return word(words, sizeof words / sizeof words[0], unit);
}

static void put_name_text(mxp_rows *rows, const mxp_source *source, uint32_t id)
{
    mxp_name_view view = source->name(source, id);
    mxp__put_text(rows, view.text, view.length);
}

static bool put_path(mxp_rows *rows, const mxp_source *source, uint32_t scope)
{
    mxp_strbuf path = {0};
    mxp__scope_path(source, scope, &path);
    bool complete = !path.failed;
    mxp__put_text(rows, mxp__strbuf_text(&path), path.length);
    mxp__strbuf_fini(&path);
    return complete;
}

// A scope's text is its path, its category the path around it. The one beyond the last stands for
// all ids that the file does not have.
static int write_name(mxp_sqlite_process *process, uint32_t id)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_name);
    const mxp_source *source = process->source;
    mxp_name_view view = source->name(source, id);
    bool is_scope = view.style == MXP_STYLE_SCOPE;
    bool complete = true;
    mxp__put_i64(rows, process->first_name + id);
    if (is_scope) {
        complete = put_path(rows, source, mxp__scope_parent(source, id));
        complete = put_path(rows, source, id) && complete;
    } else {
        put_name_text(rows, source, view.category);
        mxp__put_text(rows, view.text, view.length);
    }
    mxp__put_string(rows, style_word(view.style));
    mxp__put_string(rows, unit_word(view.unit));
    rows->texts.failed = rows->texts.failed || !complete;
    return mxp__row_end(process->database, MXP__TABLE_name, rows);
}

static int write_thread(mxp_sqlite_process *process, uint32_t index)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_thread);
    const mxp_thread_entry *thread = &process->source->threads[index];
    mxp__put_i64(rows, process->first_thread + index);
    mxp__put_i64(rows, process->run);
    mxp__put_i64(rows, thread->tid);
    put_name_text(rows, process->source, thread->name);
    return mxp__row_end(process->database, MXP__TABLE_thread, rows);
}

static int write_info(mxp_sqlite_process *process, size_t i)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_info);
    mxp__put_i64(rows, process->run);
    mxp__put_string(rows, process->source->info[i].key);
    mxp__put_string(rows, process->source->info[i].value);
    return mxp__row_end(process->database, MXP__TABLE_info, rows);
}

static int write_statistic(mxp_sqlite_process *process, size_t i)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_statistic);
    const mxp_stats_view *stats = &process->source->stats[i];
    mxp__put_i64(rows, process->run);
    mxp__put_name(process, rows, stats->name);
    mxp__put_u64(rows, stats->histogram->count);
    mxp__put_u64(rows, stats->histogram->total);
    mxp__put_u64(rows, stats->histogram->count > 0 ? stats->histogram->min : 0);
    mxp__put_u64(rows, stats->histogram->max);
    return mxp__row_end(process->database, MXP__TABLE_statistic, rows);
}

static int write_loss(mxp_sqlite_process *process, size_t i)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_loss);
    const mxp_loss_entry *loss = &process->source->losses[i];
    mxp__put_i64(rows, process->run);
    mxp__put_thread(process, rows, loss->thread);
    mxp__put_string(rows, mxp__loss_reason(loss->reason));
    mxp__put_u64(rows, loss->count);
    mxp__put_i64(rows, mxp__timebase_ns(process->source->timebase, loss->from_ticks));
    mxp__put_i64(rows, mxp__timebase_ns(process->source->timebase, loss->to_ticks));
    return mxp__row_end(process->database, MXP__TABLE_loss, rows);
}

int mxp__sqlite_tables(mxp_sqlite_process *process)
{
    const mxp_source *source = process->source;
    int error = MXP_OK;
    for (size_t i = 0; i <= source->name_count && error == MXP_OK; i++) {
        error = write_name(process, (uint32_t)i);
    }
    for (uint32_t i = 0; i < source->thread_count && error == MXP_OK; i++) {
        error = write_thread(process, i);
    }
    for (size_t i = 0; i < source->info_count && error == MXP_OK; i++) {
        error = write_info(process, i);
    }
    for (size_t i = 0; i < source->stats_count && error == MXP_OK; i++) {
        error = write_statistic(process, i);
    }
    for (size_t i = 0; i < source->loss_count && error == MXP_OK; i++) {
        error = write_loss(process, i);
    }
    return error;
}

// Records that are in no row; those that bear another name are.
static uint64_t lost_records(const mxp_source *source)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < source->loss_count; i++) {
        bool is_lost = source->losses[i].reason != MXP_LOSS_NAMES_FULL;
        lost += is_lost ? source->losses[i].count : 0;
    }
    return lost;
}

int mxp__sqlite_run(mxp_sqlite_process *process)
{
    static const char *const clocks[] = {NULL, "tsc", "arm", "raw", "monotonic"};
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_run);
    const mxp_source *source = process->source;
    bool has_records = process->from_ns <= process->until_ns;
    mxp__put_i64(rows, process->run);
    mxp__put_string(rows, mxp__source_info(source, "host"));
    mxp__put_i64(rows, source->pid);
    mxp__put_string(rows, mxp__source_info(source, "command"));
    mxp__put_some(rows, has_records, process->from_ns);
    mxp__put_some(rows, has_records, process->until_ns);
    mxp__put_string(rows, word(clocks, sizeof clocks / sizeof clocks[0], source->timebase->source));
    mxp__put_u64(rows, lost_records(source));
    return mxp__row_end(process->database, MXP__TABLE_run, rows);
}
