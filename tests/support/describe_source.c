// SPDX-License-Identifier: Apache-2.0
// The describing of sources, for comparisons and for touching every byte a fuzzer can reach.
#include "describe_source.h"

#include <inttypes.h>

#include "base/text.h"
#include "profiler/trace/reader.h"

static void put_name(const mxp_source *source, uint32_t id, mxp_strbuf *out)
{
    mxp_name_view name = source->name(source, id);
    mxp__json_string(out, name.text, name.length);
}

static void put_text(const mxp_event *event, uint32_t i, mxp_strbuf *out)
{
    uint32_t length, whole;
    const char *text = mxp__event_arg_text(event, i, &length, &whole);
    mxp__strbuf_printf(out, " of %" PRIu32 " ", whole);
    mxp__json_string(out, text != NULL ? text : "", text != NULL ? length : 0);
}

static void put_args(const mxp_source *source, const mxp_event *event, mxp_strbuf *out)
{
    if (event->lane != 0) {
        mxp__strbuf_printf(out, " lane %" PRIx32, event->lane);
    }
    if (mxp__event_clock(event) != MXP_CLOCK_TRACE) {
        mxp__strbuf_printf(out, " clock %" PRIu32, mxp__event_clock(event));
    }
    for (uint32_t i = 0; i < mxp__event_arg_count(event); i++) {
        uint32_t key, type;
        uint64_t value;
        mxp__event_arg(event, i, &key, &type, &value);
        mxp__strbuf_putc(out, ' ');
        put_name(source, key, out);
        mxp__strbuf_printf(out, "=%" PRIu32 ":%" PRIx64, type, value);
        if (type == MXP_ARG_TEXT) {
            put_text(event, i, out);
        }
    }
}

static void put_operator(const mxp_source *source, const mxp_event *event, mxp_strbuf *out)
{
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    mxp__strbuf_printf(out,
                       " id %" PRIu32 " released by %" PRIu32 " parent %" PRIu32 " device %" PRIu32
                       " pushed by %" PRIu32 " at %" PRIu64 " ready %" PRIu64 " flops %a bytes %a",
                       view.id, view.released_by, view.bulk_parent, view.device, view.push_thread,
                       view.push_ticks, view.ready_ticks, (double)view.flops, (double)view.bytes);
    mxp__strbuf_puts(out, " scope ");
    put_name(source, view.scope, out);
    mxp__strbuf_puts(out, " shape ");
    put_name(source, view.shape, out);
    for (uint32_t i = 0; i < view.variable_count; i++) {
        mxp__strbuf_printf(out, " %" PRIx32, mxp__event_variable(event, i));
    }
}

static void put_memory(const mxp_source *source, const mxp_event *event, mxp_strbuf *out)
{
    mxp_memory_view view;
    mxp__event_memory(event, &view);
    mxp__strbuf_printf(out,
                       " block %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " device %" PRIu32
                       " category %" PRIu32 " scope ",
                       view.block, view.requested_bytes, view.rounded_bytes, view.live_bytes,
                       view.device, view.category);
    put_name(source, view.scope, out);
}

void describe_event(const mxp_source *source, const mxp_event *event, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "kind %u phase %u flags %x thread %" PRIu32, (unsigned)event->kind,
                       (unsigned)event->phase, (unsigned)event->flags, event->thread);
    mxp__strbuf_printf(out, " ticks %" PRIu64 "-%" PRIu64 " ns %" PRId64 "-%" PRId64 " ",
                       event->begin_ticks, event->end_ticks, event->begin_ns, event->end_ns);
    put_name(source, event->name, out);
    switch (event->kind) {
    case MXP_KIND_SPAN:
        put_args(source, event, out);
        break;
    case MXP_KIND_OPERATOR:
        put_operator(source, event, out);
        break;
    case MXP_KIND_MEMORY:
        put_memory(source, event, out);
        break;
    default:
        mxp__strbuf_printf(out, " value %" PRIx64, event->value.u64);
        break;
    }
    mxp__strbuf_putc(out, '\n');
}

int describe_events(mxp_source *source, mxp_strbuf *out)
{
    mxp_reader *reader;
    int result = mxp__reader_open(source, &reader);
    if (result != 0) {
        return result;
    }
    mxp_event event;
    while ((result = mxp__reader_next(reader, &event)) == 1) {
        describe_event(source, &event, out);
    }
    mxp__reader_close(reader);
    return result;
}

static void put_clock(const mxp_timebase *timebase, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "clock %" PRIu32 " residual %a jump %" PRId64 " at %" PRIu64 "\n",
                       timebase->source, timebase->residual_ns, timebase->jump_ns,
                       timebase->jump_ticks);
    for (size_t i = 0; i < timebase->point_count; i++) {
        const mxp_clock_point *point = &timebase->points[i];
        mxp__strbuf_printf(
            out, "point %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            point->ticks, point->monotonic_ns, point->raw_ns, point->boottime_ns,
            point->realtime_ns, point->bracket_ticks);
    }
    for (size_t i = 0; i < timebase->segment_count; i++) {
        const mxp_clock_segment *segment = &timebase->segments[i];
        mxp__strbuf_printf(out, "segment %" PRIu64 " %" PRId64 " %" PRIx64 "\n", segment->ticks0,
                           segment->ns0, segment->mult);
    }
}

static void put_threads(const mxp_source *source, mxp_strbuf *out)
{
    for (uint32_t i = 0; i < source->thread_count; i++) {
        const mxp_thread_entry *thread = &source->threads[i];
        mxp__strbuf_printf(out,
                           "thread %" PRIu32 " tid %" PRIu32 " %" PRIu64 "-%" PRIu64
                           " records %" PRIu64 " lost %" PRIu64 " ",
                           thread->index, thread->tid, thread->start_ticks, thread->end_ticks,
                           thread->records, thread->lost);
        put_name(source, thread->name, out);
        mxp__strbuf_putc(out, '\n');
    }
}

static void put_modules(const mxp_source *source, mxp_strbuf *out)
{
    for (size_t i = 0; i < source->module_count; i++) {
        const mxp_module_entry *module = &source->modules[i];
        mxp__strbuf_printf(out, "module %" PRIx64 " %" PRIx64 "+%" PRIx64 " %" PRIu64 "-%" PRIu64,
                           module->bias, module->begin, module->size_bytes, module->from_ticks,
                           module->to_ticks);
        mxp__strbuf_printf(out, " id %" PRIu32 ":%02x name ", module->build_id_bytes,
                           (unsigned)module->build_id[MXP_BUILD_ID_BYTES - 1]);
        put_name(source, module->name, out);
        mxp__strbuf_puts(out, " path ");
        put_name(source, module->path, out);
        mxp__strbuf_putc(out, '\n');
    }
}

static void put_stats(const mxp_source *source, mxp_strbuf *out)
{
    for (size_t i = 0; i < source->stats_count; i++) {
        const mxp_histogram *histogram = source->stats[i].histogram;
        mxp__strbuf_puts(out, "stats ");
        put_name(source, source->stats[i].name, out);
        mxp__strbuf_printf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, histogram->count,
                           histogram->total, histogram->min, histogram->max);
        for (uint32_t b = 0; b < MXP__HISTOGRAM_BUCKETS; b++) {
            if (histogram->bucket[b] != 0) {
                mxp__strbuf_printf(out, " %" PRIu32 ":%" PRIu32, b, histogram->bucket[b]);
            }
        }
        mxp__strbuf_putc(out, '\n');
    }
}

void describe_tables(const mxp_source *source, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "pid %" PRIu32 "\n", source->pid);
    put_clock(source->timebase, out);
    for (uint32_t id = 0; id < source->name_count; id++) {
        mxp_name_view name = source->name(source, id);
        mxp__strbuf_printf(out, "name %" PRIu32 " of %" PRIu32 " style %u unit %u ", id,
                           name.category, (unsigned)name.style, (unsigned)name.unit);
        put_name(source, id, out);
        mxp__strbuf_putc(out, '\n');
    }
    put_threads(source, out);
    put_modules(source, out);
    for (size_t i = 0; i < source->loss_count; i++) {
        const mxp_loss_entry *loss = &source->losses[i];
        mxp__strbuf_printf(
            out, "loss %" PRIx32 " %" PRIu32 " %" PRIu64 " %" PRIu64 "-%" PRIu64 "\n", loss->thread,
            loss->reason, loss->count, loss->from_ticks, loss->to_ticks);
    }
    put_stats(source, out);
    for (size_t i = 0; i < source->info_count; i++) {
        mxp__strbuf_printf(out, "info %s=%s\n", source->info[i].key, source->info[i].value);
    }
}
