// SPDX-License-Identifier: Apache-2.0
// The aggregate by scope. Records of a thread come in the order of their ends, so a span comes
// after all spans inside it: `pending` keeps the finished spans that nothing around them has
// claimed yet, in the order of their begins; a new span claims those that began in it, and what
// they leave of its duration is its self time. Which scope is the innermost follows from pushes and
// pops alone, because a scope's entry names the one around it.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/scope_path.h"
#include "profiler/export/table/aggregate_state.h"

// Beyond this many, neighbours are merged two by two. A span that begins between two merged ones,
// half a million siblings before its end, would be off by one sibling.
enum { PENDING_MAX = 1 << 20 };

enum { STYLE_UNKNOWN = 0xff };

typedef struct pending_span {
    int64_t begin_ns;
    uint64_t duration_ns;
} pending_span;

typedef struct thread_scope {
    uint32_t scope;  // the innermost one that is open
    pending_span *pending;
    size_t pending_count, pending_capacity;
} thread_scope;

struct mxp_scope_state {
    thread_scope *threads;
    size_t thread_count, thread_capacity;
};

typedef struct scope_pass {
    mxp_aggregate *aggregate;
    mxp_source *source;
    uint8_t *styles;  // by name id, looked up once
    bool has_memory;
} scope_pass;

void mxp__scope_state_destroy(mxp_scope_state *state)
{
    if (state == NULL) {
        return;
    }
    for (size_t i = 0; i < state->thread_count; i++) {
        mxp__free(state->threads[i].pending,
                  state->threads[i].pending_capacity * sizeof(pending_span));
    }
    mxp__free(state->threads, state->thread_capacity * sizeof *state->threads);
    mxp__free(state, sizeof *state);
}

static int begin_threads(mxp_aggregate *aggregate, size_t count)
{
    if (aggregate->scopes == NULL) {
        aggregate->scopes = mxp__alloc(sizeof *aggregate->scopes);
    }
    mxp_scope_state *state = aggregate->scopes;
    if (state == NULL ||
        mxp__grow(&state->threads, &state->thread_capacity, count, sizeof *state->threads) != 0) {
        return mxp__fail_memory("the aggregate statistics");
    }
    if (count > state->thread_count) {
        memset(state->threads + state->thread_count, 0,
               (count - state->thread_count) * sizeof *state->threads);
        state->thread_count = count;
    }
    return MXP_OK;
}

// ---- nesting ----------------------------------------------------------------------------------
static void merge_neighbours(thread_scope *thread)
{
    size_t kept = 0;
    for (size_t i = 0; i + 1 < thread->pending_count; i += 2) {
        pending_span merged = thread->pending[i];
        merged.duration_ns += thread->pending[i + 1].duration_ns;
        thread->pending[kept++] = merged;
    }
    thread->pending_count = kept;
}

// The span's duration without that of the spans inside it; the span itself becomes pending.
static int claim_children(thread_scope *thread, const mxp_event *event, uint64_t *self_ns)
{
    uint64_t duration_ns = (uint64_t)(event->end_ns - event->begin_ns);
    uint64_t inside_ns = 0;
    while (thread->pending_count > 0 &&
           thread->pending[thread->pending_count - 1].begin_ns >= event->begin_ns) {
        inside_ns += thread->pending[--thread->pending_count].duration_ns;
    }
    *self_ns = inside_ns < duration_ns ? duration_ns - inside_ns : 0;
    if (thread->pending_count >= PENDING_MAX) {
        merge_neighbours(thread);
    }
    if (mxp__grow(&thread->pending, &thread->pending_capacity, thread->pending_count + 1,
                  sizeof *thread->pending) != 0) {
        return mxp__fail_memory("the aggregate statistics");
    }
    thread->pending[thread->pending_count++] = (pending_span){event->begin_ns, duration_ns};
    return MXP_OK;
}

// ---- rows -------------------------------------------------------------------------------------
int mxp__label_of_scope(mxp_label *label, const mxp_source *source, const char *section,
                        uint32_t scope, const char *suffix)
{
    mxp_strbuf path = {0};
    if (scope == 0) {
        mxp__strbuf_puts(&path, "<no scope>");
    } else {
        mxp__scope_path(source, scope, &path);
    }
    mxp__strbuf_puts(&path, suffix);
    int error = path.failed ? mxp__fail_memory("the aggregate statistics")
                            : mxp__label_make(label, section, strlen(section),
                                              mxp__strbuf_text(&path), path.length);
    mxp__strbuf_fini(&path);
    return error;
}

static mxp_duration_row *row_of_scope(scope_pass *pass, uint32_t scope, uint32_t phase)
{
    static const char *const suffixes[MXP__PHASES] = {"", " (forward)", " (backward)", " (update)",
                                                      " (communication)"};
    mxp_aggregate *aggregate = pass->aggregate;
    phase = phase < MXP__PHASES ? phase : MXP_PHASE_NONE;
    mxp_duration_table *table =
        phase == MXP_PHASE_NONE ? &aggregate->durations : &aggregate->phases[phase];
    uint32_t known = mxp__known_name(pass->source, scope);
    mxp_duration_row *row = mxp__duration_find(table, known);
    mxp_label label;
    if (row != NULL ||
        mxp__label_of_scope(&label, pass->source, "Scopes", scope, suffixes[phase]) != MXP_OK) {
        return row;
    }
    return mxp__duration_add(aggregate, table, known, &label);
}

static int add_time(scope_pass *pass, uint32_t scope, uint32_t phase, uint64_t ns)
{
    mxp_duration_row *row = row_of_scope(pass, scope, phase);
    if (row == NULL) {
        return MXP_ENOMEM;
    }
    mxp__duration_note(row, ns);
    return MXP_OK;
}

// "from system", "to system": a pool's calls of the system are the time of the operator that they
// are in, whose scope they do not have.
static bool is_of_pool(mxp_source *source, const mxp_name_view *name)
{
    static const char end[] = " system";
    return name->length >= sizeof end && name->length < sizeof end + 4 &&
           strcmp(name->text + name->length - (sizeof end - 1), end) == 0 &&
           strcmp(source->name(source, name->category).text, "memory") == 0;
}

static bool is_left_out(scope_pass *pass, uint32_t name)
{
    if (name >= pass->source->name_count) {
        return false;
    }
    uint8_t *style = &pass->styles[name];
    if (*style == STYLE_UNKNOWN) {
        mxp_name_view view = pass->source->name(pass->source, name);
        *style = is_of_pool(pass->source, &view) ? MXP_STYLE_ASYNC : view.style;
    }
    return *style == MXP_STYLE_ASYNC;
}

static int add_span(scope_pass *pass, thread_scope *thread, const mxp_event *event)
{
    if (is_left_out(pass, event->name)) {
        return MXP_OK;
    }
    bool is_long = (event->words[0] & 0xff) == MXP_KIND_SPAN_LONG;
    uint32_t own_scope = is_long ? (uint32_t)(event->words[4] >> 32) : 0;
    uint32_t scope = own_scope != 0 ? own_scope : thread->scope;
    if (event->lane != 0) {
        // The span's time is another thread's, so no span of this thread is inside it.
        return add_time(pass, own_scope, MXP_PHASE_NONE,
                        (uint64_t)(event->end_ns - event->begin_ns));
    }
    uint64_t self_ns;
    int error = claim_children(thread, event, &self_ns);
    return error == MXP_OK ? add_time(pass, scope, MXP_PHASE_NONE, self_ns) : error;
}

static int add_operator(scope_pass *pass, thread_scope *thread, const mxp_event *event)
{
    mxp_operator_view op;
    mxp__event_operator(event, &op);
    uint64_t self_ns;
    int error = claim_children(thread, event, &self_ns);
    return error == MXP_OK ? add_time(pass, op.scope, event->flags & MXP_OP_PHASE_MASK, self_ns)
                           : error;
}

static int add_record(void *context, const mxp_event *event)
{
    scope_pass *pass = context;
    if (event->thread >= pass->aggregate->scopes->thread_count) {
        return MXP_OK;
    }
    thread_scope *thread = &pass->aggregate->scopes->threads[event->thread];
    switch (event->kind) {
    case MXP_KIND_SPAN:
        return add_span(pass, thread, event);
    case MXP_KIND_OPERATOR:
        return add_operator(pass, thread, event);
    case MXP_KIND_META:
        if (event->phase == MXP_META_SCOPE_PUSH) {
            thread->scope = event->name;
        } else if (event->phase == MXP_META_SCOPE_POP) {
            thread->scope = mxp__scope_parent(pass->source, event->name);
        }
        return MXP_OK;
    case MXP_KIND_MEMORY:
        pass->has_memory = true;
        return MXP_OK;
    default:
        return MXP_OK;
    }
}

// Statistics without a trace have no scopes. Values that were counted by themselves are no part of
// a thread's time.
static int add_statistics(scope_pass *pass)
{
    for (size_t i = 0; i < pass->source->stats_count; i++) {
        const uint32_t name = pass->source->stats[i].name;
        if (pass->source->name(pass->source, name).style == MXP_STYLE_NONE) {
            continue;
        }
        mxp_duration_row *row = row_of_scope(pass, 0, MXP_PHASE_NONE);
        if (row == NULL) {
            return MXP_ENOMEM;
        }
        mxp__histogram_merge(&row->histogram, pass->source->stats[i].histogram);
    }
    return MXP_OK;
}

int mxp__aggregate_scopes(mxp_aggregate *aggregate, mxp_source *source)
{
    scope_pass pass = {.aggregate = aggregate, .source = source};
    int error = begin_threads(aggregate, source->thread_count);
    if (error != MXP_OK) {
        return error;
    }
    size_t style_bytes = (size_t)source->name_count + 1;
    pass.styles = mxp__alloc(style_bytes);
    if (pass.styles == NULL) {
        return mxp__fail_memory("the aggregate statistics");
    }
    memset(pass.styles, STYLE_UNKNOWN, style_bytes);
    error = mxp__each_record(source, add_record, &pass);
    mxp__free(pass.styles, style_bytes);
    int damage = error == MXP_EFORMAT ? error : MXP_OK;
    error = damage != MXP_OK ? MXP_OK : error;
    if (error == MXP_OK) {
        error = add_statistics(&pass);
    }
    if (error == MXP_OK && pass.has_memory && aggregate->selects == NULL) {
        error = mxp__aggregate_owners(aggregate, source);
    }
    return error != MXP_OK ? error : damage;
}
