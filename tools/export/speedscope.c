// SPDX-License-Identifier: Apache-2.0
// speedscope's own format: a profile a thread or lane, of samples weighted by own time. Its frames
// are known at the end, so their table stands there.
#include <inttypes.h>
#include <mxprof/version.h>

#include "base/text.h"
#include "export/command_exporters.h"
#include "export/stack_export.h"

enum { SAMPLES, WEIGHTS, PASSES };
enum { TABLE_FRAMES };

static void put_head(mxp_stack_export *at)
{
    mxp__strbuf_puts(at->out,
                     "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                     "\"exporter\":\"mxprof@" MXP_VERSION_STRING "\",\n\"profiles\":[");
}

static void put_root(mxp_stack_export *at, uint32_t number, unsigned pass)
{
    if (pass == WEIGHTS) {
        mxp__strbuf_puts(at->out, "\n],\"weights\":[");
        return;
    }
    mxp_strbuf name = {0};
    mxp__stacks_process(at->stacks.source, &name);
    mxp__strbuf_puts(&name, ": ");
    mxp__frame_name(at->stacks.source, at->stacks.stacks[number].frame, &name);
    mxp__strbuf_puts(at->out, at->roots == 0 ? "\n" : ",\n");
    mxp__strbuf_puts(at->out, "{\"type\":\"sampled\",\"name\":");
    mxp__json_string(at->out, mxp__strbuf_text(&name), name.length);
    mxp__strbuf_puts(at->out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"samples\":[");
    at->out->failed = at->out->failed || name.failed;
    mxp__strbuf_fini(&name);
}

static void put_frame(mxp_stack_export *at, uint32_t frame)
{
    bool is_new;
    mxp__strbuf_printf(at->out, "%" PRIu32, mxp__stack_frame_number(at, frame, &is_new));
    if (!is_new) {
        return;
    }
    mxp_strbuf name = {0}, *table = &at->tables[TABLE_FRAMES];
    mxp__frame_name(at->stacks.source, frame, &name);
    mxp__strbuf_puts(table, at->frame_count == 1 ? "\n{\"name\":" : ",\n{\"name\":");
    mxp__json_string(table, mxp__strbuf_text(&name), name.length);
    mxp__strbuf_putc(table, '}');
    at->out->failed = at->out->failed || name.failed || table->failed;
    mxp__strbuf_fini(&name);
}

// The thread is what the profile is called, so its frame is left out.
static void put_stack(mxp_stack_export *at, uint32_t number, unsigned pass)
{
    mxp__strbuf_puts(at->out, at->written == 0 ? "\n" : ",\n");
    if (pass == WEIGHTS) {
        mxp__strbuf_printf(at->out, "%" PRIu64, at->stacks.stacks[number].own_ns);
        return;
    }
    mxp__strbuf_putc(at->out, '[');
    for (uint32_t i = 1; i < at->path_count; i++) {
        mxp__strbuf_puts(at->out, i == 1 ? "" : ",");
        put_frame(at, at->path[i]);
    }
    mxp__strbuf_putc(at->out, ']');
}

static void put_root_end(mxp_stack_export *at, uint32_t number, unsigned pass)
{
    (void)number;
    if (pass != WEIGHTS) {
        return;
    }
    uint64_t sum = 0;
    for (size_t i = at->first; i < at->last; i++) {
        sum += at->stacks.stacks[at->stacks.by_root[i]].own_ns;
    }
    mxp__strbuf_printf(at->out, "\n],\"endValue\":%" PRIu64 "}", sum);
}

static void put_tail(mxp_stack_export *at)
{
    mxp_strbuf *frames = &at->tables[TABLE_FRAMES];
    mxp__strbuf_puts(at->out, "\n],\n\"shared\":{\"frames\":[");
    mxp__strbuf_append(at->out, mxp__strbuf_text(frames), frames->length);
    mxp__strbuf_puts(at->out, "\n]}}\n");
}

static const mxp_stack_exporter speedscope = {
    .exporter = {.name = "speedscope",
                 .extension = ".speedscope.json",
                 .help = "stacks with their own time, for speedscope",
                 MXP__STACK_EXPORTER},
    .passes = PASSES,
    .head = put_head,
    .root = put_root,
    .stack = put_stack,
    .root_end = put_root_end,
    .tail = put_tail,
};
const mxp_exporter *const mxp__exporter_speedscope = &speedscope.exporter;
