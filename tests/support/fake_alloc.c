// SPDX-License-Identifier: Apache-2.0
// Each block has its size before it; a growing block always moves, so that stale pointers show
// under AddressSanitizer.
#include "fake_alloc.h"

#include <mxprof/error.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUBBISH = 0xa5 };

typedef struct head {
    _Alignas(16) size_t size_bytes;
} head;

static atomic_size_t held_blocks, held_bytes, failed;
static atomic_size_t left = SIZE_MAX;  // allocations until they fail; SIZE_MAX: never

static int may_allocate(void)
{
    size_t now = atomic_load(&left);
    while (now != SIZE_MAX && now != 0 && !atomic_compare_exchange_weak(&left, &now, now - 1)) {
    }
    if (now == 0) {
        atomic_fetch_add(&failed, 1);
    }
    return now != 0;
}

static void release(void *pointer)
{
    head *block = (head *)pointer - 1;
    atomic_fetch_sub(&held_blocks, 1);
    atomic_fetch_sub(&held_bytes, block->size_bytes);
    free(block);
}

static void check_size(const void *pointer, size_t told_bytes)
{
    size_t size_bytes = pointer == NULL ? 0 : ((const head *)pointer - 1)->size_bytes;
    if (size_bytes != told_bytes) {
        fprintf(stderr, "fake_alloc: a block of %zu bytes was said to have %zu\n", size_bytes,
                told_bytes);
        abort();
    }
}

static void *reallocate(void *context, void *pointer, size_t old_size_bytes, size_t size_bytes)
{
    (void)context;
    check_size(pointer, old_size_bytes);
    if (size_bytes == 0) {
        if (pointer != NULL) {
            release(pointer);
        }
        return NULL;
    }
    if (size_bytes > old_size_bytes && !may_allocate()) {
        return NULL;
    }
    head *block = malloc(sizeof *block + size_bytes);
    if (block == NULL) {
        return NULL;
    }
    block->size_bytes = size_bytes;
    atomic_fetch_add(&held_blocks, 1);
    atomic_fetch_add(&held_bytes, size_bytes);
    memset(block + 1, RUBBISH, size_bytes);
    if (pointer != NULL) {
        memcpy(block + 1, pointer, old_size_bytes < size_bytes ? old_size_bytes : size_bytes);
        release(pointer);
    }
    return block + 1;
}

void fake_alloc_install(void)
{
    const mxp_allocator hook = {.size_bytes = sizeof hook, .reallocate = reallocate};
    if (mxp_set_allocator(&hook) != 0) {
        fprintf(stderr, "fake_alloc: %s\n", mxp_last_error());
        abort();
    }
}

void fake_alloc_fail_after(size_t count)
{
    atomic_store(&failed, 0);
    atomic_store(&left, count);
}

void fake_alloc_fail_never(void)
{
    atomic_store(&left, SIZE_MAX);
}

size_t fake_alloc_failed(void)
{
    return atomic_load(&failed);
}

size_t fake_alloc_held_blocks(void)
{
    return atomic_load(&held_blocks);
}

size_t fake_alloc_held_bytes(void)
{
    return atomic_load(&held_bytes);
}
