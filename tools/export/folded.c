// SPDX-License-Identifier: Apache-2.0
// Folded stacks, a line each: "thread;outer;inner 1234". What makes flame graphs reads them.
#include <inttypes.h>

#include "base/text.h"
#include "export/command_exporters.h"
#include "export/stack_export.h"

// Appends the frame without what would end it or its line.
static void put_frame(const mxp_stack_export *at, uint32_t frame)
{
    mxp_strbuf name = {0};
    mxp__frame_name(at->stacks.source, frame, &name);
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        name.data[i] = c == ';' ? ':' : (unsigned char)c < ' ' ? ' ' : c;
    }
    if (name.length == 0) {
        mxp__strbuf_puts(&name, "<no name>");
    }
    mxp__utf8_string(at->out, mxp__strbuf_text(&name), name.length);
    at->out->failed = at->out->failed || name.failed;
    mxp__strbuf_fini(&name);
}

// A stack without time of its own would be a line that says nothing.
static void put_stack(mxp_stack_export *at, uint32_t number, unsigned pass)
{
    (void)pass;
    uint64_t own_ns = at->stacks.stacks[number].own_ns;
    if (own_ns == 0) {
        return;
    }
    if (at->processes > 1) {
        mxp__stacks_process(at->stacks.source, at->out);
        mxp__strbuf_putc(at->out, ';');
    }
    for (uint32_t i = 0; i < at->path_count; i++) {
        put_frame(at, at->path[i]);
        mxp__strbuf_putc(at->out, i + 1 < at->path_count ? ';' : ' ');
    }
    mxp__strbuf_printf(at->out, "%" PRIu64 "\n", own_ns);
}

static const mxp_stack_exporter folded = {
    .exporter = {.name = "folded",
                 .extension = ".folded",
                 .help = "stacks with their own time in ns, a line each, for flame graphs",
                 MXP__STACK_EXPORTER},
    .passes = 1,
    .stack = put_stack,
};
const mxp_exporter *const mxp__exporter_folded = &folded.exporter;
