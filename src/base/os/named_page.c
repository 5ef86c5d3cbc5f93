// SPDX-License-Identifier: Apache-2.0
// See named_page.h. The memory file is closed at once: the mapping keeps its name.
#include "base/os/named_page.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os/os.h"

void *mxp__named_page(const char *name)
{
    int saved = errno;
    void *page = MAP_FAILED;
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0) {
        page = mmap(NULL, mxp__os_page_bytes(), PROT_NONE, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (page != MAP_FAILED) {
        madvise(page, mxp__os_page_bytes(), MADV_DONTFORK);
    }
    errno = saved;
    return page != MAP_FAILED ? page : NULL;
}

void mxp__named_page_remove(void *page)
{
    int saved = errno;
    munmap(page, mxp__os_page_bytes());
    errno = saved;
}
