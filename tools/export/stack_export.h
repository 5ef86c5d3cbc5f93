// SPDX-License-Identifier: Apache-2.0
// Folder tools/export: formats that only the command writes.
//
// An exporter of stacks: what the formats of stacks have in common. A format is an exporter with
// the callbacks below instead of its own; MXP__STACK_EXPORTER names the common ones.
#ifndef MXP_TOOLS_STACK_EXPORT_H
#define MXP_TOOLS_STACK_EXPORT_H

#include "export/stacks.h"
#include "profiler/export/export.h"

typedef struct mxp_stack_export mxp_stack_export;

typedef struct mxp_stack_exporter {
    mxp_exporter exporter;  // must stay first
    unsigned passes;  // over the stacks of each root: thread or lane
    // All but `stack` may be null. head and tail: once, around all processes. Roots of which no
    // stack has a span do not come.
    void (*head)(mxp_stack_export *at);
    void (*root)(mxp_stack_export *at, uint32_t number, unsigned pass);
    void (*stack)(mxp_stack_export *at, uint32_t number, unsigned pass);
    void (*root_end)(mxp_stack_export *at, uint32_t number, unsigned pass);
    void (*tail)(mxp_stack_export *at);
} mxp_stack_exporter;

struct mxp_stack_export {
    const mxp_stack_exporter *exporter;
    const mxp_source *first_source;  // of the trace
    mxp_stacks stacks;  // of the process at hand
    mxp_strbuf *out;
    size_t processes, process;  // how many, and the place of the one at hand
    bool made;
    size_t first, last, next;  // the root at hand: places in stacks.by_root
    unsigned pass;
    size_t roots;  // that were written, before the one at hand
    size_t written;  // stacks of this root in this pass, before the one at hand
    mxp_id_map frames;  // what mxp__stack_frame_number gave out
    uint32_t frame_count;
    uint32_t path[MXP__STACK_FRAMES_MAX];  // of the stack at hand, filled before `stack`
    uint32_t path_count;
    // The format's own, from here on.
    mxp_strbuf tables[3];
    uint64_t texts, label_process, label_thread;
};

// The number of a frame of this process, from 0; *is_new the first time. Without memory 0, which
// fails the output.
uint32_t mxp__stack_frame_number(mxp_stack_export *at, uint32_t frame, bool *is_new);

int mxp__stack_export_begin(mxp_export *run);
int mxp__stack_export_rest(mxp_export *run);
int mxp__stack_export_process(mxp_export *run);
int mxp__stack_export_end(mxp_export *run);

// clang-format off
#define MXP__STACK_EXPORTER                                                                   \
    .is_table = true, .begin = mxp__stack_export_begin, .rest = mxp__stack_export_rest,       \
    .process = mxp__stack_export_process, .end = mxp__stack_export_end
// clang-format on

#endif
