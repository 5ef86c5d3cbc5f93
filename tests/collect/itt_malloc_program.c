// SPDX-License-Identifier: Apache-2.0
// A program whose allocator sends ITT marks from inside of malloc, as TBB's does: the collector may
// not call malloc there again and again. Memory is taken from a block and never given back.
#include "itt_static.h"

#include <errno.h>

static char block[256 << 20];
static unsigned long long used;
static void *heap;
static int is_on;
static unsigned long calls;

static void *take(size_t size)
{
    const unsigned long long at =
        __atomic_fetch_add(&used, (size + 31) & ~15ull, __ATOMIC_RELAXED) + 16;
    if (at + size > sizeof block) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(block + at - 16, &size, sizeof size);
    return block + at;
}

void *malloc(size_t size)
{
    static domain *allocator;
    void *made = take(size);
    if (is_on) {
        __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
        allocator = domain_create("allocator");
        task_begin(allocator, none, none, string_handle_create("malloc"));
        sync_prepare(&heap);
        sync_acquired(&heap);
        sync_releasing(&heap);
        heap_allocate_end(heap, &made, size, 0);
        task_end(allocator);
    }
    return made;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size);  // the block is zeros
}

void free(void *freed)
{
    if (is_on && freed != NULL) {
        heap_free_begin(heap, freed);
    }
}

void *realloc(void *old, size_t size)
{
    void *made = malloc(size);
    size_t had = 0;
    if (old != NULL && made != NULL) {
        memcpy(&had, (char *)old - 16, sizeof had);
        memcpy(made, old, had < size ? had : size);
        free(old);
    }
    return made;
}

static void *work(void *unused)
{
    char *volatile kept;
    for (int i = 0; i < 1000; i++) {
        kept = malloc(32);
        errno = 77;
        free(kept);
        if (errno != 77) {
            exit(7);
        }
    }
    return unused;
}

static void run_threads(void)
{
    pthread_t threads[4];
    heap = heap_function_create("malloc", "allocator");
    is_on = 1;
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    is_on = 0;
    if (calls < 4000) {
        exit(6);
    }
}

int main(void)
{
    static const part parts[] = {{"threads", run_threads}};
    return run_part(parts, 1, "threads");
}
