// SPDX-License-Identifier: Apache-2.0
// See life.h. A sweep over the begins: between two of them the instance begun last has the time up
// to its end, then the one begun before it. Those that are over leave the heap when they come to
// its top.
#include "instances/life.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "text/figure.h"
#include "text/label.h"

static const char memory_for[] = "the life of a request";

// ---- what is open ------------------------------------------------------------------------------
typedef struct open_heap {
    const mxp_instance **at;  // what has the time is on top
    size_t count, capacity;
} open_heap;

static bool goes_before(const mxp_instance *a, const mxp_instance *b)
{
    if (a->is_async != b->is_async) {
        return !a->is_async;
    }
    return a->begin_ns != b->begin_ns ? a->begin_ns > b->begin_ns : a->end_ns < b->end_ns;
}

static int heap_push(open_heap *heap, const mxp_instance *instance)
{
    if (mxp__grow(&heap->at, &heap->capacity, heap->count + 1, sizeof *heap->at) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    size_t place = heap->count++;
    while (place > 0 && goes_before(instance, heap->at[(place - 1) / 2])) {
        heap->at[place] = heap->at[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap->at[place] = instance;
    return MXP_OK;
}

static void heap_pop(open_heap *heap)
{
    const mxp_instance *moving = heap->at[--heap->count];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= heap->count) {
            break;
        }
        child += child + 1 < heap->count && goes_before(heap->at[child + 1], heap->at[child]);
        if (!goes_before(heap->at[child], moving)) {
            break;
        }
        heap->at[place] = heap->at[child];
        place = child;
    }
    if (heap->count > 0) {
        heap->at[place] = moving;
    }
}

// ---- parts and gaps ----------------------------------------------------------------------------
// A life may have as many names as instances, so parts are found by number of source and name.
typedef struct source_entry {
    uint64_t key;  // the source's address
    uint64_t number;  // from 1 on; 0: nothing was recorded
} source_entry;

typedef struct part_entry {
    uint64_t key;  // number of the source << 32 | name, + 1
    size_t place;  // in the life's parts, from 1 on
} part_entry;

typedef struct making {
    mxp_life *life;
    open_heap heap;
    mxp_id_map sources, parts;
} making;

static part_entry *entry_of(making *self, const mxp_source *source, uint32_t name)
{
    uint64_t number = 0;
    if (source != NULL) {
        source_entry *entry = mxp__id_map_add(&self->sources, (uintptr_t)source);
        if (entry == NULL) {
            return NULL;
        }
        number = entry->number = entry->number != 0 ? entry->number : self->sources.count;
    }
    return mxp__id_map_add(&self->parts, (number << 32 | name) + 1);
}

static int give(making *self, const mxp_instance *to, int64_t ns)
{
    mxp_life *life = self->life;
    const mxp_source *source = to != NULL ? to->source : NULL;
    uint32_t name = to != NULL ? to->name : 0;
    part_entry *entry = entry_of(self, source, name);
    if (entry == NULL || mxp__grow(&life->parts, &life->part_capacity, life->part_count + 1,
                                   sizeof *life->parts) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    if (entry->place == 0) {
        life->parts[life->part_count++] = (mxp_life_part){source, name, 0};
        entry->place = life->part_count;
    }
    life->parts[entry->place - 1].ns += ns;
    return MXP_OK;
}

static int add_gap(making *self, int64_t begin_ns, int64_t end_ns)
{
    mxp_life *life = self->life;
    if (mxp__grow(&life->gaps, &life->gap_capacity, life->gap_count + 1, sizeof *life->gaps) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    life->gaps[life->gap_count++] = (mxp_life_gap){begin_ns, end_ns};
    return give(self, NULL, end_ns - begin_ns);
}

// Gives the time from *now to `until` away.
static int advance(making *self, int64_t *now, int64_t until)
{
    open_heap *heap = &self->heap;
    int error = MXP_OK;
    while (*now < until && error == MXP_OK) {
        while (heap->count > 0 && heap->at[0]->end_ns <= *now) {
            heap_pop(heap);
        }
        const mxp_instance *top = heap->count > 0 ? heap->at[0] : NULL;
        int64_t end = top != NULL && top->end_ns < until ? top->end_ns : until;
        error = top != NULL ? give(self, top, end - *now) : add_gap(self, *now, end);
        *now = end;
    }
    return error;
}

static int compare(const void *a, const void *b)
{
    const mxp_life_part *x = a, *y = b;
    if (x->ns != y->ns) {
        return x->ns > y->ns ? -1 : 1;
    }
    return (x->name > y->name) - (x->name < y->name);
}

int mxp__life_make(const mxp_instances *list, int64_t begin_ns, int64_t end_ns, mxp_life *life)
{
    *life = (mxp_life){.begin_ns = begin_ns, .end_ns = end_ns, .left_out = list->left_out};
    if (life->left_out > 0) {
        return MXP_OK;
    }
    making self = {.life = life,
                   .sources = {.entry_bytes = sizeof(source_entry)},
                   .parts = {.entry_bytes = sizeof(part_entry)}};
    int64_t now = begin_ns;
    int error = MXP_OK;
    for (size_t i = 0; i < list->count && error == MXP_OK; i++) {
        int64_t begin = list->all[i].begin_ns;
        error = advance(&self, &now, begin < end_ns ? begin : end_ns);
        if (error == MXP_OK && begin < end_ns) {
            error = heap_push(&self.heap, &list->all[i]);
        }
    }
    if (error == MXP_OK) {
        error = advance(&self, &now, end_ns);
    }
    mxp__free(self.heap.at, self.heap.capacity * sizeof *self.heap.at);
    mxp__id_map_fini(&self.sources);
    mxp__id_map_fini(&self.parts);
    if (life->part_count > 1) {
        qsort(life->parts, life->part_count, sizeof *life->parts, compare);
    }
    return error;
}

void mxp__life_fini(mxp_life *life)
{
    mxp__free(life->parts, life->part_capacity * sizeof *life->parts);
    mxp__free(life->gaps, life->gap_capacity * sizeof *life->gaps);
    *life = (mxp_life){0};
}

void mxp__life_warn(const mxp_life *life, const char *command, const char *of)
{
    if (life->left_out > 0) {
        fprintf(stderr,
                "mxprof %s: warning: %" PRIu64
                " spans in '%s' are left out, because there is room for %d; so what its time went "
                "to is not told\n",
                command, life->left_out, of, MXP__INSTANCES_MOST);
    }
}

// ---- text --------------------------------------------------------------------------------------
void mxp__life_put_parts(const mxp_life *life, const mxp_screen *screen, mxp_strbuf *out)
{
    enum { MOST = 3 };
    static const double least = 0.001;
    double all = (double)(life->end_ns - life->begin_ns);
    for (size_t i = 0; i < life->part_count && i < MOST; i++) {
        const mxp_life_part *part = &life->parts[i];
        double share = all > 0 ? (double)part->ns / all : 0;
        if (i > 0 && share < least) {
            break;
        }
        mxp__strbuf_puts(out, i > 0 ? ", " : "");
        mxp__put_percent(share, out);
        if (part->source == NULL) {
            mxp__strbuf_puts(out, " nothing recorded");
            continue;
        }
        mxp_name_view name = part->source->name(part->source, part->name);
        mxp__strbuf_putc(out, ' ');
        mxp__put_label(screen, name.text, name.length, out);
    }
    mxp__strbuf_putc(out, '\n');
}
