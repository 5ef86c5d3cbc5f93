// SPDX-License-Identifier: Apache-2.0
// What the processors had for this process: CPU time, and run delay, which is how long threads were
// ready to run and had no core. Linux counts the latter in a file a thread, schedstat. Each is kept
// open, because opening it costs eight times what reading it does; and of a program that has closed
// its number, it is opened again.
#ifndef MXP_BASE_OS_RUN_DELAY_H
#define MXP_BASE_OS_RUN_DELAY_H

#include <stdbool.h>
#include <stdint.h>

uint64_t mxp__os_process_cpu_ns(void);  // of all threads, ended ones too

// The run delay of all threads since each began, in ns; UINT64_MAX: not known. It is so where the
// system does not count it, while another thread is in here, and of more threads than 256 or an
// eighth of the descriptors that the process may have. What a thread had after the last call before
// its end is left out, so the sum never gets less. Any thread, in signal handlers too; errno stays.
uint64_t mxp__os_run_delay_ns(void);

// Closes the descriptors; the next call opens them again. `forget`: in a forked child, which has
// none of the threads.
void mxp__os_run_delay_close(bool forget);

#endif
