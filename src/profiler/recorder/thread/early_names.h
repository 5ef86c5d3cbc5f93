// SPDX-License-Identifier: Apache-2.0
// Names of threads that were told before the threads recorded anything.
#ifndef MXP_PROF_EARLY_NAMES_H
#define MXP_PROF_EARLY_NAMES_H

#include <stdint.h>

// The name that was told of the thread with this number of the system's, which registers now; it is
// not kept. MXP_NAME_NONE: none was.
uint32_t mxp__early_name_take(uint32_t tid);

void mxp__early_names_fork_child(void);  // they are those of the parent's threads

#endif
