// SPDX-License-Identifier: Apache-2.0
#ifndef MXP_COLLECT_OMPT_H
#define MXP_COLLECT_OMPT_H

#include <stdbool.h>

// Whether an OpenMP runtime of this process tells us of its regions. LLVM's sends them as ITT
// frames as well, which are left out then.
bool mxp__ompt_is_on(void);

#endif
