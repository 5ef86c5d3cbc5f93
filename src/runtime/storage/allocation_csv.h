// SPDX-License-Identifier: Apache-2.0
// Private to src/runtime/storage: the table of allocations that goes with each dump.
#ifndef MXN_STORAGE_ALLOCATION_CSV_H
#define MXN_STORAGE_ALLOCATION_CSV_H

// From now on each dump writes it. Any number of times.
void mxn__allocation_csv_observe(void);

#endif
