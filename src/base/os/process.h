// SPDX-License-Identifier: Apache-2.0
// What the system knows about this process.
#ifndef MXP_BASE_OS_PROCESS_H
#define MXP_BASE_OS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

// The file name of the program, without folders; "" if unknown.
void mxp__os_program_name(char *buffer, size_t size);
// When the process was started, on the clock of mxp__os_boottime_ns, in the system's coarse steps.
// Process id and start time together identify a process. 0 if unknown.
uint64_t mxp__os_process_start_ns(void);

#endif
