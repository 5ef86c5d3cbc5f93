// SPDX-License-Identifier: Apache-2.0
// See tasks.h. Tasks nest on their thread, but for those of other domains; what may end on another
// thread is asynchronous.
#include "profiler/collect/itt/tasks.h"

#include <mxprof/args.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <string.h>

#include "profiler/collect/itt/handles.h"
#include "profiler/collect/open_stack.h"
#include "profiler/collect/open_table.h"

unsigned long long mxp__itt_id_value(itt_id id)
{
    return id.d1 ^ (id.d2 << 32 | id.d2 >> 32) ^ (id.d3 << 16 | id.d3 >> 48);
}

// ---- tasks -------------------------------------------------------------------------------------
static void begin_task(itt_domain *domain, itt_id id, itt_id parent, mxp_name name)
{
    const uint64_t own = mxp__itt_id_value(id), of = mxp__itt_id_value(parent);
    mxp_arg args[2];
    uint32_t count = 0;
    if (own != 0) {
        args[count++] = mxp_u64(mxp_string("id"), own);
    }
    if (of != 0) {
        args[count++] = mxp_u64(mxp_string("parent"), of);
    }
    mxp__collect_begin(domain, name, own, args, count);
}

void mxp__itt_task_begin(itt_domain *domain, itt_id id, itt_id parent, itt_string *name)
{
    begin_task(domain, id, parent, mxp__itt_name(domain, name, MXP_STYLE_SPAN));
}

void mxp__itt_task_begin_fn(itt_domain *domain, itt_id id, itt_id parent, void *function)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%p", function);
    begin_task(domain, id, parent,
               mxp_intern_in(mxp__itt_category(domain), text, (size_t)length, MXP_STYLE_SPAN,
                             MXP_UNIT_NONE));
}

void mxp__itt_task_end(itt_domain *domain)
{
    mxp__collect_end(domain, 0);
}

void mxp__itt_task_begin_overlapped(itt_domain *domain, itt_id id, itt_id parent, itt_string *name)
{
    (void)parent;
    mxp__collect_begin_async(domain, mxp__itt_id_value(id),
                             mxp__itt_name(domain, name, MXP_STYLE_ASYNC), NULL, 0);
}

void mxp__itt_task_end_overlapped(itt_domain *domain, itt_id id)
{
    mxp__collect_end_async(domain, mxp__itt_id_value(id));
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
    static __thread char of_thread;
    return id != NULL ? mxp__itt_id_value(*id) : (uintptr_t)&of_thread;
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

// ---- events ------------------------------------------------------------------------------------
// A number of an event is the id of its name: the same name gives the same number.
static const char event_owner[] = "event";

int mxp__itt_event_create(const char *name, int length)
{
    const char *text = name != NULL ? name : "(null)";
    const size_t given = name != NULL && length > 0 ? (size_t)length : strlen(text);
    return (int)mxp_intern_in(mxp_string(event_owner), text, strnlen(text, given), MXP_STYLE_SPAN,
                              MXP_UNIT_NONE);
}

int mxp__itt_event_start(int event)
{
    mxp__collect_begin(event_owner, (mxp_name)event, (uint64_t)event, NULL, 0);
    return 0;
}

int mxp__itt_event_end(int event)
{
    mxp__collect_end(event_owner, (uint64_t)event);
    return 0;
}
