// SPDX-License-Identifier: Apache-2.0
// Of each thread only the first begin and the last end of its calls are kept: between them the
// thread pushes inside of calls, unless records are missing, which the losses tell.
#include "profiler/export/arrows.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/api_calls.h"

enum { UNKNOWN = 0, OTHER = 1, CALL = 2 };  // kinds of names

enum { THREAD_UNKNOWN = 0xffff };

typedef struct calls_known {
    int64_t from_ns, to_ns;
} calls_known;

// The oldest makes room for the newest.
typedef struct waiting_list {
    mxp_arrow arrows[MXP__ARROWS_WAITING];
    size_t count;  // that were ever added
} waiting_list;

struct mxp_arrows {
    const mxp_source *source;
    calls_known *threads;
    size_t thread_count, thread_capacity;
    uint8_t *kinds;
    size_t kind_count, kind_capacity;
    waiting_list *before;  // this part; null: nothing waits
    waiting_list *after;  // it
    size_t asked;  // of those before
};

static const char memory_for[] = "the arrows to operators";

int mxp__arrows_create(mxp_arrows **arrows)
{
    *arrows = mxp__alloc(sizeof **arrows);
    return *arrows != NULL ? MXP_OK : mxp__fail_memory(memory_for);
}

void mxp__arrows_destroy(mxp_arrows *arrows)
{
    if (arrows == NULL) {
        return;
    }
    mxp__free(arrows->threads, arrows->thread_capacity * sizeof *arrows->threads);
    mxp__free(arrows->kinds, arrows->kind_capacity);
    mxp__free(arrows->before, sizeof *arrows->before);
    mxp__free(arrows->after, sizeof *arrows->after);
    mxp__free(arrows, sizeof *arrows);
}

// ---- calls ------------------------------------------------------------------------------------
int mxp__arrows_begin(mxp_arrows *arrows, const mxp_source *source)
{
    arrows->source = source;
    arrows->asked = 0;
    if (arrows->after != NULL) {
        arrows->after->count = 0;
    }
    if (mxp__grow(&arrows->threads, &arrows->thread_capacity, source->thread_count,
                  sizeof *arrows->threads) != MXP_OK ||
        mxp__grow(&arrows->kinds, &arrows->kind_capacity, source->name_count, 1) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    while (arrows->thread_count < source->thread_count) {
        arrows->threads[arrows->thread_count++] = (calls_known){INT64_MAX, INT64_MIN};
    }
    while (arrows->kind_count < source->name_count) {
        arrows->kinds[arrows->kind_count++] = UNKNOWN;
    }
    return MXP_OK;
}

static bool is_call(mxp_arrows *arrows, const mxp_event *event)
{
    if (event->kind != MXP_KIND_SPAN || event->name >= arrows->kind_count || event->lane != 0 ||
        mxp__event_clock(event) != MXP_CLOCK_TRACE) {
        return false;
    }
    uint8_t *kind = &arrows->kinds[event->name];
    if (*kind == UNKNOWN) {
        *kind = mxp__is_api_name(arrows->source, event->name) ? CALL : OTHER;
    }
    return *kind == CALL;
}

void mxp__arrows_see(mxp_arrows *arrows, const mxp_event *event)
{
    if (event->thread < arrows->thread_count && is_call(arrows, event)) {
        calls_known *calls = &arrows->threads[event->thread];
        calls->from_ns = event->begin_ns < calls->from_ns ? event->begin_ns : calls->from_ns;
        calls->to_ns = event->end_ns > calls->to_ns ? event->end_ns : calls->to_ns;
    }
}

// ---- operators --------------------------------------------------------------------------------
typedef enum answer { NONE, IS, WAITS } answer;

static bool is_lost(const mxp_source *source, const mxp_arrow *arrow)
{
    for (size_t i = 0; i < source->loss_count; i++) {
        const mxp_loss_entry *loss = &source->losses[i];
        if (loss->thread == arrow->from_thread && loss->reason != MXP_LOSS_NAMES_FULL &&
            arrow->from_ns >= mxp__timebase_ns(source->timebase, loss->from_ticks) &&
            arrow->from_ns <= mxp__timebase_ns(source->timebase, loss->to_ticks)) {
            return true;
        }
    }
    return false;
}

static answer judge(const mxp_arrows *arrows, const mxp_arrow *arrow)
{
    const calls_known *calls = &arrows->threads[arrow->from_thread];
    if (arrow->from_ns > calls->to_ns) {
        return WAITS;
    }
    return arrow->from_ns < calls->from_ns || is_lost(arrows->source, arrow) ? NONE : IS;
}

static bool find_push(const mxp_arrows *arrows, const mxp_event *event, mxp_arrow *arrow)
{
    if (event->kind != MXP_KIND_OPERATOR || (event->flags & MXP_OP_BULK_PARENT) != 0) {
        return false;
    }
    mxp_operator_view op;
    mxp__event_operator(event, &op);
    *arrow = (mxp_arrow){
        .id = event->id,
        .from_thread = op.push_thread,
        .to_thread = event->thread,
        .from_ns = mxp__timebase_ns(arrows->source->timebase, op.push_ticks),
        .to_ns = event->begin_ns,
    };
    return op.push_thread != THREAD_UNKNOWN && op.push_thread < arrows->thread_count &&
           arrow->from_ns >= 0 &&
           arrow->from_ns < arrow->to_ns + (arrow->from_thread != arrow->to_thread);
}

// 1: the arrow is there; 0: not in this part.
static int settle(mxp_arrows *arrows, const mxp_arrow *arrow)
{
    answer found = judge(arrows, arrow);
    if (found != WAITS) {
        return found == IS;
    }
    if (arrows->after == NULL && (arrows->after = mxp__alloc(sizeof *arrows->after)) == NULL) {
        return mxp__fail_memory(memory_for);
    }
    arrows->after->arrows[arrows->after->count++ % MXP__ARROWS_WAITING] = *arrow;
    return 0;
}

int mxp__arrows_of(mxp_arrows *arrows, const mxp_event *event, mxp_arrow *arrow)
{
    return find_push(arrows, event, arrow) ? settle(arrows, arrow) : 0;
}

// ---- parts ------------------------------------------------------------------------------------
int mxp__arrows_waited(mxp_arrows *arrows, mxp_arrow *arrow)
{
    const waiting_list *list = arrows->before;
    int found = 0;
    while (found == 0 && list != NULL && arrows->asked < list->count &&
           arrows->asked < MXP__ARROWS_WAITING) {
        *arrow = list->arrows[arrows->asked++];
        found = settle(arrows, arrow);
    }
    return found;
}

void mxp__arrows_commit(mxp_arrows *arrows)
{
    waiting_list *written = arrows->before;
    arrows->before = arrows->after;
    arrows->after = written;
}
