// SPDX-License-Identifier: Apache-2.0
// Living through a mapped file that somebody shortens: the system answers an access behind its end
// with SIGBUS, which would end the process.
#ifndef MXP_BASE_OS_LOST_PAGES_H
#define MXP_BASE_OS_LOST_PAGES_H

#include <stdbool.h>

// From now on a page that is gone reads as zeros. Takes SIGBUS for the whole process: only for a
// process that is all ours.
void mxp__lost_pages_replace(void);
// Whether that has happened.
bool mxp__lost_pages_any(void);

#endif
