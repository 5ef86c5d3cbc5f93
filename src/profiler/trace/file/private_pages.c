// SPDX-License-Identifier: Apache-2.0
// See private_pages.h. All space of the file is reserved first: a full disk must not come as a
// signal when the pages are written to.
#include "profiler/trace/file/private_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os/file_signals.h"
#include "base/os/temporary_file.h"
#include "base/strbuf.h"
#include "profiler/trace/file/file_bytes.h"

static const size_t memory_bytes = (size_t)64 << 20;  // up to this they are memory

static const size_t piece_bytes = (size_t)4 << 20;  // a multiple of every page's size

static int open_unnamed(void)
{
    mxp_strbuf name = {0};
    int fd = mxp__temporary_file_make(&name);
    if (fd >= 0) {
        unlink(name.data);
    }
    mxp__strbuf_fini(&name);
    return fd;
}

static void *map_unnamed(size_t size_bytes)
{
    void *pages = MAP_FAILED;
    mxp_file_signals held;
    mxp__file_signals_hold(&held);  // beyond the process's limit
    int fd = open_unnamed();
    if (fd >= 0 && posix_fallocate(fd, 0, (off_t)size_bytes) == 0) {
        pages = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    mxp__file_signals_release(&held);
    return pages;
}

void *mxp__private_pages(size_t size_bytes, bool *in_file)
{
    *in_file = false;
    void *pages = MAP_FAILED;
    if (size_bytes > memory_bytes) {
        pages = map_unnamed(size_bytes);
        *in_file = pages != MAP_FAILED;
    }
    if (pages == MAP_FAILED) {
        pages = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (pages == MAP_FAILED) {
        return NULL;
    }
    madvise(pages, size_bytes, MADV_DONTFORK);
    return pages;
}

size_t mxp__private_fill(void *pages, size_t size_bytes, bool in_file, int fd)
{
    size_t at = 0;
    while (at < size_bytes) {
        char *to = (char *)pages + at;
        size_t wanted = size_bytes - at < piece_bytes ? size_bytes - at : piece_bytes;
        size_t got = mxp__file_read_at(fd, to, wanted, at);
        at += got;
        if (in_file) {
            madvise(to, wanted, MADV_DONTNEED);  // the file has it
        }
        if (got < wanted) {
            break;
        }
    }
    return at;
}
