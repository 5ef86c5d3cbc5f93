// SPDX-License-Identifier: Apache-2.0
// What mxp_clock_cuts was told of this process's clock. It stays as long as the process.
#ifndef MXP_PROF_CLOCK_OWNER_H
#define MXP_PROF_CLOCK_OWNER_H

#include <mxprof/clock_cut.h>

// The content of section CLOCK_CUT.
typedef struct mxp_clock_content {
    mxp_clock_owner owner;
    mxp_clock_cut cuts[MXP_CLOCK_CUTS_MAX];
} mxp_clock_content;

// A copy, of *size_bytes; the caller frees it (mxp__free). Null: nothing was told (0 bytes), or no
// memory, which is MXP_ENOMEM.
int mxp__clock_owner_copy(const mxp_clock_owner **owner, size_t *size_bytes);
// Puts all into the open recording file. Under the names' lock.
void mxp__clock_owner_store(void);

#endif
