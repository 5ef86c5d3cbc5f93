// SPDX-License-Identifier: Apache-2.0
#include "import/import_open.h"

#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct stack_entry {
    uint64_t key;
    size_t top;
} stack_entry;

void mxp__import_open_init(mxp_import_open *open)
{
    *open = (mxp_import_open){.stacks = {.entry_bytes = sizeof(stack_entry)}};
}

void mxp__import_open_fini(mxp_import_open *open)
{
    for (size_t i = 0; i < open->count; i++) {
        mxp__strfree(open->frames[i].args);
    }
    mxp__free(open->frames, open->capacity * sizeof *open->frames);
    mxp__id_map_fini(&open->stacks);
}

int mxp__import_open_push(mxp_import_open *open, size_t *top, mxp_import_frame frame)
{
    if (open->open == MXP__IMPORT_OPEN_MAX) {
        mxp__strfree(frame.args);
        open->left_out++;
        return MXP_OK;
    }
    size_t place = open->free;
    if (place != 0) {
        open->free = open->frames[place - 1].below;
    } else if (mxp__grow(&open->frames, &open->capacity, open->count + 1, sizeof *open->frames) !=
               MXP_OK) {
        mxp__strfree(frame.args);
        return mxp__fail_memory("the open spans of an imported trace");
    } else {
        place = ++open->count;
    }
    frame.below = *top;
    open->frames[place - 1] = frame;
    open->open++;
    *top = place;
    return MXP_OK;
}

mxp_import_frame mxp__import_open_pop(mxp_import_open *open, size_t *top)
{
    mxp_import_frame *frame = &open->frames[*top - 1], taken = *frame;
    frame->args = NULL;
    frame->below = open->free;
    open->free = *top;
    open->open--;
    *top = taken.below;
    return taken;
}

enum { LOOKED_AT = 1000 };  // a stack that is deeper has no order to be found

static bool is_alike(const mxp_import_frame *a, const mxp_import_frame *b)
{
    return a->row.process == b->row.process && a->name == b->name;
}

static bool take(mxp_import_open *open, size_t *at, mxp_import_frame *taken)
{
    if (at != NULL) {
        *taken = mxp__import_open_pop(open, at);
    }
    return at != NULL;
}

bool mxp__import_open_take_begin(mxp_import_open *open, size_t *top, const mxp_import_frame *end,
                                 mxp_import_frame *begin)
{
    size_t *at = top, *other = NULL;
    for (int i = 0; i < LOOKED_AT && *at != 0; i++) {
        mxp_import_frame *frame = &open->frames[*at - 1];
        if (frame->ns <= end->ns && is_alike(frame, end)) {
            return take(open, at, begin);
        }
        other = other == NULL && frame->ns <= end->ns ? at : other;
        at = &frame->below;
    }
    return take(open, other, begin);
}

bool mxp__import_open_take_end(mxp_import_open *open, size_t *top, const mxp_import_frame *begin,
                               mxp_import_frame *end)
{
    size_t *at = top, *best = NULL;
    bool best_is_alike = false;
    int64_t best_ns = 0;
    for (int i = 0; i < LOOKED_AT && *at != 0; i++) {
        mxp_import_frame *frame = &open->frames[*at - 1];
        bool alike = is_alike(frame, begin);
        bool is_better = best == NULL || alike > best_is_alike ||
                         (alike == best_is_alike && frame->ns <= best_ns);
        if (frame->ns >= begin->ns && is_better) {
            best = at;
            best_is_alike = alike;
            best_ns = frame->ns;
        }
        at = &frame->below;
    }
    return take(open, best, end);
}

size_t *mxp__import_open_stack(mxp_import_open *open, uint64_t id, bool make)
{
    stack_entry *entry =
        make ? mxp__id_map_add(&open->stacks, id | 1) : mxp__id_map_find(&open->stacks, id | 1);
    if (entry == NULL && make) {
        mxp__fail_memory("the open spans of an imported trace");
    }
    return entry != NULL ? &entry->top : NULL;
}

void mxp__import_open_forget(mxp_import_open *open, uint64_t id)
{
    void *entry = mxp__id_map_find(&open->stacks, id | 1);
    if (entry != NULL) {
        mxp__id_map_remove(&open->stacks, entry);
    }
}
