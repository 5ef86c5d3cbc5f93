// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/open_stack.h"

#include <mxprof/foreign.h>
#include <pthread.h>
#include <string.h>

#include "base/os/os.h"

typedef struct open_stack {
    uint32_t depth;  // may exceed the maximum
    mxp_collect_span spans[MXP__COLLECT_OPEN_MAX];
} open_stack;

// Pages of the system's, of which a thread that is not deep in marks touches one or two.
static __thread open_stack *own;
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;
static bool has_end_key;

static void give_back(void *stack)
{
    own = NULL;
    mxp__os_unmap_pages(stack, sizeof(open_stack));
}

static void make_end_key(void)
{
    has_end_key = pthread_key_create(&end_key, give_back) == 0;
}

static open_stack *stack_of_thread(void)
{
    if (own == NULL) {
        pthread_once(&end_once, make_end_key);
        own = mxp__os_map_pages(sizeof *own);
        if (own != NULL && has_end_key) {
            pthread_setspecific(end_key, own);
        }
    }
    return own;
}

void mxp__collect_begin(const void *owner, mxp_name name, uint64_t id, const mxp_arg *args,
                        uint32_t count)
{
    open_stack *stack = stack_of_thread();
    if (stack == NULL || stack->depth >= MXP__COLLECT_OPEN_MAX) {
        mxp_lose_foreign(1);
        if (stack != NULL) {
            stack->depth++;
        }
        return;
    }
    stack->spans[stack->depth++] = (mxp_collect_span){
        .owner = owner,
        .id = id,
        .name = name,
        .token =
            count == 0 ? mxp_span_begin(name) : mxp_begin_args(MXP_CLASS_USER, name, args, count),
    };
}

// The place of the innermost one of `owner`, + 1; 0: there is none.
static uint32_t place_of(const open_stack *stack, const void *owner, uint64_t id)
{
    uint32_t place = stack->depth;
    while (place > 0 && (stack->spans[place - 1].owner != owner ||
                         (id != 0 && stack->spans[place - 1].id != id))) {
        place--;
    }
    return place;
}

static void end_span(const mxp_collect_span *span, uint64_t end_ticks)
{
    if (end_ticks != 0) {
        mxp_end_at(span->name, span->token, end_ticks);
    } else {
        mxp_end_args(span->name, span->token, NULL, 0);
    }
}

void mxp__collect_end_at(const void *owner, uint64_t id, uint64_t end_ticks)
{
    open_stack *stack = own;
    if (stack != NULL && stack->depth > MXP__COLLECT_OPEN_MAX) {
        stack->depth--;
        return;
    }
    uint32_t place = stack != NULL ? place_of(stack, owner, id) : 0;
    if (place == 0) {
        mxp_lose_foreign(1);
        return;
    }
    mxp_collect_span *ended = &stack->spans[place - 1];
    end_span(ended, end_ticks);
    memmove(ended, ended + 1, (stack->depth - place) * sizeof *ended);
    stack->depth--;
}

void mxp__collect_end(const void *owner, uint64_t id)
{
    mxp__collect_end_at(owner, id, 0);
}

const mxp_collect_span *mxp__collect_innermost(const void *owner, uint64_t id)
{
    const open_stack *stack = own;
    if (stack == NULL || stack->depth > MXP__COLLECT_OPEN_MAX) {
        return NULL;
    }
    uint32_t place = place_of(stack, owner, id);
    return place != 0 ? &stack->spans[place - 1] : NULL;
}
