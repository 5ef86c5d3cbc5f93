// SPDX-License-Identifier: Apache-2.0
// Memory of the machine. /proc/meminfo is Linux's; where there is none, nothing is known.
#include "base/os/memory.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os/os.h"

static bool find_kib(const char *text, const char *key, uint64_t *bytes)
{
    const char *line = strstr(text, key);
    if (line == NULL) {
        return false;
    }
    *bytes = strtoull(line + strlen(key), NULL, 10) * 1024;
    return true;
}

bool mxp__os_memory(uint64_t *total_bytes, uint64_t *available_bytes)
{
    char text[4096];
    int file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) {
        return false;
    }
    text[length] = '\0';
    return find_kib(text, "MemTotal:", total_bytes) &&
           find_kib(text, "MemAvailable:", available_bytes);
}

void *mxp__os_map_shared_pages(uint64_t size_bytes)
{
    void *pages = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void mxp__os_unmap_shared_pages(void *pages, uint64_t size_bytes)
{
    if (pages != NULL) {
        munmap(pages, size_bytes);
    }
}

// Whole pages around it: the pages of a block that the allocator has mapped by itself, which stay
// one mapping.
void mxp__os_advise_huge(void *start, uint64_t size_bytes)
{
#ifdef MADV_HUGEPAGE
    if (size_bytes >= MXP__HUGE_LEAST_BYTES) {
        const uintptr_t page = mxp__os_page_bytes();
        const uintptr_t first = (uintptr_t)start & ~(page - 1);
        const uintptr_t end = ((uintptr_t)start + size_bytes + page - 1) & ~(page - 1);
        madvise((void *)first, end - first, MADV_HUGEPAGE);
    }
#else
    (void)start;
    (void)size_bytes;
#endif
}
