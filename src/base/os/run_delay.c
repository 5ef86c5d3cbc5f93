// SPDX-License-Identifier: Apache-2.0
// See run_delay.h. The folder of threads tells by its link count how many there are: it is read
// only after that has changed, or a thread that was known has gone.
#include "base/os/run_delay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/descriptor.h"
#include "base/os/no_cancel.h"

enum { THREADS_MAX = 256, SHARE_OF_DESCRIPTORS = 8, PATH_BYTES = 48 };
// Of the records of getdents64.
enum { ENTRY_LENGTH_AT = 16, ENTRY_NAME_AT = 19 };

static const char folder_path[] = "/proc/self/task";

typedef struct watched {
    mxp_descriptor file;
    uint32_t tid;
    uint64_t delay_ns;  // as it was read last
} watched;

// Under `busy`, which nobody waits for: a handler may have interrupted the one who has it.
static mxp_atomic_bool busy;
static mxp_descriptor folder = {.fd = -1};
static struct {
    uint64_t links;  // of the folder when it was read last; 0: it was not, or not to its end
    uint64_t ended_ns;  // of threads that are gone
    bool counts;  // the system does; else its figures are all 0
    uint32_t count;
    watched threads[THREADS_MAX];
} all;

uint64_t mxp__os_process_cpu_ns(void)
{
    struct timespec used = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

// Whether the number is still this file. Nobody opens these to write, so the look at how it was
// opened that mxp__descriptor_is_ours takes is left out.
static bool look_at(const mxp_descriptor *file, struct stat *status)
{
    return file->fd >= 0 && fstat(file->fd, status) == 0 && status->st_dev == file->device &&
           status->st_ino == file->inode;
}

// ---- one thread -------------------------------------------------------------------------------
static bool open_file(watched *thread)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%u/schedstat", folder_path, thread->tid);
    return mxp__descriptor_open(&thread->file, path, O_RDONLY | O_CLOEXEC);
}

// The three figures are ns on a core (of one that has just begun still 0), ns of delay, and how
// often it got a core. A smaller delay than before is another thread's, which got the number of one
// that is gone.
static bool read_file(watched *thread)
{
    char text[96], *rest;
    ssize_t length = pread(thread->file.fd, text, sizeof text - 1, 0);
    if (length <= 0) {
        return false;
    }
    text[length] = '\0';
    strtoull(text, &rest, 10);
    uint64_t delay_ns = strtoull(rest, &rest, 10);
    all.ended_ns += delay_ns < thread->delay_ns ? thread->delay_ns : 0;
    thread->delay_ns = delay_ns;
    all.counts = all.counts || strtoull(rest, NULL, 10) != 0;
    return true;
}

static bool is_gone(void)
{
    return errno == ESRCH || errno == ENOENT;
}

// False: errno says why.
static bool update(watched *thread)
{
    struct stat status;
    bool open = look_at(&thread->file, &status) || open_file(thread);
    return open && read_file(thread);
}

static void remove_thread(uint32_t i)
{
    mxp__descriptor_close(&all.threads[i].file);
    all.ended_ns += all.threads[i].delay_ns;
    all.threads[i] = all.threads[--all.count];
}

// Whether all that are known are there or gone; *changed: one is gone.
static bool update_known(bool *changed)
{
    bool known = true;
    for (uint32_t i = 0; i < all.count;) {
        if (update(&all.threads[i])) {
            i++;
        } else if (is_gone()) {
            remove_thread(i);
            *changed = true;
        } else {
            known = false;
            i++;
        }
    }
    return known;
}

// ---- the folder -------------------------------------------------------------------------------
// Threads and two: "." and "..". 0: errno says why.
static uint64_t folder_links(void)
{
    struct stat status;
    if (look_at(&folder, &status)) {
        return status.st_nlink;
    }
    all.links = 0;
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    bool open = mxp__descriptor_open(&folder, folder_path, flags) && look_at(&folder, &status);
    return open ? status.st_nlink : 0;
}

static uint32_t most_threads(void)
{
    struct rlimit files;
    bool limited = getrlimit(RLIMIT_NOFILE, &files) == 0 &&
                   files.rlim_cur / SHARE_OF_DESCRIPTORS < THREADS_MAX;
    return limited ? (uint32_t)(files.rlim_cur / SHARE_OF_DESCRIPTORS) : THREADS_MAX;
}

static bool is_known(uint32_t tid)
{
    uint32_t i = 0;
    while (i < all.count && all.threads[i].tid != tid) {
        i++;
    }
    return i < all.count;
}

static bool add_thread(uint32_t tid)
{
    if (tid == 0 || is_known(tid)) {
        return true;
    }
    if (all.count == THREADS_MAX) {
        return false;
    }
    watched *thread = &all.threads[all.count];
    *thread = (watched){.file = MXP__DESCRIPTOR_NONE, .tid = tid};
    if (open_file(thread)) {
        all.count++;
        return read_file(thread) || is_gone();
    }
    return is_gone();
}

// Takes the threads in that are new. Whether all are known.
static bool read_folder(void)
{
    _Alignas(8) char entries[2048];
    bool known = lseek(folder.fd, 0, SEEK_SET) == 0;
    long length = 0;
    while (known && (length = syscall(SYS_getdents64, folder.fd, entries, sizeof entries)) > 0) {
        for (long at = 0; at < length;) {
            uint16_t entry_length;
            memcpy(&entry_length, entries + at + ENTRY_LENGTH_AT, sizeof entry_length);
            known = add_thread((uint32_t)strtoul(entries + at + ENTRY_NAME_AT, NULL, 10)) && known;
            at += entry_length;
        }
    }
    return known && length == 0;
}

// ---- all --------------------------------------------------------------------------------------
static uint64_t sum(void)
{
    uint64_t links = folder_links();
    if (links == 0 || links - 2 > most_threads()) {
        return UINT64_MAX;
    }
    bool changed = links != all.links;
    bool known = update_known(&changed);
    if (known && changed) {
        known = read_folder();
        all.links = known ? links : 0;
    }
    uint64_t ns = all.ended_ns;
    for (uint32_t i = 0; i < all.count; i++) {
        ns += all.threads[i].delay_ns;
    }
    return known && all.counts ? ns : UINT64_MAX;
}

uint64_t mxp__os_run_delay_ns(void)
{
    int saved = errno;
    const int cancel = mxp__cancel_off();
    uint64_t ns = UINT64_MAX;
    if (!mxp_atomic_exchange_acquire(&busy, true)) {
        ns = sum();
        mxp_atomic_store_release(&busy, false);
    }
    mxp__cancel_back(cancel);
    errno = saved;
    return ns;
}

void mxp__os_run_delay_close(bool forget)
{
    int saved = errno;
    if (!mxp_atomic_exchange_acquire(&busy, true) || forget) {
        for (uint32_t i = 0; i < all.count; i++) {
            mxp__descriptor_close(&all.threads[i].file);
        }
        mxp__descriptor_close(&folder);
        all.links = 0;
        all.count = forget ? 0 : all.count;
        all.ended_ns = forget ? 0 : all.ended_ns;
        mxp_atomic_store_release(&busy, false);
    }
    errno = saved;
}
