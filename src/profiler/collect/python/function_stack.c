// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/python/function_stack.h"

#include <mxprof/foreign.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/os.h"

typedef struct open_function {
    const void *key;
    uint64_t token;
    mxp_name name;
} open_function;

typedef struct function_stack {
    uint32_t depth;
    open_function open[MXP__FUNCTIONS_OPEN_MAX];
} function_stack;

// Pages of the system's, of which only those are touched that the depth needs.
static __thread function_stack *own;
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;
static bool has_end_key;

static void give_back(void *stack)
{
    own = NULL;
    mxp__os_unmap_pages(stack, sizeof(function_stack));
}

static void make_end_key(void)
{
    has_end_key = pthread_key_create(&end_key, give_back) == 0;
}

static function_stack *__attribute__((noinline)) make_stack(void)
{
    pthread_once(&end_once, make_end_key);
    own = mxp__os_map_pages(sizeof *own);
    if (own != NULL && has_end_key) {
        pthread_setspecific(end_key, own);
    }
    return own;
}

void mxp__function_enter(const void *key, mxp_name name)
{
    function_stack *stack = own != NULL ? own : make_stack();
    if (stack == NULL || stack->depth == MXP__FUNCTIONS_OPEN_MAX) {
        mxp_lose_foreign(1);
        return;
    }
    stack->open[stack->depth++] =
        (open_function){.key = key, .name = name, .token = mxp_span_begin(name)};
}

static void end_down_to(function_stack *stack, uint32_t depth)
{
    while (stack->depth > depth) {
        const open_function *ended = &stack->open[--stack->depth];
        mxp_span_end(ended->name, ended->token);
    }
}

void mxp__function_leave(const void *key)
{
    function_stack *stack = own;
    uint32_t place = stack != NULL ? stack->depth : 0;
    while (place > 0 && stack->open[place - 1].key != key) {
        place--;
    }
    if (place > 0) {
        end_down_to(stack, place - 1);
    }
}

void mxp__function_leave_all(void)
{
    if (own != NULL) {
        end_down_to(own, 0);
    }
}
