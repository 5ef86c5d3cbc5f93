// SPDX-License-Identifier: Apache-2.0
// Recording: the gate, spans, counters and the rest. Everything here may be called from any thread,
// at any time, also from a signal handler, and from a program that never starts a session. Nothing
// here fails loudly: what cannot be recorded is counted and shown in every output.
//
// The gate is always inline: one relaxed load and a predicted branch when recording is off. Past
// it comes a call of an exported function, or, if MXP_INLINE is defined before this header is
// included, the record itself (record_inline.h; its layout is in the names of the symbols it
// needs, so that a program of another layout does not start).
#ifndef MXPROF_RECORD_H
#define MXPROF_RECORD_H

#include <stdint.h>

#include <mxprof/args.h>
#include <mxprof/async.h>
#include <mxprof/format.h>
#include <mxprof/gate.h>
#include <mxprof/operator.h>
#include <mxprof/tap.h>
#include <mxprof/wait.h>
#ifdef MXP_INLINE
#include <mxprof/record_inline.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- names ------------------------------------------------------------------------------------
// The id of (category, name), made on first use; both strings are copied, invalid UTF-8 is replaced
// in outputs. `style` is MXP_STYLE_*, `unit` MXP_UNIT_*: what the first caller says stays. A name
// that is there already is found without a lock, for about the price of a record; a new one takes a
// lock. Without memory, or with the table at its cap, the answer is MXP_NAME_FULL and the loss is
// counted. Null strings count as "".
mxp_name mxp_intern(const char *category, const char *name, int style, int unit);

// The same for a text of `length_bytes` that need not end in a zero, in a category that is known by
// its id: of mxp_string, or mxp_name_category. An id that was never given out counts as none. For a
// lane (style MXP_STYLE_NONE) `unit` 1 to 255 is its place among the process's lanes: those without
// one come behind.
mxp_name mxp_intern_in(mxp_name category, const char *text, size_t length_bytes, int style,
                       int unit);

// The text of a name, and the id of its category (of a scope: the scope around it, 0 none). An id
// that was never given out: "<bad name>", 0. The text lives as long as the process. No lock.
const char *mxp_name_text(mxp_name id);
mxp_name mxp_name_category(mxp_name id);

// Shorthands: a nested span of category `category`; a plain string.
static inline mxp_name mxp_span_name(const char *category, const char *name)
{
    return mxp_intern(category, name, MXP_STYLE_SPAN, MXP_UNIT_NONE);
}
static inline mxp_name mxp_string(const char *text)
{
    return mxp_intern("", text, MXP_STYLE_NONE, MXP_UNIT_NONE);
}

// ---- spans ------------------------------------------------------------------------------------
// mxp_span_begin returns a token, 0 while recording is off; the same thread gives it back to
// mxp_span_end with the same name. Spans nest. A span that is open when the session stops is closed
// at that time and flagged; its end then records nothing. An end with a token that was given back
// before, or that no thread has got, is counted among the losses; so are spans that are open at a
// stop beyond the outermost 31 of their thread.
uint64_t mxp_span_begin_call(uint32_t classes, mxp_name name);
void mxp_span_end_call(mxp_name name, uint64_t token);

// The same as functions, gate included, for callers that cannot inline (other languages).
uint64_t mxp_begin(uint32_t classes, mxp_name name);
void mxp_end(mxp_name name, uint64_t token);

// The same for callers that read the clock (mxp_ticks) before their own work, on this thread; 0
// means now. Reading the clock waits on most CPUs for everything before it, so it is cheaper early.
// A `begin_ticks` before the last stop is replaced by now, `end_ticks` below the token by the
// token.
uint64_t mxp_begin_at(uint32_t classes, mxp_name name, uint64_t begin_ticks);
void mxp_end_at(mxp_name name, uint64_t token, uint64_t end_ticks);

static inline uint64_t mxp_span_begin_in(uint32_t classes, mxp_name name)
{
    uint32_t gate = mxp_atomic_load(&mxp_control.gate);
    if (__builtin_expect((gate & classes) == 0, 1)) {
        return 0;
    }
#ifdef MXP_INLINE
    return mxp_inline_begin(gate, name);
#else
    return mxp_span_begin_call(classes, name);
#endif
}

static inline uint64_t mxp_span_begin(mxp_name name)
{
    return mxp_span_begin_in(MXP_CLASS_USER, name);
}

static inline void mxp_span_end(mxp_name name, uint64_t token)
{
    if (__builtin_expect(token == 0, 1)) {
        return;
    }
#ifdef MXP_INLINE
    mxp_inline_end(name, token, mxp_ticks());
#else
    mxp_span_end_call(name, token);
#endif
}

// The structures that records are made from (mxp_arg, mxp_span, mxp_operator, mxp_memory) tell no
// size: checking it would cost every record. They never change. Where one must grow there is a
// second one beside it with a function of its own, mxp_span_v2 and mxp_span_emit_v2, and the first
// stays.

// A span with begin and end already known: another lane, another clock, arguments.
typedef struct mxp_span {
    mxp_name name;
    uint32_t flags;  // MXP_SPAN_*
    uint64_t begin_ticks;
    uint64_t end_ticks;  // below begin counts as begin
    uint32_t lane;  // 0: this thread; MXP_LANE_THREAD | n; or a name id
    uint32_t scope;  // 0: the thread's current one
    uint32_t clock;  // MXP_CLOCK_TRACE or a lane's own
    uint32_t arg_count;  // beyond MXP_SPAN_ARGS_MAX they are left out, and the span is flagged
    const mxp_arg *args;
} mxp_span;

// Records it if one of `classes` is on. The span and its arguments are read during the call and not
// kept.
void mxp_span_emit(uint32_t classes, const mxp_span *span);

// ---- the rest ---------------------------------------------------------------------------------
// Each of these records something of this moment if one of `classes` is on.

// A sample: from now on the counter (a name of style MXP_STYLE_COUNTER) has this value. One that is
// infinite or no number is counted among the losses.
void mxp_counter_u64(uint32_t classes, mxp_name name, uint64_t value);
void mxp_counter_i64(uint32_t classes, mxp_name name, int64_t value);
void mxp_counter_f64(uint32_t classes, mxp_name name, double value);
// A value, or how long a span took, for the histogram of its name in place of a record: whatever
// goes on, that takes the same memory. A value is of the name's unit, MXP_UNIT_BYTES or, of none,
// ns. What a process has counted before it is killed is lost.
void mxp_statistic(uint32_t classes, mxp_name name, uint64_t value);
void mxp_statistic_span(uint32_t classes, mxp_name name, uint64_t begin_ticks, uint64_t end_ticks);
// A mark; `name` has style MXP_STYLE_INSTANT, and `scope` is what it stands for, MXP_INSTANT_*.
void mxp_instant(uint32_t classes, mxp_name name, int scope);
// A point of a flow; `name` has style MXP_STYLE_FLOW, and `phase` is MXP_FLOW_*. A flow is an arrow
// that joins the spans that are open on their threads at its points. Give each an `id` of its own:
// viewers tell flows by it, some of them whatever the name.
void mxp_flow(uint32_t classes, mxp_name name, int phase, uint64_t id);

// The scope stack of this thread. Push returns the id of the new scope, whose parent is the current
// one; operators and blocks carry it. Both work while recording is off, so that scopes are right
// when it starts. A pop without a push does nothing.
uint32_t mxp_scope_push(const char *name);
void mxp_scope_pop(void);
uint32_t mxp_scope_current(void);
uint32_t mxp_scope_id(const char *name);  // of an outermost scope, without entering it

// Marks the beginning of step `number` of the program: an iteration or a frame, in which the whole
// process is until the next one begins. What overlaps (the work of several threads, each for
// somebody else) is no step: reports give no table by step of a process whose steps several threads
// have marked, and say so.
void mxp_step(uint64_t number);
// The step that is going on ends before the next one begins. Does nothing on another thread than
// the one that began it. Without it a step ends where the next one begins.
void mxp_step_end(void);

// Names the calling thread in every output. Copied.
void mxp_thread_name(const char *name);

// The calling thread's index in the trace, registering it if need be; 0xffff if it has none.
uint32_t mxp_thread_index(void);

#ifdef __cplusplus
}
#endif

// ---- scope macros -----------------------------------------------------------------------------
// A span from here to the end of the enclosing block, in C (GCC, Clang) and C++:
//
//   MXP_SPAN_SCOPE("category", "name")    the name is interned once at this site, so only literals
//                                         compile: anything else would keep the first call's text
//   MXP_SPAN_FUNCTION("category")         the same, called after the function (__func__)
//   MXP_SPAN_SCOPE_ID(id)                 an id of mxp_span_name that the program keeps
//   MXP_SPAN_SCOPE_TEXT(category, text)   any texts, made at run time: interned at every call that
//                                         records, which costs about as much as the span itself.
//                                         For few different texts: each stays for the process's
//                                         life
//
// Each is one declaration: several may be on a line; C takes none as the whole body of an `if`.
#define MXP_CONCAT_(a, b) a##b
#define MXP_CONCAT(a, b) MXP_CONCAT_(a, b)

typedef struct mxp_scoped {
    mxp_name name;
    uint64_t token;
} mxp_scoped;

static inline mxp_scoped mxp_scoped_begin(mxp_name *cache, const char *category, const char *text)
{
    mxp_scoped scoped = {0, 0};
    if (__builtin_expect(!mxp_enabled(MXP_CLASS_USER), 1)) {
        return scoped;
    }
    scoped.name = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (__builtin_expect(scoped.name == MXP_NAME_NONE, 0)) {
        scoped.name = mxp_span_name(category, text);
        __atomic_store_n(cache, scoped.name, __ATOMIC_RELAXED);
    }
    scoped.token = mxp_span_begin(scoped.name);
    return scoped;
}

static inline mxp_scoped mxp_scoped_begin_id(mxp_name id)
{
    mxp_scoped scoped = {id, mxp_span_begin(id)};
    return scoped;
}

static inline mxp_scoped mxp_scoped_begin_text(const char *category, const char *text)
{
    mxp_scoped scoped = {0, 0};
    if (__builtin_expect(!mxp_enabled(MXP_CLASS_USER), 1)) {
        return scoped;
    }
    return mxp_scoped_begin_id(mxp_span_name(category, text));
}

static inline void mxp_scoped_end(const mxp_scoped *scoped)
{
    mxp_span_end(scoped->name, scoped->token);
}

#ifdef __cplusplus
struct mxp_scoped_guard {
    explicit mxp_scoped_guard(mxp_scoped begun) : scoped(begun)
    {
    }
    ~mxp_scoped_guard()
    {
        mxp_scoped_end(&scoped);
    }
    mxp_scoped_guard(const mxp_scoped_guard &) = delete;
    mxp_scoped_guard &operator=(const mxp_scoped_guard &) = delete;
    mxp_scoped scoped;
};
#define MXP_SCOPED_(number, begun) const mxp_scoped_guard MXP_CONCAT(mxp_guard_, number)(begun)
// Within a lambda __func__ would be the lambda's, so it is handed in.
#define MXP_SCOPED_CACHED_(category, text)                          \
    [](const char *mxp_text) -> mxp_scoped {                        \
        static mxp_name mxp_cache;                                  \
        return mxp_scoped_begin(&mxp_cache, "" category, mxp_text); \
    }(text)
#else
#define MXP_SCOPED_(number, begun)                   \
    const mxp_scoped MXP_CONCAT(mxp_scoped_, number) \
        __attribute__((cleanup(mxp_scoped_end), unused)) = begun
#define MXP_SCOPED_CACHED_(category, text)                 \
    __extension__({                                        \
        static mxp_name mxp_cache;                         \
        mxp_scoped_begin(&mxp_cache, "" category, (text)); \
    })
#endif

#define MXP_SPAN_SCOPE(category, text) \
    MXP_SCOPED_(__COUNTER__, MXP_SCOPED_CACHED_(category "", "" text ""))
#define MXP_SPAN_FUNCTION(category) \
    MXP_SCOPED_(__COUNTER__, MXP_SCOPED_CACHED_(category "", __func__))
#define MXP_SPAN_SCOPE_ID(id) MXP_SCOPED_(__COUNTER__, mxp_scoped_begin_id(id))
#define MXP_SPAN_SCOPE_TEXT(category, text) \
    MXP_SCOPED_(__COUNTER__, mxp_scoped_begin_text((category), (text)))

#endif
