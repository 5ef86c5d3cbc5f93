// SPDX-License-Identifier: Apache-2.0
// A source built by hand: threads, names and records appended one by one, then read like any other
// source. One tick is one nanosecond, tick 0 is trace time 0. Running out of memory aborts. Append
// everything first: blocks that were handed out are valid only until the next append.
#ifndef FAKE_SOURCE_H
#define FAKE_SOURCE_H

#include <mxprof/record.h>

#include "profiler/trace/source.h"

// pid 4711, names 0 and 1 as in every trace, no thread. Freed by mxp__source_close.
mxp_source *fake_source_create(void);

// From `ticks0` on a tick is mult / 2^32 ns. Continues the conversion before it.
void fake_segment(mxp_source *source, uint64_t ticks0, uint64_t mult);

// ---- names and threads -------------------------------------------------------------------------
// The id of (category, text), made on first use; `category` becomes a plain string entry, "" is 0.
uint32_t fake_name(mxp_source *source, const char *category, const char *text, int style, int unit);
uint32_t fake_span_name(mxp_source *source, const char *category, const char *text);
uint32_t fake_string(mxp_source *source, const char *text);
// A new entry at every call, category by id and text with its length (zeros allowed).
uint32_t fake_name_bytes(mxp_source *source, uint32_t category, const char *text, size_t length,
                         int style, int unit);
// The scope `text` within scope `parent` (0: outermost).
uint32_t fake_scope(mxp_source *source, uint32_t parent, const char *text);

// A new thread; its index. tid is 1000 + index. `name` may be null.
uint32_t fake_thread(mxp_source *source, const char *name);
mxp_thread_entry *fake_thread_entry(mxp_source *source, uint32_t thread);

// ---- records -----------------------------------------------------------------------------------
// Records are taken as they come: append them per thread in the order of their ends.
// A lean span, or a long one if it lasts 2^32 ticks or more.
void fake_span(mxp_source *source, uint32_t thread, uint32_t name, uint64_t begin, uint64_t end);
void fake_long_span(mxp_source *source, uint32_t thread, const mxp_span *span);
void fake_counter_u64(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks,
                      uint64_t value);
void fake_counter_i64(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks,
                      int64_t value);
void fake_counter_f64(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks,
                      double value);
void fake_instant(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks, int scope);
// On a lane, as mxp_flow_point has it; fake_flow's are on the thread.
void fake_flow_on(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks, int phase,
                  uint64_t id, uint32_t lane);
void fake_flow(mxp_source *source, uint32_t thread, uint32_t name, uint64_t ticks, int phase,
               uint64_t id);
void fake_meta(mxp_source *source, uint32_t thread, int what, uint32_t name, uint64_t ticks,
               uint64_t value);
void fake_memory(mxp_source *source, uint32_t thread, uint64_t ticks, const mxp_memory *memory);
// With its VARIABLES records; push and ready 0: as start.
void fake_operator(mxp_source *source, uint32_t thread, const mxp_operator *op);
// The same as a record of kind HIDDEN.
void fake_hidden_operator(mxp_source *source, uint32_t thread, const mxp_operator *op);
// A block that was there before; of `memory` all but flags and live bytes count.
void fake_census(mxp_source *source, uint32_t thread, uint64_t ticks, const mxp_memory *memory);

typedef struct fake_wait_record {
    uint64_t begin_ticks, end_ticks;
    uint32_t name, ended_by, variable;
    uint32_t what, flags;  // MXP_WAIT_*
} fake_wait_record;
void fake_wait(mxp_source *source, uint32_t thread, const fake_wait_record *wait);
// Any words, stamped around `ticks` (which is what a new block takes as its base).
void fake_words(mxp_source *source, uint32_t thread, uint64_t ticks, const uint64_t *words,
                size_t count);

// The next record of the thread opens a new block with this base (also done when a block is full;
// then the base is the end of its first record).
void fake_range(mxp_source *source, uint32_t thread, uint64_t base_ticks, uint64_t lost_before);

// ---- the rest ----------------------------------------------------------------------------------
void fake_loss(mxp_source *source, const mxp_loss_entry *loss);
void fake_info(mxp_source *source, const char *key, const char *value);
// Statistics of `name` over `count` durations in ns.
void fake_stats(mxp_source *source, uint32_t name, const uint64_t *values, size_t count);

#endif
