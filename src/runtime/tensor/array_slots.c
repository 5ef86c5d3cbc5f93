// SPDX-License-Identifier: Apache-2.0
// Memory of arrays: slots in slabs that are never given back, so that a dead handle can be looked
// at and recognised. Each slab has as many slots as all before it and one more of the first kind,
// so that there are few, and whether an address is in one at all is soon found. Free slots form a
// stack; its head carries a count of changes, which tells a slot that was taken and put back
// meanwhile from one that stayed.
//
// Each array in a slot begins at another place than the one before it, so that its address is
// another handle: of a dead one, what lies there now is the middle of an array or nothing.
//
//     | slot | places that are skipped | mxn_array | places after it |
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fork_lock.h"
#include "runtime/tensor/array_state.h"

typedef struct slot {
    uint32_t index;
    mxp_atomic_u32 next;  // index + 1 of the free slot below it, 0: none
    mxp_atomic_u32 place;  // of its array, in bytes from here
    uint32_t unused;
} slot;

enum {
    FIRST_SLOTS = 512,
    SLABS_MAX = 16,
    STEP = sizeof(uint64_t),  // a check word
    PLACES_BEGIN = sizeof(slot),
    PLACES_END = PLACES_BEGIN + MXN_ARRAY_PLACES * STEP,
    SLOT_BYTES = (PLACES_END - STEP + sizeof(mxn_array) + 63) / 64 * 64
};
static_assert(_Alignof(mxn_array) <= STEP && PLACES_BEGIN % STEP == 0, "a place for an array");

// A child may find a slab half made by a thread that is not there: its slots are never used.
static mxp_fork_lock grow_lock = MXP__FORK_LOCK_INIT(NULL);
static char *slabs[SLABS_MAX];  // written under grow_lock before their slots are on the stack
static mxp_atomic_u32 slab_count;
static mxp_atomic_u64 stack;  // changes (high 32) | index + 1 of the first (low 32)

static size_t slab_slots(uint32_t slab)
{
    return (size_t)FIRST_SLOTS << slab;
}

// Of the first slot in a slab.
static uint32_t first_index(uint32_t slab)
{
    return ((1u << slab) - 1) * FIRST_SLOTS;
}

static slot *slot_at(uint32_t index)
{
    uint32_t slab = 31 - (uint32_t)__builtin_clz(index / FIRST_SLOTS + 1);
    return (slot *)(void *)(slabs[slab] + (size_t)(index - first_index(slab)) * SLOT_BYTES);
}

bool mxn__array_may_be_at(const void *address)
{
    // Acquire pairs with grow. The newest slab has half of all slots.
    for (uint32_t slab = mxp_atomic_load_acquire(&slab_count); slab-- > 0;) {
        size_t at = (uintptr_t)address - (uintptr_t)slabs[slab];
        if (at < slab_slots(slab) * SLOT_BYTES) {
            return at % STEP == 0;
        }
    }
    return false;
}

static slot *pop(void)
{
    // Acquire pairs with push: the slot's `next`, and the slab it lies in.
    uint64_t head = mxp_atomic_load_acquire(&stack);
    while ((uint32_t)head != 0) {
        slot *top = slot_at((uint32_t)head - 1);
        uint32_t next = mxp_atomic_load(&top->next);
        uint64_t changed = ((head >> 32) + 1) << 32 | next;
        if (mxp_atomic_cas_acquire(&stack, &head, changed)) {
            return top;
        }
    }
    return NULL;
}

// Puts a chain on the stack whose last slot is `last`.
static void push(slot *first, slot *last)
{
    uint64_t head = mxp_atomic_load(&stack);
    uint64_t changed;
    do {
        mxp_atomic_store(&last->next, (uint32_t)head);
        changed = ((head >> 32) + 1) << 32 | (first->index + 1);
    } while (!mxp_atomic_cas_release(&stack, &head, changed));
}

// Makes a slab and keeps its first slot. Apart, so that taking a slot saves no registers for it.
__attribute__((noinline)) static slot *grow(void)
{
    mxp__fork_lock(&grow_lock);
    slot *first = pop();  // another thread may have been here
    uint32_t slab = mxp_atomic_own(&slab_count);
    char *memory =
        first != NULL || slab == SLABS_MAX ? NULL : mxp__alloc(slab_slots(slab) * SLOT_BYTES + 63);
    if (memory != NULL) {
        slabs[slab] = memory + (-(uintptr_t)memory & 63);
        uint32_t base = first_index(slab), count = (uint32_t)slab_slots(slab);
        for (uint32_t i = 0; i < count; i++) {
            slot_at(base + i)->index = base + i;
            mxp_atomic_set(&slot_at(base + i)->next, base + i + 2);
            mxp_atomic_set(&slot_at(base + i)->place, PLACES_BEGIN);
        }
        mxp_atomic_store_release(&slab_count, slab + 1);
        first = slot_at(base);
        push(slot_at(base + 1), slot_at(base + count - 1));
    }
    mxp__fork_unlock(&grow_lock);
    return first;
}

mxn_array *mxn__array_take(void)
{
    slot *taken = pop();
    if (taken == NULL && (taken = grow()) == NULL) {
        return NULL;
    }
    uint32_t place = mxp_atomic_own(&taken->place) + STEP;
    place = place == PLACES_END ? PLACES_BEGIN : place;
    mxp_atomic_store(&taken->place, place);
    mxn_array *array = (mxn_array *)(void *)((char *)taken + place);
    array->place = place;
    array->buffer = NULL;
    array->offset_bytes = 0;
    array->dtype = MXN_DTYPE_NONE;
    array->shape.ndim = -1;
    memset(array->attachments, 0, sizeof array->attachments);
    mxp_atomic_store(&array->own.state, (uint32_t)MXN__BUFFER_NONE);
    mxp__refs_init(&array->refs);
    mxp_atomic_store(&array->check, mxn__array_word(array, MXN__ARRAY_ALIVE));
    return array;
}

void mxn__array_put_back(mxn_array *array)
{
    assert(mxp_atomic_load(&array->check) == mxn__array_word(array, MXN__ARRAY_DEAD) &&
           "the memory of a living array goes back");
    slot *free = (slot *)(void *)((char *)array - array->place);
    push(free, free);
}

void mxn_array_counts(uint64_t *arrays, uint64_t *buffers)
{
    *arrays = *buffers = 0;
    uint32_t count = first_index(mxp_atomic_load_acquire(&slab_count));
    for (uint32_t i = 0; i < count; i++) {
        const slot *at = slot_at(i);
        uint32_t place = mxp_atomic_load(&at->place);
        const mxn_array *array = (const void *)((const char *)at + place);
        uint64_t check = mxp_atomic_load(&array->check);
        *arrays += check == mxn__array_word(array, MXN__ARRAY_ALIVE);
        *buffers += mxp_atomic_load(&array->own.state) != MXN__BUFFER_NONE;
    }
}
