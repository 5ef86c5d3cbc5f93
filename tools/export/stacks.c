// SPDX-License-Identifier: Apache-2.0
// See stacks.h: a tree in which each node knows the one around it, and a map that finds the node of
// a frame in another.
#include "export/stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sum.h"
#include "profiler/analysis/time/nesting.h"
#include "profiler/export/scope_path.h"
#include "profiler/export/tracks.h"

enum { SCOPE_DEPTH_MAX = 64 };  // a damaged file may hold a circle of scopes

typedef struct known_stack {
    uint64_t key;
    uint32_t number;
} known_stack;

static const char memory_for[] = "the stacks";

static bool has_room(const mxp_stacks *stacks, uint32_t around)
{
    return around == 0 || (stacks->count < MXP__STACKS_MAX &&
                           stacks->stacks[around].frames < MXP__STACK_FRAMES_MAX);
}

// The stack of `frame` in `around`, made if there is none; `around` itself if there is no room.
static int find_stack(mxp_stacks *stacks, uint32_t around, uint32_t frame, uint32_t *number)
{
    uint64_t key = ((uint64_t)around << 32 | frame) + 1;
    known_stack *known = mxp__id_map_find(&stacks->known, key);
    if (known != NULL || !has_room(stacks, around)) {
        *number = known != NULL ? known->number : around;
        return MXP_OK;
    }
    known = mxp__id_map_add(&stacks->known, key);
    if (known == NULL || mxp__grow(&stacks->stacks, &stacks->capacity, stacks->count + 1,
                                   sizeof *stacks->stacks) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    *number = known->number = (uint32_t)stacks->count++;
    stacks->stacks[*number] =
        (mxp_stack){.around = around,
                    .frame = frame,
                    .frames = stacks->stacks[around].frames + 1,
                    .root = around != 0 ? stacks->stacks[around].root : *number};
    return MXP_OK;
}

static int root_of(mxp_stacks *stacks, const mxp_event *event, uint32_t *number)
{
    bool has_lane = event->lane != 0;  // its number is a frame's
    return find_stack(stacks, 0, has_lane ? event->lane : MXP__FRAME_THREAD | event->thread,
                      number);
}

// Puts the scopes of an operator behind the stack `*number`, the outermost first.
static int add_scopes(mxp_stacks *stacks, uint32_t scope, uint32_t *number)
{
    uint32_t path[SCOPE_DEPTH_MAX];
    size_t depth = 0;
    for (; scope != 0 && depth < SCOPE_DEPTH_MAX; depth++) {
        path[depth] = scope;
        scope = mxp__scope_parent(stacks->source, scope);
    }
    int error = MXP_OK;
    while (depth > 0 && error == MXP_OK) {
        error = find_stack(stacks, *number, path[--depth], number);
    }
    return error;
}

static int enter(void *context, mxp_nested_span *span, const mxp_nested_span *around)
{
    mxp_stacks *stacks = context;
    if (span->is_async) {
        return MXP_OK;
    }
    uint32_t number = around != NULL ? around->tag : 0;
    int error = around != NULL ? MXP_OK : root_of(stacks, &span->event, &number);
    if (error == MXP_OK && span->event.kind == MXP_KIND_OPERATOR) {
        error = add_scopes(stacks, span->scope, &number);
    }
    if (error == MXP_OK) {
        error = find_stack(stacks, number, span->event.name, &span->tag);
        stacks->folded += error == MXP_OK && span->tag == number;
    }
    return error;
}

static int leave(void *context, const mxp_nested_span *span)
{
    mxp_stacks *stacks = context;
    if (span->is_async) {
        stacks->async_spans++;
        mxp__sum_add(&stacks->async_ns, span->own_ns);
        return MXP_OK;
    }
    stacks->stacks[span->tag].spans++;
    mxp__sum_add(&stacks->stacks[span->tag].own_ns, span->own_ns);
    return MXP_OK;
}

// Counting sort: a root has a lower number than what is in it.
static int sort_by_root(mxp_stacks *stacks)
{
    size_t count = stacks->count;
    uint32_t *place = mxp__alloc((count + 1) * sizeof *place);
    stacks->by_root = mxp__alloc(count * sizeof *stacks->by_root);
    if (place == NULL || stacks->by_root == NULL) {
        mxp__free(place, (count + 1) * sizeof *place);
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 1; i < count; i++) {
        place[stacks->stacks[i].root + 1]++;
    }
    for (size_t i = 1; i <= count; i++) {
        place[i] += place[i - 1];
    }
    for (size_t i = 1; i < count; i++) {
        stacks->by_root[place[stacks->stacks[i].root]++] = (uint32_t)i;
    }
    mxp__free(place, (count + 1) * sizeof *place);
    return MXP_OK;
}

int mxp__stacks_make(mxp_source *source, mxp_stacks *stacks)
{
    const mxp_nesting_visitor visitor = {enter, leave, stacks};
    *stacks = (mxp_stacks){.source = source, .known = {.entry_bytes = sizeof(known_stack)}};
    if (mxp__grow(&stacks->stacks, &stacks->capacity, 1, sizeof *stacks->stacks) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    stacks->stacks[stacks->count++] = (mxp_stack){0};
    int error = mxp__nesting_walk(source, &visitor);
    int sort_error = sort_by_root(stacks);
    return sort_error != MXP_OK ? sort_error : error;
}

void mxp__stacks_fini(mxp_stacks *stacks)
{
    mxp__free(stacks->by_root, stacks->by_root != NULL ? stacks->count * sizeof(uint32_t) : 0);
    mxp__free(stacks->stacks, stacks->capacity * sizeof *stacks->stacks);
    mxp__id_map_fini(&stacks->known);
    *stacks = (mxp_stacks){0};
}

// ---- what they are called ---------------------------------------------------------------------
void mxp__stack_path(const mxp_stacks *stacks, uint32_t number,
                     uint32_t frames[MXP__STACK_FRAMES_MAX])
{
    for (; number != 0; number = stacks->stacks[number].around) {
        frames[stacks->stacks[number].frames - 1] = stacks->stacks[number].frame;
    }
}

void mxp__frame_name(const mxp_source *source, uint32_t frame, mxp_strbuf *out)
{
    uint32_t thread = frame & ~MXP__FRAME_THREAD;
    bool is_thread = (frame & MXP__FRAME_THREAD) != 0;
    uint32_t name =
        is_thread && thread < source->thread_count ? source->threads[thread].name : frame;
    mxp_name_view view = source->name(source, name);
    if (is_thread && (thread >= source->thread_count || view.length == 0)) {
        mxp__strbuf_printf(out, "thread %" PRIu32, thread);
    } else {
        mxp__strbuf_append(out, view.text, view.length);
    }
}

void mxp__stacks_process(const mxp_source *source, mxp_strbuf *out)
{
    size_t length;
    const char *name = mxp__process_name(source, &length);
    mxp__strbuf_append(out, name, length);
    mxp__strbuf_printf(out, " %" PRIu32, source->pid);
}

void mxp__stacks_note(const mxp_stacks *stacks, mxp_strbuf *notes)
{
    if (notes != NULL && stacks->async_spans > 0) {
        mxp__strbuf_printf(notes,
                           "%" PRIu64 " tasks and frames, which overlap others, are in no stack\n",
                           stacks->async_spans);
    }
    if (notes != NULL && stacks->folded > 0) {
        mxp__strbuf_printf(notes,
                           "%" PRIu64 " spans count in what is around them: a stack has at most %d "
                           "frames, and there are at most %d stacks\n",
                           stacks->folded, MXP__STACK_FRAMES_MAX, MXP__STACKS_MAX);
    }
}
