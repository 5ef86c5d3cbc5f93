// SPDX-License-Identifier: Apache-2.0
// What is next to be sent to an owner: a heap of operations' parts, by priority, then by number.
#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/dist_node.h"

static bool is_before(const mxn_turn_part *a, const mxn_turn_part *b)
{
    if (a->op->of.priority != b->op->of.priority) {
        return a->op->of.priority > b->op->of.priority;
    }
    return a->op->number < b->op->number;
}

static void swap(mxn_turn_part *a, mxn_turn_part *b)
{
    const mxn_turn_part kept = *a;
    *a = *b;
    *b = kept;
}

int mxn__link_push(mxn_link *link, const mxn_turn_part *part)
{
    int error =
        mxp__grow(&link->heap, &link->heap_capacity, link->heap_count + 1, sizeof *link->heap);
    if (error != MXP_OK) {
        return error;
    }
    size_t at = link->heap_count++;
    link->heap[at] = *part;
    while (at > 0 && is_before(&link->heap[at], &link->heap[(at - 1) / 2])) {
        swap(&link->heap[at], &link->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    return MXP_OK;
}

void mxn__link_pop(mxn_link *link)
{
    link->heap[0] = link->heap[--link->heap_count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < link->heap_count; child++) {
            least = is_before(&link->heap[child], &link->heap[least]) ? child : least;
        }
        if (least == at) {
            return;
        }
        swap(&link->heap[at], &link->heap[least]);
        at = least;
    }
}
