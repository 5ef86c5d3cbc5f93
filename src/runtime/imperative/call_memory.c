// SPDX-License-Identifier: Apache-2.0
// Blocks that come back go onto one list for all threads, by compare-and-swap. A thread whose own
// list is empty takes all of that list by one exchange. So two threads never look at one block at
// once, and the pool is as large as the largest backlog was.
//
//     worker --give--> returned[class] --take all--> mine->free[class] --take--> pushing thread
#include "runtime/imperative/call_memory.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/thread_slot.h"

enum { CLASSES = 3 };
static const size_t class_bytes[CLASSES] = {768, 1536, 4096};

typedef struct block {
    struct block *next;
} block;

typedef struct own_blocks {
    block *free[CLASSES];
} own_blocks;

static MXP_ATOMIC(block *) returned[CLASSES];
static _Thread_local own_blocks *mine __attribute__((tls_model("initial-exec")));

static int class_of(size_t bytes)
{
    int size_class = 0;
    while (size_class < CLASSES && bytes > class_bytes[size_class]) {
        size_class++;
    }
    return size_class;
}

// Puts a chain onto the list for all.
static void put_back(int size_class, block *first, block *last)
{
    block *head = mxp_atomic_load(&returned[size_class]);
    do {
        last->next = head;
    } while (!mxp_atomic_cas_release(&returned[size_class], &head, first));
}

static void thread_ends(void *pointer)
{
    own_blocks *own = pointer;
    for (int size_class = 0; size_class < CLASSES; size_class++) {
        block *last = own->free[size_class];
        while (last != NULL && last->next != NULL) {
            last = last->next;
        }
        if (last != NULL) {
            put_back(size_class, own->free[size_class], last);
        }
    }
    mxp__free(own, sizeof(own_blocks));
    mine = NULL;
}

static mxp_thread_slot slot = MXP__THREAD_SLOT_INIT(thread_ends);

static own_blocks *own_get(void)
{
    if (mine == NULL) {
        mine = mxp__thread_slot_new(&slot, sizeof(own_blocks));
    }
    return mine;
}

void *mxn__call_take(size_t bytes)
{
    int size_class = class_of(bytes);
    own_blocks *own = size_class < CLASSES ? own_get() : NULL;
    if (own != NULL && own->free[size_class] == NULL &&
        mxp_atomic_load(&returned[size_class]) != NULL) {
        // Pairs with put_back's release.
        own->free[size_class] = mxp_atomic_exchange_acquire(&returned[size_class], NULL);
    }
    void *memory;
    if (own != NULL && own->free[size_class] != NULL) {
        memory = own->free[size_class];
        own->free[size_class] = own->free[size_class]->next;
    } else {
        memory = mxp__alloc(size_class < CLASSES ? class_bytes[size_class] : bytes);
    }
    if (memory == NULL) {
        mxp__fail_memory("an operator's call");
    }
    return memory;
}

void mxn__call_give(void *memory, size_t bytes)
{
    int size_class = class_of(bytes);
    if (size_class == CLASSES) {
        mxp__free(memory, bytes);
        return;
    }
    put_back(size_class, memory, memory);
}
