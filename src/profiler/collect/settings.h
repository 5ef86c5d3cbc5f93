// SPDX-License-Identifier: Apache-2.0
// What of the marks is recorded, from the environment. Read once.
#ifndef MXP_COLLECT_SETTINGS_H
#define MXP_COLLECT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

// MXPROF_COLLECT_SYNC: all, waits (of a microsecond and more; default) or none. Allocators and
// runtimes tell of thousands of shorter ones.
enum { MXP__SYNC_NONE = 1, MXP__SYNC_WAITS = 2, MXP__SYNC_ALL = 3 };
int mxp__collect_sync(void);

// MXPROF_COLLECT_MEMORY: 1, or 0, the default. Allocations that marks carry.
bool mxp__collect_memory(void);

// Of the trace's clock; 0 as long as nothing has been recorded.
double mxp__collect_ns_per_tick(void);

#endif
