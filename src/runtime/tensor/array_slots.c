// SPDX-License-Identifier: Apache-2.0
// Memory of arrays: slots in slabs that are never given back, so that a dead handle can be looked
// at and recognised. Each slab has as many slots as all before it and one more of the first kind,
// so that there are few, and whether an address is a slot at all is soon found. Free slots form a
// stack; its head carries a count of changes, which tells a slot that was taken and put back
// meanwhile from one that stayed.
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "runtime/tensor/array_state.h"

enum { FIRST_SLOTS = 512, SLABS_MAX = 16, SLOT_BYTES = (sizeof(mxn_array) + 63) / 64 * 64 };

static mxp_lock grow_lock = MXP__LOCK_INIT;
static char *slabs[SLABS_MAX];  // written under grow_lock before their slots are on the stack
static uint32_t slab_count;  // atomic
static uint64_t stack;  // atomic: changes (high 32) | index + 1 of the first (low 32)

static size_t slab_slots(uint32_t slab)
{
    return (size_t)FIRST_SLOTS << slab;
}

// Of the first slot in a slab.
static uint32_t first_index(uint32_t slab)
{
    return ((1u << slab) - 1) * FIRST_SLOTS;
}

static mxn_array *slot_at(uint32_t index)
{
    uint32_t slab = 31 - (uint32_t)__builtin_clz(index / FIRST_SLOTS + 1);
    return (mxn_array *)(void *)(slabs[slab] + (size_t)(index - first_index(slab)) * SLOT_BYTES);
}

bool mxn__array_is_slot(const void *address)
{
    // Acquire pairs with grow. The newest slab has half of all slots.
    for (uint32_t slab = __atomic_load_n(&slab_count, __ATOMIC_ACQUIRE); slab-- > 0;) {
        size_t at = (uintptr_t)address - (uintptr_t)slabs[slab];
        if (at < slab_slots(slab) * SLOT_BYTES) {
            return at % SLOT_BYTES == 0;
        }
    }
    return false;
}

static mxn_array *pop(void)
{
    // Acquire pairs with push: the slot's `next`, and the slab it lies in.
    uint64_t head = __atomic_load_n(&stack, __ATOMIC_ACQUIRE);
    while ((uint32_t)head != 0) {
        mxn_array *slot = slot_at((uint32_t)head - 1);
        uint32_t next = __atomic_load_n(&slot->next, __ATOMIC_RELAXED);
        uint64_t changed = ((head >> 32) + 1) << 32 | next;
        if (__atomic_compare_exchange_n(&stack, &head, changed, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE)) {
            return slot;
        }
    }
    return NULL;
}

// Puts a chain on the stack whose last slot is `last`.
static void push(mxn_array *first, mxn_array *last)
{
    uint64_t head = __atomic_load_n(&stack, __ATOMIC_RELAXED);
    uint64_t changed;
    do {
        __atomic_store_n(&last->next, (uint32_t)head, __ATOMIC_RELAXED);
        changed = ((head >> 32) + 1) << 32 | (first->index + 1);
    } while (!__atomic_compare_exchange_n(&stack, &head, changed, true, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

// A thread that held the lock is not in the child; at worst its slots are never used.
static void free_lock_in_child(void)
{
    mxp__lock_reset(&grow_lock);
}

static void install_fork_handler(void)
{
    pthread_atfork(NULL, NULL, free_lock_in_child);
}

// Makes a slab and keeps its first slot.
static mxn_array *grow(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_fork_handler);
    mxp__lock(&grow_lock);
    mxn_array *first = pop();  // another thread may have been here
    uint32_t slab = slab_count;
    char *memory =
        first != NULL || slab == SLABS_MAX ? NULL : mxp__alloc(slab_slots(slab) * SLOT_BYTES + 63);
    if (memory != NULL) {
        slabs[slab] = memory + (-(uintptr_t)memory & 63);
        uint32_t base = first_index(slab), count = (uint32_t)slab_slots(slab);
        for (uint32_t i = 0; i < count; i++) {
            slot_at(base + i)->index = base + i;
            slot_at(base + i)->next = base + i + 2;
        }
        __atomic_store_n(&slab_count, slab + 1, __ATOMIC_RELEASE);
        first = slot_at(base);
        push(slot_at(base + 1), slot_at(base + count - 1));
    }
    mxp__unlock(&grow_lock);
    return first;
}

mxn_array *mxn__array_take(void)
{
    mxn_array *array = pop();
    if (array == NULL && (array = grow()) == NULL) {
        return NULL;
    }
    array->chunk = NULL;
    array->offset_bytes = 0;
    array->dtype = MXN_DTYPE_NONE;
    array->shape.ndim = -1;
    memset(array->notes, 0, sizeof array->notes);
    __atomic_store_n(&array->refs, 1u, __ATOMIC_RELAXED);
    __atomic_store_n(&array->magic, (uint32_t)MXN__ARRAY_MAGIC, __ATOMIC_RELAXED);
    return array;
}

void mxn__array_put_back(mxn_array *array)
{
    push(array, array);
}

void mxn_array_counts(uint64_t *arrays, uint64_t *chunks)
{
    *arrays = *chunks = 0;
    uint32_t count = first_index(__atomic_load_n(&slab_count, __ATOMIC_ACQUIRE));
    for (uint32_t i = 0; i < count; i++) {
        const mxn_array *slot = slot_at(i);
        *arrays += __atomic_load_n(&slot->magic, __ATOMIC_RELAXED) == MXN__ARRAY_MAGIC;
        *chunks += __atomic_load_n(&slot->own.state, __ATOMIC_RELAXED) != MXN__CHUNK_NONE;
    }
}
