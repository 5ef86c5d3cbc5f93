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

mxp_import_frame mxp__import_open_take(mxp_import_open *open, size_t *top, uint32_t process,
                                       uint32_t name)
{
    enum { LOOKED_AT = 1000 };  // a stack that is deeper has no order to be found
    size_t *at = top;
    for (int i = 0; i < LOOKED_AT && *at != 0; i++) {
        mxp_import_frame *frame = &open->frames[*at - 1];
        if (frame->row.process == process && frame->name == name) {
            return mxp__import_open_pop(open, at);
        }
        at = &frame->below;
    }
    return mxp__import_open_pop(open, top);
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
