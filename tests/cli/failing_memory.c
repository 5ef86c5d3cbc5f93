// SPDX-License-Identifier: Apache-2.0
// Loaded before libc: the allocation with the number FAIL_AT fails, and how many there were is
// written to the file FAIL_COUNT.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size_bytes);
extern void *__libc_calloc(size_t count, size_t size_bytes);
extern void *__libc_realloc(void *pointer, size_t size_bytes);

static long fail_at = -1, allocations;

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAIL_AT");
    fail_at = at != NULL ? atol(at) : -1;
    allocations = 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNT");
    int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    if (file >= 0) {
        dprintf(file, "%ld", allocations);
        close(file);
    }
}

static int is_refused(void)
{
    const int refused = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) == fail_at;
    errno = refused ? ENOMEM : errno;
    return refused;
}

void *malloc(size_t size_bytes)
{
    return is_refused() ? NULL : __libc_malloc(size_bytes);
}

void *calloc(size_t count, size_t size_bytes)
{
    return is_refused() ? NULL : __libc_calloc(count, size_bytes);
}

void *realloc(void *pointer, size_t size_bytes)
{
    return size_bytes != 0 && is_refused() ? NULL : __libc_realloc(pointer, size_bytes);
}
