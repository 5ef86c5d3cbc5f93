// SPDX-License-Identifier: Apache-2.0
// Linux. System calls that older C libraries do not wrap are made directly. Files of /proc and /sys
// may be missing in containers and sandboxes; then the answer is the cautious one.
#include "base/os/os.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu/cpu.h"

enum { THREAD_NAME_BYTES = 16, CPU_FILE_BYTES = 4096 };

uint32_t mxp__os_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

// The CPUs on which this process may run. A container or taskset may leave it fewer than there are.
uint32_t mxp__os_cpu_count(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        return (uint32_t)CPU_COUNT(&allowed);
    }
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

void mxp__os_thread_name(char *buffer, size_t size)
{
    char name[THREAD_NAME_BYTES + 1] = "";
    if (prctl(PR_GET_NAME, name) != 0) {
        name[0] = '\0';
    }
    snprintf(buffer, size, "%s", name);
}

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

// The kernel answers EPERM until the process has registered for membarrier. Whether it has is not
// stored here, because that would be wrong after exec or in a second copy of this code.
bool mxp__os_barrier_all_threads(void)
{
    int saved_errno = errno;
    long failed = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    if (failed != 0 && errno == EPERM &&
        membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0) {
        failed = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    }
    errno = saved_errno;
    return failed == 0;
}

void mxp__os_word_wait(const mxp_atomic_u32 *word, uint32_t expected)
{
    int saved_errno = errno;
    syscall(SYS_futex, &word->value, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
    errno = saved_errno;
}

void mxp__os_word_wait_ms(const mxp_atomic_u32 *word, uint32_t expected, uint32_t timeout_ms)
{
    int saved_errno = errno;
    const struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                                     .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
    syscall(SYS_futex, &word->value, FUTEX_WAIT_PRIVATE, expected, &timeout, NULL, 0);
    errno = saved_errno;
}

// Starts a futex wait that ends at once: the system reads the word, or reports that it cannot.
bool mxp__os_is_readable(const void *place)
{
    int saved_errno = errno;
    static const struct timespec at_once;
    const void *word = (const void *)((uintptr_t)place & ~(uintptr_t)3);
    long woken = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, &at_once, NULL, 0);
    bool readable = woken == 0 || errno == ETIMEDOUT || errno == EAGAIN || errno == EINTR;
    errno = saved_errno;
    return readable;
}

void mxp__os_word_wake(const mxp_atomic_u32 *word, bool all)
{
    int saved_errno = errno;
    syscall(SYS_futex, &word->value, FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1, NULL, NULL, 0);
    errno = saved_errno;
}

// Reads up to size - 1 bytes and terminates them; the count, 0 if there is no such file.
static size_t read_file(const char *path, char *buffer, size_t size)
{
    size_t length = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t got;
        do {
            got = read(file, buffer + length, size - 1 - length);
            length += got > 0 ? (size_t)got : 0;
        } while ((got > 0 && length < size - 1) || (got < 0 && errno == EINTR));
        close(file);
    }
    buffer[length] = '\0';
    return length;
}

bool mxp__os_trusts_cpu_counter(void)
{
    uint32_t source = mxp__cpu_counter_source();
    const char *trusted = source == MXP_CLOCK_SOURCE_TSC   ? "tsc\n"
                          : source == MXP_CLOCK_SOURCE_ARM ? "arch_sys_counter\n"
                                                           : "";
    char current[64];
    size_t length = read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                              current, sizeof current);
    return length != 0 && strcmp(current, trusted) == 0;
}

void mxp__os_command_line(char *buffer, size_t size)
{
    if (size == 0) {
        return;
    }
    size_t length = read_file("/proc/self/cmdline", buffer, size);
    while (length > 0 && buffer[length - 1] == '\0') {
        length--;
    }
    for (size_t i = 0; i < length; i++) {
        if (buffer[i] == '\0') {
            buffer[i] = ' ';
        }
    }
}

void mxp__os_cpu_name(char *buffer, size_t size)
{
    char text[CPU_FILE_BYTES];
    read_file("/proc/cpuinfo", text, sizeof text);
    const char *line = strstr(text, "model name");
    const char *name = line == NULL ? NULL : strstr(line, ": ");
    int length = name == NULL ? 0 : (int)strcspn(name + 2, "\n");
    snprintf(buffer, size, "%.*s", length, name == NULL ? "" : name + 2);
}

#endif
