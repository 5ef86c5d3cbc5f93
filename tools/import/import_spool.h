// SPDX-License-Identifier: Apache-2.0
// Records in any order go in, and come out by thread and, of one thread, in the order in which a
// recorder writes them: by their ends. What does not fit into a few MiB is sorted part by part into
// a temporary file, and the parts are merged.
#ifndef MXP_TOOLS_IMPORT_SPOOL_H
#define MXP_TOOLS_IMPORT_SPOOL_H

#include <mxprof/format.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mxp_import_spool mxp_import_spool;

// What a record is sorted by, and the record.
typedef struct mxp_spooled {
    uint64_t end_ticks;
    uint64_t begin_ticks;  // spans that end at one time: the later begin first
    uint32_t rank;  // of its thread
    uint32_t units;  // its length, below 256
    uint64_t words[];
} mxp_spooled;

int mxp__import_spool_open(mxp_import_spool **spool);  // MXP_ENOMEM
void mxp__import_spool_close(mxp_import_spool *spool);  // null is fine
// Room for a record of this many units. The caller fills all of it before the next call. Null:
// MXP_ENOMEM or MXP_EIO (a full disk), in *error.
mxp_spooled *mxp__import_spool_add(mxp_import_spool *spool, uint32_t units, int *error);
// Ends adding. MXP_EIO, MXP_ENOMEM.
int mxp__import_spool_finish(mxp_import_spool *spool);
// The next one, which holds until the next call. 1; 0 at the end; or a negative error.
int mxp__import_spool_next(mxp_import_spool *spool, const mxp_spooled **record);

#endif
