// SPDX-License-Identifier: Apache-2.0
// See stack_export.h. All stacks of a process are made first, then written root by root, with a
// break wherever the output is full.
#include "export/stack_export.h"

#include "base/alloc.h"
#include "base/fail.h"

typedef struct numbered_frame {
    uint64_t key;
    uint32_t number;
} numbered_frame;

static const char memory_for[] = "the exported stacks";

uint32_t mxp__stack_frame_number(mxp_stack_export *at, uint32_t frame, bool *is_new)
{
    uint64_t key = ((uint64_t)at->process << 32 | frame) + 1;
    numbered_frame *known = mxp__id_map_find(&at->frames, key);
    *is_new = known == NULL;
    if (known == NULL) {
        known = mxp__id_map_add(&at->frames, key);
        if (known == NULL) {
            at->out->failed = true;
            return 0;
        }
        known->number = at->frame_count++;
    }
    return known->number;
}

int mxp__stack_export_begin(mxp_export *run)
{
    mxp_stack_export *at = mxp__alloc(sizeof *at);
    if (at == NULL) {
        return mxp__fail_memory(memory_for);
    }
    run->state = at;
    at->exporter = (const mxp_stack_exporter *)run->exporter;
    at->out = run->out;
    at->first_source = run->source;
    at->processes = run->source->process_count > 0 ? run->source->process_count : 1;
    at->frames.entry_bytes = sizeof(numbered_frame);
    if (at->exporter->head != NULL) {
        at->exporter->head(at);
    }
    return MXP_OK;
}

// The next root with spans. False: there is none.
static bool next_root(mxp_stack_export *at)
{
    const mxp_stacks *stacks = &at->stacks;
    at->first = at->last;
    if (at->first + 1 >= stacks->count) {
        return false;
    }
    uint32_t root = stacks->stacks[stacks->by_root[at->first]].root;
    while (at->last + 1 < stacks->count && stacks->stacks[stacks->by_root[at->last]].root == root) {
        at->last++;
    }
    at->next = at->first;
    at->pass = 0;
    return true;
}

static void call(mxp_stack_export *at, void (*callback)(mxp_stack_export *, uint32_t, unsigned))
{
    if (callback != NULL) {
        callback(at, at->stacks.by_root[at->first], at->pass);
    }
}

static void write_next(mxp_stack_export *at)
{
    if (at->next == at->first) {
        at->written = 0;
        call(at, at->exporter->root);
    }
    uint32_t number = at->stacks.by_root[at->next++];
    if (at->stacks.stacks[number].spans > 0) {
        mxp__stack_path(&at->stacks, number, at->path);
        at->path_count = at->stacks.stacks[number].frames;
        at->exporter->stack(at, number, at->pass);
        at->written++;
    }
    if (at->next == at->last) {
        call(at, at->exporter->root_end);
        at->next = at->first;
        at->pass++;
        at->roots += at->pass == at->exporter->passes;
    }
}

int mxp__stack_export_rest(mxp_export *run)
{
    mxp_stack_export *at = run->state;
    if (!at->made) {
        int error = mxp__stacks_make(run->source, &at->stacks);
        if (error != MXP_OK) {
            return error;
        }
        at->made = true;
        at->pass = at->exporter->passes;
        mxp__stacks_note(&at->stacks, run->options->notes);
    }
    while (at->pass < at->exporter->passes || next_root(at)) {
        write_next(at);
        if (at->out->failed) {
            return mxp__fail_memory(memory_for);
        }
        if (at->out->length >= run->flush_bytes) {
            return 1;
        }
    }
    return MXP_OK;
}

static void leave_process(mxp_stack_export *at)
{
    mxp__stacks_fini(&at->stacks);
    at->first = at->last = at->next = 0;
    at->made = false;
}

int mxp__stack_export_process(mxp_export *run)
{
    mxp_stack_export *at = run->state;
    leave_process(at);
    at->process++;
    return MXP_OK;
}

int mxp__stack_export_end(mxp_export *run)
{
    mxp_stack_export *at = run->state;
    if (at == NULL) {
        return MXP_OK;
    }
    if (at->exporter->tail != NULL) {
        at->exporter->tail(at);
    }
    int error = at->out->failed ? mxp__fail_memory(memory_for) : MXP_OK;
    leave_process(at);
    mxp__id_map_fini(&at->frames);
    for (size_t i = 0; i < sizeof at->tables / sizeof at->tables[0]; i++) {
        mxp__strbuf_fini(&at->tables[i]);
    }
    mxp__free(at, sizeof *at);
    run->state = NULL;
    return error;
}
