// SPDX-License-Identifier: Apache-2.0
// Folder runtime/storage: pools of each device's memory, and who owns what.
//
// Memory of devices, as the other folders see it. Each device has a pool that keeps freed blocks
// for the next request of the same rounded size. Totals are true at all times, whether or not
// anything is recorded; while class MEMORY is on, each allocation and release leaves a record, in
// the order in which the totals changed.
//
// Everything here may be called from any thread, also inside an operation, and continues working in
// a forked child. Functions that can fail return 0 or a negative MXP_E code with the detail set.
//
// Environment, read at the first use of a kind of device (<DEV> is CPU or CPU_PINNED; cpu_shared is
// never pooled):
//   MXNET_<DEV>_MEM_POOL_TYPE                  Naive (default), Round, Unpooled
//   MXNET_<DEV>_MEM_POOL_PAGE_SIZE             4096; also as MXNET_<DEV>_POOL_PAGE_SIZE. At least
//                                              32; a power of two with Round
//   MXNET_<DEV>_MEM_LARGE_ALLOC_ROUND_SIZE     2097152
//   MXNET_<DEV>_MEM_POOL_ROUND_LINEAR_CUTOFF   24, from 20 to 34
//   MXNET_<DEV>_MEM_POOL_RESERVE               5: percent of the memory to be left free
//   MXNET_USE_NAIVE_STORAGE_MANAGER            0; 1 is Unpooled everywhere. Also ...MANAGERS
#ifndef MXN_STORAGE_STORAGE_H
#define MXN_STORAGE_STORAGE_H

#include <mxprof/record.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MXN_ALIGNMENT = 64 };  // of every block

// What memory is used for: the category of its records.
enum {
    MXN_MEMORY_OTHER = 0,
    MXN_MEMORY_PARAMETER = 1,
    MXN_MEMORY_GRADIENT = 2,
    MXN_MEMORY_OPTIMIZER = 3,
    MXN_MEMORY_OUTPUT = 4,  // of an operator
    MXN_MEMORY_INPUT = 5,  // made by the program or a data iterator
    MXN_MEMORY_WORKSPACE = 6,  // workspace
    MXN_MEMORY_AUXILIARY = 7,  // auxiliary states
    MXN_MEMORY_KVSTORE = 8,
    MXN_MEMORY_EPHEMERAL = 9  // lives inside one operation
};

// Who owns a block.
typedef struct mxn_tag {
    mxp_name name;  // of the array: mxp_string(); MXP_NAME_NONE is "unknown"
    uint32_t scope;  // mxp_scope_current() at the time the array was made; 0: "<unk>:"
    uint32_t category;
} mxn_tag;

// Read-only outside storage/.
typedef struct mxn_allocation {
    void *data;
    uint64_t requested_bytes;
    uint64_t rounded_bytes;  // what may be written
    mxn_tag tag;
    uint8_t device;  // MXP_DEVICE_*
    uint8_t live, profiled, reused;
    uint32_t lead_bytes;  // private: from the start of the allocation to data
    struct mxn_allocation *next;  // private: in the pool
} mxn_allocation;

// `device` is a device number of records: i for cpu(i), MXP_DEVICE_CPU_PINNED,
// MXP_DEVICE_CPU_SHARED. A null tag is an empty one. Size 0 gives a null block and no record.
// Contents are undefined. MXP_ENOMEM: names the biggest owners. MXP_EVALUE: an environment variable
// is ill-formed. MXP_EINVAL: no such device.
int mxn_storage_alloc(uint32_t device, uint64_t bytes, const mxn_tag *tag, mxn_allocation **block);
// Into the pool. Null does nothing.
void mxn_storage_free(mxn_allocation *block);
// Back to the system.
void mxn_storage_free_direct(mxn_allocation *block);
// Gives what the device's pool keeps unused back to the system.
void mxn_storage_release(uint32_t device);

// Records what is live, if recording of class MEMORY has begun since it was done last. Without this
// call it is done before the first allocation or release that is recorded.
void mxn_storage_census(void);

// ---- figures ----------------------------------------------------------------------------------
// One device's, taken together at one time. Zero for a device never used.
typedef struct mxn_storage_counts {
    uint64_t allocations, frees;  // frees into the pool and direct ones
    uint64_t reused;  // of the allocations, from the pool
    uint64_t live_bytes, live_blocks;  // as requested
    uint64_t peak_bytes;  // of live_bytes
    uint64_t held_bytes;  // taken from the system, rounded: what "Pool Memory" shows
    uint64_t unused_bytes;  // of them in no live block
    uint64_t system_allocations, system_frees;
} mxn_storage_counts;

void mxn_storage_counts_get(uint32_t device, mxn_storage_counts *counts);

// Live bytes by owner (scope and name), biggest first; at most `size` of them are stored, the
// number of all is returned. The sum over all owners is live_bytes. Negative without memory.
typedef struct mxn_owner {
    uint32_t scope;
    mxp_name name;
    uint64_t live_bytes, live_blocks;
} mxn_owner;

int mxn_storage_owners(uint32_t device, mxn_owner *owners, int size);

// Writes the live blocks that were allocated while class MEMORY was on, one row each, sorted by
// "scope + array name". This is also done by itself at each dump of the profiler, to
// <gpu_memory_profile_filename_prefix>-pid_<pid>.csv, if that prefix was given.
int mxn_storage_csv_write(const char *path);

#endif
