// SPDX-License-Identifier: Apache-2.0
// Folder base/os: every difference between operating systems, and their calls.
//
// One file per system beside this header: linux.c, and posix.c for what all POSIX systems share. No
// other folder asks which system it is.
#ifndef MXP_BASE_OS_H
#define MXP_BASE_OS_H

#include <mxprof/atomic.h>
#include <mxprof/format.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint32_t mxp__os_thread_id(void);
uint32_t mxp__os_process_id(void);
uint32_t mxp__os_cpu_count(void);
// Name of the calling thread as the system knows it, "" if unknown. At most `size` with the zero.
void mxp__os_thread_name(char *buffer, size_t size);

uint64_t mxp__os_raw_ns(void);  // CLOCK_MONOTONIC_RAW
uint64_t mxp__os_monotonic_ns(void);
uint64_t mxp__os_realtime_ns(void);
uint64_t mxp__os_boottime_ns(void);

// Zeroed pages, or null. Async-signal-safe.
void *mxp__os_map_pages(size_t size_bytes);
void mxp__os_unmap_pages(void *pages, size_t size_bytes);
size_t mxp__os_page_bytes(void);

// Makes every running thread of the process execute a full barrier. False: the system cannot do so,
// and the caller must wait instead.
bool mxp__os_barrier_all_threads(void);

// Blocks all signals of this thread but SIGBUS, which ends the process where it is blocked. Stores
// the old mask in `saved` (at least 128 bytes).
void mxp__os_block_signals(void *saved);
bool mxp__os_blocks_signals(void);  // whether this thread has any signal blocked
void mxp__os_restore_signals(const void *saved);

// Whether this is a signal handler on a stack of its own (sigaltstack).
bool mxp__os_is_on_signal_stack(void);

// Sleeps while *word is `expected`, until woken; may also return early. The word lives in this
// process only.
void mxp__os_word_wait(const mxp_atomic_u32 *word, uint32_t expected);
// The same for at most so many ms.
void mxp__os_word_wait_ms(const mxp_atomic_u32 *word, uint32_t expected, uint32_t timeout_ms);
// Wakes one thread or all threads that sleep on `word`. Only the address is used, so the memory may
// be freed already.
void mxp__os_word_wake(const mxp_atomic_u32 *word, bool all);

// Whether the memory at `place` can be read; false also if that is unknown. Async-signal-safe.
bool mxp__os_is_readable(const void *place);

void mxp__os_sleep_us(uint64_t us);
void mxp__os_yield(void);
// One wait more, the `tries`-th, for a thread that is about to be done: yields at first, then
// sleeps, because a thread of real-time priority would never let it run. Async-signal-safe; errno
// stays.
void mxp__os_wait_turn(unsigned tries);

// Writes all bytes, with as many system calls as that takes. Returns how many were written: less
// than `size_bytes` if a call failed, with the reason in errno.
size_t mxp__os_write(int fd, const void *data, size_t size_bytes);
// The same from an offset on. The descriptor's file position does not change.
size_t mxp__os_write_at(int fd, const void *data, size_t size_bytes, uint64_t offset);

// Waits until a non-blocking descriptor accepts more bytes. False: errno says why; ETIMEDOUT: it
// accepted nothing for two seconds.
bool mxp__os_wait_to_write(int fd);

// Whether the system's own timekeeping trusts the CPU's counter.
bool mxp__os_trusts_cpu_counter(void);

// Lines about this machine and process for the INFO section; "" if unknown.
void mxp__os_host_name(char *buffer, size_t size);
void mxp__os_command_line(char *buffer, size_t size);  // arguments joined by blanks
void mxp__os_system_name(char *buffer, size_t size);  // "Linux 6.1.0 x86_64"
void mxp__os_cpu_name(char *buffer, size_t size);

#endif
