// SPDX-License-Identifier: Apache-2.0
// The own time of each stack of one process, for formats that show stacks and sums instead of
// moments. A stack begins with a thread or a lane; then come the spans from the outermost to the
// innermost; in front of an operator stand the scopes that it was pushed in. Tasks and frames,
// which overlap others, are in no stack.
//
// Memory: a node a stack, at most MXP__STACKS_MAX. Beyond that, and where a stack would have more
// than MXP__STACK_FRAMES_MAX frames, a span counts in what is around it.
#ifndef MXP_TOOLS_STACKS_H
#define MXP_TOOLS_STACKS_H

#include "base/id_map.h"
#include "base/strbuf.h"
#include "profiler/trace/source.h"

enum { MXP__STACKS_MAX = 1 << 20, MXP__STACK_FRAMES_MAX = 1024 };

// A frame is a name id, or a thread: this with its index.
#define MXP__FRAME_THREAD 0x80000000u

typedef struct mxp_stack {
    uint32_t around;  // number of the stack without its last frame; 0: this is a root
    uint32_t frame;
    uint32_t root;  // number of the stack that is its first frame
    uint32_t frames;  // how many
    uint64_t spans, own_ns;
} mxp_stack;

typedef struct mxp_stacks {
    mxp_source *source;
    mxp_stack *stacks;  // by number; 0 is none; each comes after the one around it
    size_t count, capacity;
    uint32_t *by_root;  // numbers of all: those of one root together
    mxp_id_map known;
    uint64_t async_spans, async_ns;  // left out
    uint64_t folded;  // spans that count in what is around them
} mxp_stacks;

// Of a source of one process. On MXP_EFORMAT (a range was damaged) the rest is there; on any error
// mxp__stacks_fini is due all the same.
int mxp__stacks_make(mxp_source *source, mxp_stacks *stacks);
void mxp__stacks_fini(mxp_stacks *stacks);

// The frames of a stack, the first one first.
void mxp__stack_path(const mxp_stacks *stacks, uint32_t number,
                     uint32_t frames[MXP__STACK_FRAMES_MAX]);
// Appends the name of a frame: of a thread without a name "thread N".
void mxp__frame_name(const mxp_source *source, uint32_t frame, mxp_strbuf *out);
// Appends "python3 4711", by which a process is told from others.
void mxp__stacks_process(const mxp_source *source, mxp_strbuf *out);
// Appends lines about what is in no stack; nothing if all is. `notes` may be null.
void mxp__stacks_note(const mxp_stacks *stacks, mxp_strbuf *notes);

#endif
