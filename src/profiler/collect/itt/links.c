// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/itt/links.h"

#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <string.h>

#include "profiler/collect/arena.h"
#include "profiler/collect/itt/handles.h"
#include "profiler/collect/itt/tasks.h"
#include "profiler/collect/ompt/ompt.h"
#include "profiler/collect/open_stack.h"
#include "profiler/collect/relations.h"
#include "profiler/spin.h"

// ---- relations ---------------------------------------------------------------------------------
mxp_name mxp__itt_relation_name(itt_domain *domain, int relation)
{
    static const char *const kinds[] = {"related",      "dependent_on",    "sibling",
                                        "parent_of",    "continuation_of", "child_of",
                                        "continued_by", "predecessor_to"};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    const char *kind = kinds[relation > 0 && relation < KINDS ? relation : 0];
    return mxp_intern_in(mxp__itt_category(domain), kind, strlen(kind), MXP_STYLE_FLOW,
                         MXP_UNIT_NONE);
}

void mxp__itt_relation_add(itt_domain *domain, itt_id head, int relation, itt_id tail)
{
    const uint64_t from = mxp__itt_id_value(head), to = mxp__itt_id_value(tail);
    if (from == 0) {
        mxp__itt_relation_add_to_current(domain, relation, tail);
    } else if (to == 0) {
        mxp_lose_foreign(1);
    } else {
        mxp__arrow_between(mxp__itt_relation_name(domain, relation), domain, from, to);
    }
}

void mxp__itt_relation_add_to_current(itt_domain *domain, int relation, itt_id tail)
{
    const uint64_t to = mxp__itt_id_value(tail);
    const mxp_collect_span *current = mxp__collect_innermost(domain, 0);
    if (current == NULL || current->token == 0 || to == 0) {
        mxp_lose_foreign(1);
        return;
    }
    mxp__arrow_from(mxp__itt_relation_name(domain, relation),
                    (mxp_collect_place){current->token, mxp_thread_index()}, domain, to);
}

// ---- stacks ------------------------------------------------------------------------------------
enum { STACK_MAGIC = 0x6974746b };

typedef struct stack {
    uint32_t magic;  // 0: it was given back
    mxp_collect_place place;
    struct stack *next;  // of those that were
} stack;

static struct {
    mxp_spin lock;
    stack *free;
} stacks;

void *mxp__itt_stack_caller_create(void)
{
    const mxp_collect_place here = mxp__place_here();
    stack *made = NULL;
    if (mxp__spin_lock(&stacks.lock)) {
        made = stacks.free;
        stacks.free = made != NULL ? made->next : NULL;
        mxp__spin_unlock(&stacks.lock);
    }
    made = made != NULL ? made : mxp__arena_take(sizeof *made);
    if (made != NULL) {
        *made = (stack){STACK_MAGIC, here, NULL};
    }
    return made;
}

void mxp__itt_stack_caller_destroy(void *handle)
{
    stack *ended = handle;
    if (ended == NULL || ended->magic != STACK_MAGIC) {
        mxp_lose_foreign(1);
    } else if (mxp__spin_lock(&stacks.lock)) {
        ended->magic = 0;
        ended->next = stacks.free;
        stacks.free = ended;
        mxp__spin_unlock(&stacks.lock);
    }
}

void mxp__itt_stack_callee_enter(void *handle)
{
    const stack *entered = handle;
    if (entered == NULL || entered->magic != STACK_MAGIC) {
        mxp_lose_foreign(1);
    } else if (mxp_enabled(MXP_CLASS_USER) && !mxp__ompt_is_on()) {
        // LLVM's OpenMP sends one for each thread of a region, which OMPT has told already.
        mxp__arrow(mxp_intern("ITT", "stack", MXP_STYLE_FLOW, MXP_UNIT_NONE), entered->place,
                   mxp__place_here());
    }
}

void mxp__itt_stack_callee_leave(void *handle)
{
    (void)handle;
}

// ---- tracks ------------------------------------------------------------------------------------
itt_track_group *mxp__itt_track_group_create(itt_string *name, int type)
{
    itt_track_group *group = mxp__arena_take(sizeof *group);
    if (group != NULL) {
        *group = (itt_track_group){.name = name, .type = type};
    }
    return group;
}

static const char *text_of(const itt_string *string)
{
    return string != NULL && string->text != NULL ? string->text : "(null)";
}

itt_track *mxp__itt_track_create(itt_track_group *group, itt_string *name, int type)
{
    enum { PLACES = 255 };
    static mxp_atomic_u32 made;
    itt_track *track = mxp__arena_take(sizeof *track);
    if (track == NULL) {
        return NULL;
    }
    *track = (itt_track){.name = name, .group = group, .type = type};
    char text[256];
    const uint32_t place = mxp_atomic_add(&made, 1) + 1;
    const int length =
        group != NULL && group->name != NULL
            ? snprintf(text, sizeof text, "%.120s / %.120s", text_of(group->name), text_of(name))
            : snprintf(text, sizeof text, "%.240s", text_of(name));
    mxp_atomic_set(&track->lane, mxp_intern_in(MXP_NAME_NONE, text, (size_t)length, MXP_STYLE_NONE,
                                               place < PLACES ? (int)place : PLACES));
    return track;
}

void mxp__itt_set_track(itt_track *track)
{
    mxp_collect_thread *own = mxp__collect_thread();
    if (own != NULL) {
        own->lane = track != NULL ? mxp_atomic_load(&track->lane) : MXP_NAME_NONE;
    }
}
