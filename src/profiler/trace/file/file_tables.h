// SPDX-License-Identifier: Apache-2.0
// The small sections of a native file as tables. Texts stay where they are in the file; everything
// allocated here is bounded by the file's size (at most about 20 times, for statistics).
#ifndef MXP_TRACE_FILE_TABLES_H
#define MXP_TRACE_FILE_TABLES_H

#include "profiler/trace/file/file_index.h"
#include "profiler/trace/source.h"

typedef struct mxp_file_tables {
    mxp_timebase timebase;
    mxp_name_view *names;
    size_t name_count, name_capacity;
    mxp_thread_entry *threads;  // by index, also those that only chunks mention
    size_t thread_count, thread_capacity;
    const mxp_module_entry *modules;  // in the file
    size_t module_count;
    const mxp_clock_owner *clock_owner;  // in the file; what stands behind it, too
    size_t clock_bytes;
    const mxp_loss_entry *losses;  // in the file, or own_losses
    size_t loss_count;
    mxp_loss_entry *own_losses;
    size_t own_loss_capacity;
    mxp_record_range *open;  // spans that never ended, a range for each thread that has any
    size_t open_count, open_capacity;
    mxp_info_pair *info;
    size_t info_count, info_capacity;
    char overwritten[96], overwritten_records[24];  // values of pairs
    mxp_stats_view *stats;
    size_t stats_count, stats_capacity;
    mxp_histogram *histograms;  // of stats, in their order
    size_t histogram_capacity;
} mxp_file_tables;

// Reads the sections that the index found. Invalid content is left out and noted as damage of the
// index, and so are chunks of impossible threads. MXP_ENOMEM.
int mxp__file_tables_read(mxp_file_tables *tables, mxp_file_index *index);
// Makes entries for at least `count` threads. MXP_ENOMEM.
int mxp__file_tables_threads(mxp_file_tables *tables, size_t count);
// Adds a range of `count` words of spans that never ended, as if this thread had written them; the
// caller fills them. Null: no memory.
uint64_t *mxp__file_tables_add_open(mxp_file_tables *tables, size_t count, uint32_t thread,
                                    uint64_t base_ticks);
void mxp__file_tables_fini(mxp_file_tables *tables);

#endif
