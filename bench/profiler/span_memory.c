// SPDX-License-Identifier: Apache-2.0
// R7: bytes a span takes in memory, counted where the library asks the system for pages; and heap
// and system calls per span in steady state. Heap calls are counted by standing in for malloc and
// its kin, system calls by running the same program again under ptrace.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/recording.h"

enum { SPANS = 1000000, FRESH_SPANS = 4000000 };

static const char traced_argument[] = "--record-under-ptrace";

// ---- heap -------------------------------------------------------------------------------------
void *__libc_malloc(size_t size_bytes);
void *__libc_calloc(size_t count, size_t size_bytes);
void *__libc_realloc(void *pointer, size_t size_bytes);
void __libc_free(void *pointer);

static uint64_t heap_calls;

void *malloc(size_t size_bytes)
{
    __atomic_add_fetch(&heap_calls, 1, __ATOMIC_RELAXED);
    return __libc_malloc(size_bytes);
}

void *calloc(size_t count, size_t size_bytes)
{
    __atomic_add_fetch(&heap_calls, 1, __ATOMIC_RELAXED);
    return __libc_calloc(count, size_bytes);
}

void *realloc(void *pointer, size_t size_bytes)
{
    __atomic_add_fetch(&heap_calls, 1, __ATOMIC_RELAXED);
    return __libc_realloc(pointer, size_bytes);
}

void free(void *pointer)
{
    __atomic_add_fetch(&heap_calls, 1, __ATOMIC_RELAXED);
    __libc_free(pointer);
}

// ---- pages ------------------------------------------------------------------------------------
static uint64_t mapped_bytes, heap_bytes;

static void *map_pages(void *context, size_t size_bytes)
{
    (void)context;
    __atomic_add_fetch(&mapped_bytes, size_bytes, __ATOMIC_RELAXED);
    void *pages =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages != MAP_FAILED ? pages : NULL;
}

static void unmap_pages(void *context, void *pages, size_t size_bytes)
{
    (void)context;
    __atomic_sub_fetch(&mapped_bytes, size_bytes, __ATOMIC_RELAXED);
    munmap(pages, size_bytes);
}

static void *reallocate(void *context, void *pointer, size_t old_size_bytes, size_t size_bytes)
{
    (void)context;
    __atomic_add_fetch(&heap_bytes, size_bytes - old_size_bytes, __ATOMIC_RELAXED);
    if (size_bytes == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size_bytes);
}

// ---- claims -----------------------------------------------------------------------------------
static mxp_name begin_counted(void)
{
    static bool hooked;
    const mxp_allocator hook = {sizeof hook, NULL, reallocate, map_pages, unmap_pages};
    bench_require(hooked || mxp_set_allocator(&hook) == 0, "mxp_set_allocator");
    hooked = true;
    return bench_session_begin();
}

// Leaves more written chunks behind than the measured loop needs.
static mxp_name begin_steady(void)
{
    mxp_name name = begin_counted();
    for (int i = 0; i < 2; i++) {
        bench_loop_span_inline(SPANS + SPANS / 4, name);
        bench_drain();
    }
    return name;
}

static void measure_bytes(const bench_claim *claim)
{
    mxp_name name = begin_counted();
    bench_loop_span_inline(1, name);
    uint64_t before = mapped_bytes + heap_bytes;
    bench_loop_span_inline(FRESH_SPANS, name);
    uint64_t after = mapped_bytes + heap_bytes;
    bench_session_stop();
    bench_value(claim, (double)(after - before) / FRESH_SPANS, "pages and heap taken");
}

static void measure_heap_calls(const bench_claim *claim)
{
    mxp_name name = begin_steady();
    uint64_t before = __atomic_load_n(&heap_calls, __ATOMIC_RELAXED);
    bench_loop_span_inline(SPANS / 2, name);
    bench_loop_span_exported(SPANS / 2, name);
    uint64_t after = __atomic_load_n(&heap_calls, __ATOMIC_RELAXED);
    bench_session_stop();
    bench_value(claim, (double)(after - before) / SPANS, "malloc, calloc, realloc, free counted");
}

// The traced program: two calls of getppid, which nothing else makes, enclose the loop.
static void record_under_ptrace(void)
{
    mxp_name name = begin_steady();
    syscall(SYS_getppid);
    bench_loop_span_inline(SPANS / 2, name);
    bench_loop_span_exported(SPANS / 2, name);
    syscall(SYS_getppid);
    _exit(0);
}

static pid_t start_traced(void)
{
    pid_t child = fork();
    bench_require(child >= 0, "fork");
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl("/proc/self/exe", "span_memory", traced_argument, (char *)NULL);
        _exit(127);
    }
    return child;
}

// The number of the system call the child is about to make, -1 if it stopped for something else.
static long entered_call(pid_t child)
{
    struct __ptrace_syscall_info info;
    memset(&info, 0, sizeof info);
    long got = ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof info, &info);
    return got > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY ? (long)info.entry.nr : -1;
}

// System calls between the marks, or -1 if tracing did not work out.
static long count_calls(pid_t child)
{
    int status;
    long calls = 0;
    int marks = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        return -1;
    }
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    int signal_number = 0;
    while (ptrace(PTRACE_SYSCALL, child, NULL, (void *)(intptr_t)signal_number) == 0 &&
           waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        bool is_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        signal_number = is_call ? 0 : WSTOPSIG(status);
        long number = is_call ? entered_call(child) : -1;
        marks += number == SYS_getppid;
        calls += number >= 0 && number != SYS_getppid && marks == 1;
    }
    return marks == 2 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? calls : -1;
}

static void measure_system_calls(const bench_claim *claim)
{
    long calls = count_calls(start_traced());
    if (calls < 0) {
        bench_void(claim, "ptrace is not possible here");
        return;
    }
    bench_value(claim, (double)calls / SPANS, "counted by ptrace");
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"R7 bytes per span in memory", "B", false, 24, 16, measure_bytes},
        {"R7 heap calls per span", "calls", false, 0, 0, measure_heap_calls},
        {"R7 system calls per span", "calls", false, 0, 0, measure_system_calls},
    };
    if (argc == 2 && strcmp(argv[1], traced_argument) == 0) {
        record_under_ptrace();
    }
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
