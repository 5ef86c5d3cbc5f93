// SPDX-License-Identifier: Apache-2.0
// See tasks.h. Tasks nest on their thread, but for those of other domains; what may end on another
// thread is asynchronous.
#include "profiler/collect/itt/tasks.h"

#include <mxprof/args.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <string.h>

#include "profiler/collect/itt/handles.h"
#include "profiler/collect/itt/links.h"
#include "profiler/collect/open_stack.h"
#include "profiler/collect/open_table.h"
#include "profiler/collect/relations.h"

unsigned long long mxp__itt_id_value(itt_id id)
{
    return id.d1 ^ (id.d2 << 32 | id.d2 >> 32) ^ (id.d3 << 16 | id.d3 >> 48);
}

// ---- tasks -------------------------------------------------------------------------------------
// What has an id may be referred to, before and after. A parent on this thread is around it anyway.
static void put_place(itt_domain *domain, uint64_t id, uint64_t parent)
{
    const mxp_collect_place from = mxp__place_of(domain, parent);
    if (from.ticks != 0 && from.thread != mxp_thread_index()) {
        mxp__arrow(mxp__itt_relation_name(domain, ITT_PARENT_OF), from, mxp__place_here());
    }
    if (id != 0) {
        mxp__place_put(domain, id);
    }
}

static __attribute__((noinline)) void begin_with_ids(itt_domain *domain, uint64_t id,
                                                     uint64_t parent, mxp_name name, uint64_t ticks)
{
    mxp_arg args[2];
    uint32_t count = 0;
    if (id != 0) {
        args[count++] = mxp_u64(mxp_string("id"), id);
    }
    if (parent != 0) {
        args[count++] = mxp_u64(mxp_string("parent"), parent);
    }
    mxp__collect_begin_at(domain, name, id, ticks, args, count);
    put_place(domain, id, parent);
}

static void begin_task(itt_domain *domain, itt_id id, itt_id parent, mxp_name name, uint64_t ticks)
{
    const uint64_t own = mxp__itt_id_value(id), of = mxp__itt_id_value(parent);
    if (__builtin_expect((own | of) != 0, 0)) {
        begin_with_ids(domain, own, of, name, ticks);
    } else {
        mxp__collect_begin_at(domain, name, 0, ticks, NULL, 0);
    }
}

static mxp_name function_name(itt_domain *domain, const void *function)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%p", function);
    return mxp_intern_in(mxp__itt_category(domain), text, (size_t)length, MXP_STYLE_SPAN,
                         MXP_UNIT_NONE);
}

void mxp__itt_task_begin(itt_domain *domain, itt_id id, itt_id parent, itt_string *name)
{
    begin_task(domain, id, parent, mxp__itt_name(domain, name, MXP_STYLE_SPAN), 0);
}

void mxp__itt_task_begin_fn(itt_domain *domain, itt_id id, itt_id parent, void *function)
{
    begin_task(domain, id, parent, function_name(domain, function), 0);
}

void mxp__itt_task_end(itt_domain *domain)
{
    mxp__collect_end(domain, 0);
}

void mxp__itt_task_begin_ex(itt_domain *domain, itt_clock *clock, unsigned long long stamp,
                            itt_id id, itt_id parent, itt_string *name)
{
    begin_task(domain, id, parent, mxp__itt_name(domain, name, MXP_STYLE_SPAN),
               mxp__itt_ticks(clock, stamp));
}

void mxp__itt_task_begin_fn_ex(itt_domain *domain, itt_clock *clock, unsigned long long stamp,
                               itt_id id, itt_id parent, void *function)
{
    begin_task(domain, id, parent, function_name(domain, function), mxp__itt_ticks(clock, stamp));
}

void mxp__itt_task_end_ex(itt_domain *domain, itt_clock *clock, unsigned long long stamp)
{
    mxp__collect_end_at(domain, 0, mxp__itt_ticks(clock, stamp));
}

void mxp__itt_task_begin_overlapped(itt_domain *domain, itt_id id, itt_id parent, itt_string *name)
{
    mxp__itt_task_begin_overlapped_ex(domain, NULL, 0, id, parent, name);
}

void mxp__itt_task_end_overlapped(itt_domain *domain, itt_id id)
{
    mxp__collect_end_async(domain, mxp__itt_id_value(id));
}

void mxp__itt_task_begin_overlapped_ex(itt_domain *domain, itt_clock *clock,
                                       unsigned long long stamp, itt_id id, itt_id parent,
                                       itt_string *name)
{
    const uint64_t own = mxp__itt_id_value(id);
    mxp__collect_begin_async_at(domain, own, mxp__itt_name(domain, name, MXP_STYLE_ASYNC),
                                clock != NULL ? mxp__itt_ticks(clock, stamp) : 0);
    put_place(domain, own, mxp__itt_id_value(parent));
}

void mxp__itt_task_end_overlapped_ex(itt_domain *domain, itt_clock *clock, unsigned long long stamp,
                                     itt_id id)
{
    mxp__collect_end_async_at(domain, mxp__itt_id_value(id), mxp__itt_ticks(clock, stamp));
}

// Groups are told without an end: one is over where another of its id begins.
void mxp__itt_task_group(itt_domain *domain, itt_id id, itt_id parent, itt_string *name)
{
    mxp__collect_end_async_if_open(domain, mxp__itt_id_value(id));
    mxp__itt_task_begin_overlapped(domain, id, parent, name);
}

// ---- frames ------------------------------------------------------------------------------------
// A frame without an id is one of its thread, as the interface has it: its owner is beside the
// domain, whose tasks may be open at the same time.
static mxp_name frame_name(itt_domain *domain)
{
    return mxp_intern_in(mxp__itt_category(domain), "frame", strlen("frame"), MXP_STYLE_ASYNC,
                         MXP_UNIT_NONE);
}

static uint64_t frame_id(const itt_id *id)
{
    return id != NULL ? mxp__itt_id_value(*id) : (uintptr_t)mxp__collect_thread();
}

static const void *frame_owner(const itt_domain *domain)
{
    return (const char *)domain + 1;
}

void mxp__itt_frame_begin(itt_domain *domain, const itt_id *id)
{
    mxp__collect_begin_async(frame_owner(domain), frame_id(id), frame_name(domain), NULL, 0);
}

void mxp__itt_frame_end(itt_domain *domain, const itt_id *id)
{
    mxp__collect_end_async(frame_owner(domain), frame_id(id));
}

void mxp__itt_frame_submit(itt_domain *domain, const itt_id *id, unsigned long long begin,
                           unsigned long long end)
{
    (void)id;
    const unsigned long long now = ~0ull;  // what ITT calls no timestamp
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = frame_name(domain),
                                              .begin_ticks = begin,
                                              .end_ticks = end == now ? mxp_ticks() : end});
}

// Frames that are submitted have their times from here, so they are ours.
unsigned long long mxp__itt_get_timestamp(void)
{
    return mxp_ticks();
}

// The old form, whose frames name their domain alone.
void *mxp__itt_frame_create(const char *domain)
{
    return mxp__itt_domain(domain);
}

void mxp__itt_frame_begin_old(void *frame)
{
    if (frame != NULL) {
        mxp__itt_frame_begin(frame, NULL);
    }
}

void mxp__itt_frame_end_old(void *frame)
{
    if (frame != NULL) {
        mxp__itt_frame_end(frame, NULL);
    }
}
