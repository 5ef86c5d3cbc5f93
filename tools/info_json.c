// SPDX-License-Identifier: Apache-2.0
#include "info_json.h"

#include <string.h>

#include "profiler/clock/clock.h"
#include "profiler/trace/loss.h"
#include "recorded_config.h"

static int64_t ns_at(const mxp_source *source, uint64_t ticks)
{
    return mxp__timebase_ns(source->timebase, ticks);
}

void mxp__info_json_begin(mxp_json *json, const mxp_input *input)
{
    const char *imported = mxp__source_info(input->source, "imported");
    mxp__json_object(json, NULL);
    mxp__json_text(json, "file", input->path);
    mxp__json_u64(json, "bytes", input->file_bytes);
    if (input->is_imported && imported != NULL) {
        mxp__json_text(json, "imported_from", imported);
    }
    mxp__json_array(json, "processes");
}

void mxp__info_json_end(mxp_json *json, const mxp_input *input)
{
    mxp__json_end(json);
    mxp__json_bool(json, "is_whole", !input->damaged);
    mxp__json_end(json);
}

static void put_clock(mxp_json *json, const mxp_source *source)
{
    const mxp_timebase *timebase = source->timebase;
    mxp__json_object(json, "clock");
    mxp__json_text(json, "source", mxp__clock_source_name(timebase->source));
    mxp__json_number(json, "ns_per_tick", mxp__timebase_ns_per_tick(timebase));
    mxp__json_u64(json, "points", timebase->point_count);
    mxp__json_number(json, "residual_ns", timebase->residual_ns);
    if (timebase->jump_ticks != 0) {
        mxp__json_i64(json, "jump_at_ns", ns_at(source, timebase->jump_ticks));
        mxp__json_i64(json, "jump_ns", timebase->jump_ns);
    }
    mxp__json_end(json);
}

static void put_records(mxp_json *json, const mxp_summary *summary)
{
    static const struct {
        int kind;
        const char *name, *text;
    } kinds[] = {
#define KIND(name, number, units, text) {number, #name, text},
        MXP_RECORD_KINDS(KIND)
#undef KIND
    };
    mxp__json_object(json, "records");
    mxp__json_u64(json, "all", summary->records);
    mxp__json_u64(json, "bytes", summary->bytes);
    mxp__json_u64(json, "chunks", summary->ranges);
    mxp__json_u64(json, "unread_bytes", summary->unread_bytes);
    mxp__json_array(json, "kinds");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (summary->by_kind[kinds[i].kind] > 0 && kinds[i].text != NULL) {
            mxp__json_row(json, NULL);
            mxp__json_text(json, "kind", kinds[i].name);
            mxp__json_text(json, "text", kinds[i].text);
            mxp__json_u64(json, "count", summary->by_kind[kinds[i].kind]);
            mxp__json_end(json);
        }
    }
    mxp__json_end(json);
    mxp__json_end(json);
}

static void put_ring(mxp_json *json, const mxp_summary *summary, const mxp_coverage *coverage)
{
    if (!coverage->is_ring) {
        return;
    }
    mxp__json_object(json, "ring");
    mxp__json_u64(json, "limit_bytes", coverage->limit_bytes);
    mxp__json_bool(json, "has_made_room", coverage->overwritten);
    if (coverage->overwritten) {
        mxp__json_i64(json, "complete_from_ns", coverage->complete_ns);
        mxp__json_i64(json, "holds_ns", summary->last_ns - coverage->complete_ns);
        mxp__json_u64(json, "older_records", coverage->older_records);
        mxp__json_u64(json, "older_bytes", coverage->older_bytes);
    }
    mxp__json_end(json);
}

static void put_thread(mxp_json *json, const mxp_source *source, const mxp_summary *summary,
                       const mxp_coverage *coverage, uint32_t i)
{
    const mxp_thread_entry *thread = &source->threads[i];
    mxp_name_view name = source->name(source, thread->name);
    mxp__json_row(json, NULL);
    mxp__json_u64(json, "thread", thread->index);
    mxp__json_u64(json, "tid", thread->tid);
    mxp__json_bytes(json, "name", name.text, name.length);
    mxp__json_i64(json, "begin_ns", ns_at(source, thread->start_ticks));
    if (thread->end_ticks != 0) {
        mxp__json_i64(json, "end_ns", ns_at(source, thread->end_ticks));
    } else {
        mxp__json_null(json, "end_ns");
    }
    if (coverage->is_ring && coverage->since_ns[i] != INT64_MAX) {
        mxp__json_i64(json, "held_since_ns", coverage->since_ns[i]);
    }
    mxp__json_u64(json, "records", summary->thread_records[i]);
    mxp__json_u64(json, "lost", thread->lost);
    mxp__json_end(json);
}

static void put_losses(mxp_json *json, const mxp_source *source)
{
    mxp__json_array(json, "losses");
    for (size_t i = 0; i < source->loss_count; i++) {
        const mxp_loss_entry *loss = &source->losses[i];
        mxp__json_row(json, NULL);
        if (loss->thread == UINT32_MAX) {
            mxp__json_null(json, "thread");
        } else {
            mxp__json_u64(json, "thread", loss->thread);
        }
        mxp__json_text(json, "reason", mxp__loss_reason(loss->reason));
        mxp__json_u64(json, "count", loss->count);
        mxp__json_i64(json, "begin_ns", ns_at(source, loss->from_ticks));
        mxp__json_i64(json, "end_ns", ns_at(source, loss->to_ticks));
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

// Keys are the program's, so each pair is a row.
static void put_info(mxp_json *json, const mxp_source *source)
{
    const char *config = mxp__source_info(source, "config");
    if (config != NULL) {
        mxp__recorded_config_json(json, config);
    }
    mxp__json_array(json, "info");
    for (size_t i = 0; i < source->info_count; i++) {
        mxp__json_row(json, NULL);
        mxp__json_text(json, "key", source->info[i].key);
        mxp__json_text(json, "value", source->info[i].value);
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

void mxp__info_json_process(mxp_json *json, const mxp_source *source, const mxp_summary *summary,
                            const mxp_coverage *coverage)
{
    static const char *const states[] = {[MXP__PROCESS_FINISHED] = "finished",
                                         [MXP__PROCESS_RECORDING] = "recording",
                                         [MXP__PROCESS_DIED] = "died",
                                         [MXP__PROCESS_UNFINISHED] = "unfinished"};
    const mxp_timebase *timebase = source->timebase;
    mxp__json_object(json, NULL);
    mxp__json_u64(json, "process", source->pid);
    mxp__json_text(json, "state", states[source->state]);
    if (timebase->point_count > 0) {
        mxp__json_u64(json, "written_real_ns",
                      mxp__timebase_is_dated(timebase) ? timebase->points[0].realtime_ns : 0);
    }
    mxp__json_i64(json, "first_ns", summary->first_ns);
    mxp__json_i64(json, "last_ns", summary->last_ns);
    put_clock(json, source);
    put_records(json, summary);
    mxp__json_u64(json, "names", source->name_count);
    mxp__json_u64(json, "lost", summary->lost);
    put_ring(json, summary, coverage);
    mxp__json_array(json, "threads");
    for (uint32_t i = 0; i < source->thread_count; i++) {
        put_thread(json, source, summary, coverage, i);
    }
    mxp__json_end(json);
    put_losses(json, source);
    put_info(json, source);
    mxp__json_end(json);
}
