// SPDX-License-Identifier: Apache-2.0
// A decoded record, and the one decoder of all record kinds.
#ifndef MXP_TRACE_EVENT_H
#define MXP_TRACE_EVENT_H

#include "trace/source.h"

typedef struct mxp_event {
    uint8_t kind;            // MXP_KIND_*; SPAN also for long spans
    uint8_t phase;           // scope of an instant, phase of a flow, what of a meta, type of a counter
    uint16_t flags;          // MXP_SPAN_*, MXP_OP_*, MXP_MEM_*
    uint32_t name;
    uint32_t thread;         // index of the thread that wrote it
    uint32_t lane;           // of a long span, else 0
    uint64_t id;             // unique in the trace: block sequence and place in the block
    uint64_t begin_ticks, end_ticks;  // equal for everything that has no duration
    int64_t begin_ns, end_ns;
    union {
        uint64_t u64;        // counter, flow id, meta value
        int64_t i64;
        double f64;
    } value;
    const uint64_t *words;   // the record itself: kind-specific fields are read from here
} mxp_event;

// The full ticks of a record's stamp: the value nearest to the block's base, before or after it
// (a span may have begun before its chunk was opened).
static inline uint64_t mxp__stamp_ticks(uint64_t base_ticks, uint64_t word0)
{
    uint64_t distance = (word0 >> 16) - base_ticks;  // only its low 48 bits mean something
    return base_ticks + (uint64_t)((int64_t)(distance << 16) >> 16);
}

typedef struct mxp_decoder {
    const mxp_timebase *timebase;
    mxp_block block;
    const uint64_t *at;
    size_t segment;          // hint
} mxp_decoder;

void mxp__decoder_begin(mxp_decoder *decoder, const mxp_timebase *timebase,
                        const mxp_block *block);

// The next record that is known to this reader (VARIABLES records are skipped: they are reached
// from their operator by mxp__event_variable). 1, or 0 at the end of the block, or MXP_EFORMAT if a
// length is 0 or reaches beyond the block.
int mxp__decoder_next(mxp_decoder *decoder, mxp_event *event);

// Long span: argument `i` of mxp__event_arg_count.
uint32_t mxp__event_arg_count(const mxp_event *event);
void mxp__event_arg(const mxp_event *event, uint32_t i, uint32_t *key, uint32_t *type,
                    uint64_t *value);

// Operator fields.
typedef struct mxp_operator_view {
    uint32_t id, released_by, bulk_parent, scope, shape, device, push_thread, variable_count;
    uint64_t push_ticks, ready_ticks;
    float flops, bytes;
} mxp_operator_view;
void mxp__event_operator(const mxp_event *event, mxp_operator_view *view);
uint32_t mxp__event_variable(const mxp_event *event, uint32_t i);

// Memory fields.
typedef struct mxp_memory_view {
    uint64_t block, requested_bytes, rounded_bytes, live_bytes;
    uint32_t device, category, scope;
} mxp_memory_view;
void mxp__event_memory(const mxp_event *event, mxp_memory_view *view);

#endif
