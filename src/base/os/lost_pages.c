// SPDX-License-Identifier: Apache-2.0
// See lost_pages.h.
#include "base/os/lost_pages.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t lost;
static uintptr_t page_bytes;

// The access is repeated when this returns. Where nothing can be put, it ends the process.
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    void *page = (void *)((uintptr_t)info->si_addr & ~(page_bytes - 1));
    if (info->si_code != BUS_ADRERR ||
        mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page) {
        signal(number, SIG_DFL);
        return;
    }
    lost = 1;
}

void mxp__lost_pages_replace(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigaction(SIGBUS, &action, NULL);
}

bool mxp__lost_pages_any(void)
{
    return lost != 0;
}
