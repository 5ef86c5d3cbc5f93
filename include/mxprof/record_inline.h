// SPDX-License-Identifier: Apache-2.0
// The record path itself: two clock reads, one 16-byte store, one publish. Included by record.h
// under MXP_INLINE and by the library; not for direct use.
//
// Who writes, who reads. A thread's mxp_recorder is written by that thread (and by signal handlers
// that interrupt it); other threads read `cursor`, `busy` and `open`, and may lower `limit` to send
// the owner into the slow path. No lock, no read-modify-write, no call on the fast path.
//
// Stop. The session clears the gate, makes every thread pass a barrier (membarrier) and waits until
// none is `busy`: from then on no record begun before is still being written. So `busy` must be set
// before the gate and closed_ticks are read.
//
// Signal handlers. One that finds `busy` set counts a loss and returns. In mxp_inline_begin, where
// busy is not set, the order of the two stores makes room first: a handler in between uses the next
// slot and leaves everything as it found it.
#ifndef MXPROF_RECORD_INLINE_H
#define MXPROF_RECORD_INLINE_H

#include <mxprof/atomic.h>
#include <mxprof/format.h>
#include <mxprof/gate.h>

#ifdef __cplusplus
extern "C" {
#endif

// Points at which tests of the library stop a thread; empty wherever else this is compiled.
#ifndef MXP_INLINE_POINT
#define MXP_INLINE_POINT(name)
#endif

#define MXP_REASON_BITS 21u  // of each of the last losses in a RECORDER's reserved[2]
#define MXP_REASON_FILE_LIMIT (UINT64_C(1) << 63)  // in it, too: see mxp__thread_lose
#define MXP_OPEN_MAX 31u  // open spans kept by name; deeper ones are recorded all the same

typedef struct mxp_open_span {
    mxp_atomic_u64 begin;  // 0: no span here, or just being opened
    mxp_atomic_u32 name;
    mxp_atomic_u32
        closed;  // the low half of `begin` | 1: a stop has written the span that began then
} mxp_open_span;

//   0        64                    576
//   | hot    | open[0..31]         | the library's own part ...
typedef struct mxp_recorder {
    MXP_ATOMIC(uint64_t *)
    cursor;  // where the next record goes; release, pairs with the reader's acquire
    MXP_ATOMIC(uint64_t *) limit;  // records must end at or before this
    mxp_atomic_u64 base_ticks;  // of the current chunk
    mxp_atomic_u32 busy;  // inside a record: where on the stack (MXP_BUSY_ANYWHERE), or 0
    mxp_atomic_u32 depth;  // open spans, also those beyond open[]
    mxp_atomic_u64 lost_busy;  // records a handler could not make because busy was set
    mxp_atomic_u64 reserved[3];
    mxp_open_span open[MXP_OPEN_MAX + 1];  // the last one stands for all deeper ones
} mxp_recorder;

#define MXP_BUSY_ANYWHERE 1u  // a record that does not say where it is

// The two verbs of a recording thread; what is rarer is in the library (recorder/protocol.h).
//
// From `enter` on a freeze waits for the thread, and a handler on it does not record. The low half
// of the stack's address tells the library whether it still is inside of this record, or a handler
// has left it by a jump. As many instructions as for any other mark.
static inline void mxp_inline_enter(mxp_recorder *self)
{
#if defined(__x86_64__) && !defined(__ILP32__)
    __asm__ volatile("movl %%esp, %0" : "=m"(self->busy.value));
#else
    mxp_atomic_store(&self->busy, MXP_BUSY_ANYWHERE);
#endif
    mxp_compiler_barrier();
}

// Whoever finds the thread outside of a record sees all that it has recorded.
static inline void mxp_inline_leave(mxp_recorder *self)
{
    mxp_compiler_barrier();
    mxp_atomic_store_release(&self->busy, 0u);
}

// The calling thread's recorder, null before its first record. In the library's initial-exec TLS.
extern __thread mxp_recorder *mxp_self __asm__(MXP_LAYOUT_NAME("mxp_self"))
    __attribute__((tls_model("initial-exec")));

uint64_t mxp_span_begin_slow(mxp_name name) __asm__(MXP_LAYOUT_NAME("mxp_span_begin_slow"));
void mxp_span_end_slow(mxp_name name, uint64_t token,
                       uint64_t end_ticks) __asm__(MXP_LAYOUT_NAME("mxp_span_end_slow"));

static inline mxp_open_span *mxp_open_slot(mxp_recorder *self, uint32_t depth)
{
    return &self->open[depth < MXP_OPEN_MAX ? depth : MXP_OPEN_MAX];
}

// Takes a slot for a span that begins now; its begin is stored next.
static inline mxp_open_span *mxp_inline_push(mxp_recorder *self, mxp_name name)
{
    uint32_t depth = mxp_atomic_own(&self->depth);
    mxp_atomic_store(&self->depth, depth + 1);
    mxp_compiler_barrier();
    mxp_open_span *slot = mxp_open_slot(self, depth);
    mxp_atomic_store(&slot->name, name);
    return slot;
}

static inline uint64_t mxp_inline_begin(uint32_t gate, mxp_name name)
{
#ifdef MXP_CPU_COUNTER
    mxp_recorder *self = mxp_self;
    if (__builtin_expect(self != NULL && (gate & MXP_GATE_LONG_BEGIN) == 0, 1)) {
        mxp_open_span *slot = mxp_inline_push(self, name);
        uint64_t now = mxp_cpu_counter();
        mxp_atomic_store_release(&slot->begin, now);  // pairs with close_open_spans
        return now;
    }
#endif
    (void)gate;
    return mxp_span_begin_slow(name);
}

// `now` is read first of all: what else an end does then runs beside what comes after it.
// `control` is mxp_control, except where the library measures what a record costs.
static inline void mxp_inline_end_under(const mxp_control_block *control, mxp_name name,
                                        uint64_t token, uint64_t now)
{
    mxp_recorder *self = mxp_self;
    if (__builtin_expect(self == NULL || mxp_atomic_own(&self->busy) != 0, 0)) {
        mxp_span_end_slow(name, token, 0);
        return;
    }
    mxp_inline_enter(self);
    MXP_INLINE_POINT(BUSY);
    // Pairs with mxp__thaw: what was changed here during a freeze is seen with the gate after it.
    // Cursor and base are read before it is known whether there is a freeze, which may change them.
    uint32_t gate = mxp_atomic_load_acquire(&control->gate);
    uint64_t closed = mxp_atomic_load(&control->closed_ticks);
    MXP_INLINE_POINT(GATE);
    uint64_t *cursor = mxp_atomic_load(&self->cursor);
    uint64_t base = mxp_atomic_load(&self->base_ticks);
    uint64_t duration = now - token;
    uint32_t depth = mxp_atomic_own(&self->depth) - 1;
    mxp_open_span *slot = mxp_open_slot(self, depth);
    // One branch for everything unusual: recording went off, the span was closed, it is not the
    // innermost one, it is too long for 32 bits, the chunk is too old or full.
    if (__builtin_expect(((gate & (MXP_CLASS_ALL | MXP_GATE_TAP | MXP_GATE_HOLD)) - 1u) >=
                                 MXP_CLASS_ALL ||
                             token <= closed || mxp_atomic_own(&slot->begin) != token ||
                             (duration >> 32 | (now - base) >> 47) != 0 ||
                             cursor >= mxp_atomic_load(&self->limit),
                         0)) {
        mxp_span_end_slow(name, token, now);
        return;
    }
    mxp_atomic_store(&slot->begin, 0);
    mxp_atomic_store(&self->depth, depth);
    cursor[0] = MXP_KIND_SPAN | 1u << 8 | token << 16;
    cursor[1] = name | duration << 32;
    MXP_INLINE_POINT(WORDS);
    mxp_atomic_store_release(&self->cursor, cursor + 2);
    mxp_inline_leave(self);
}

static inline void mxp_inline_end(mxp_name name, uint64_t token, uint64_t now)
{
    mxp_inline_end_under(&mxp_control, name, token, now);
}

// Records that a library built together with this one writes in place (operators): space for
// `units` of MXP_RECORD_UNIT for a record stamped `now`, with `busy` taken. Between the two calls
// only the words are written, all of them. Null: the caller goes the long way (mxp_operator_emit),
// which knows everything unusual.
static inline uint64_t *mxp_inline_open(uint32_t classes, unsigned units, uint64_t now)
{
    mxp_recorder *self = mxp_self;
    if (__builtin_expect(self == NULL || mxp_atomic_own(&self->busy) != 0, 0)) {
        return NULL;
    }
    mxp_inline_enter(self);
    MXP_INLINE_POINT(BUSY);
    uint32_t gate = mxp_atomic_load_acquire(&mxp_control.gate);
    MXP_INLINE_POINT(GATE);
    uint64_t *words = mxp_atomic_load(&self->cursor);
    // `now` may lie a little before the chunk's base.
    uint64_t base = mxp_atomic_load(&self->base_ticks);
    uint64_t distance = now - base + (UINT64_C(1) << 46);
    if (__builtin_expect((gate & classes) == 0 || (gate & (MXP_GATE_HOLD | MXP_GATE_TAP)) != 0 ||
                             distance >> 47 != 0 ||
                             words + 2 * units > mxp_atomic_load(&self->limit),
                         0)) {
        mxp_inline_leave(self);
        return NULL;
    }
    return words;
}

// `end`: past the last word.
static inline void mxp_inline_close(uint64_t *end)
{
    mxp_recorder *self = mxp_self;
    MXP_INLINE_POINT(WORDS);
    mxp_atomic_store_release(&self->cursor, end);
    mxp_inline_leave(self);
}

#ifdef __cplusplus
}
#endif
#endif
