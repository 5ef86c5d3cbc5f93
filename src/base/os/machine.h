// SPDX-License-Identifier: Apache-2.0
// What the machine has, by which a reader tells whether two recordings can be compared.
#ifndef MXP_BASE_OS_MACHINE_H
#define MXP_BASE_OS_MACHINE_H

#include <stdint.h>

enum { MXP__CACHE_LEVELS = 3 };

// Bytes of the data cache of `level`, from 1, that the first core has; 0: not known. From the
// system's own files, because sysconf(_SC_LEVEL3_CACHE_SIZE) adds up those of cores that do not
// share one. `root` as in memory.h.
uint64_t mxp__os_cache_bytes(const char *root, unsigned level);

// The lowest limit of CPU time of this process's control groups, in thousandths of a CPU.
// UINT64_MAX if there is none.
uint64_t mxp__os_cpu_limit(const char *root);

#endif
