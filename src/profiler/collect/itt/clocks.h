// SPDX-License-Identifier: Apache-2.0
// Clocks of the program's own, in whose units marks may give their times.
#ifndef MXP_COLLECT_ITT_CLOCKS_H
#define MXP_COLLECT_ITT_CLOCKS_H

#include "profiler/collect/itt/itt_abi.h"

typedef struct itt_clock itt_clock;
typedef void (*itt_read_clock)(itt_clock_info *info, void *data);

// `read` tells the clock's frequency and what it shows now; it is called here and at each reset.
itt_clock *mxp__itt_clock_domain_create(itt_read_clock read, void *data);
void mxp__itt_clock_domain_reset(void);

// A stamp of `clock` in ticks of the trace's; null: stamps are ticks (get_timestamp). Now, for a
// clock that is unknown or stands still; never 0.
uint64_t mxp__itt_ticks(const itt_clock *clock, unsigned long long stamp);

#endif
