// SPDX-License-Identifier: Apache-2.0
// Folder profiler/trace: reading records, wherever they are: sources, decoder, reader, merging.
//
// A source is the interface to a set of records. The live recorder
// (src/profiler/recorder/drain/live.c) and native files (src/profiler/trace/file/file_source.c)
// implement it; exporters, the table and the tests see no difference. The set is fixed when the
// source is opened: later records are not in it. One thread uses a source at a time; only `range`
// and `name` may be called by several.
#ifndef MXP_TRACE_SOURCE_H
#define MXP_TRACE_SOURCE_H

#include <mxprof/clock_cut.h>
#include <mxprof/format.h>
#include <mxprof/module.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "profiler/clock/timebase.h"
#include "profiler/trace/histogram.h"

typedef struct mxp_name_view {
    const char *text;  // not necessarily valid UTF-8, terminated, may contain anything else
    uint32_t length;
    uint32_t category;  // name id; of the enclosing scope for MXP_STYLE_SCOPE
    uint8_t style, unit;  // MXP_STYLE_*, MXP_UNIT_*
} mxp_name_view;

// A run of whole records of one thread, in memory, oldest first. Valid until the source is closed.
typedef struct mxp_record_range {
    const uint64_t *words, *end;
    uint64_t base_ticks;  // widens the stamps
    uint64_t lost_before;
    uint32_t thread;  // index into threads
    uint32_t sequence;  // of its chunk, ascending per thread
    uint32_t first_unit;  // units of its chunk before `words` (taken by earlier drains)
    bool filed;  // of a live source: in a recording file already
    uint64_t offset;  // of `words` in the file, for messages; 0: in no file
    uint64_t unread_bytes;  // of an unreadable range: bytes of its records
} mxp_record_range;

typedef struct mxp_stats_view {
    uint32_t name;
    const mxp_histogram *histogram;  // ns
} mxp_stats_view;

#define MXP_COUNTER_OF_DEVICE 0x80000000u  // in a name: the rest is a device

// A counter that was summed without a trace. An age is the time with recording on from a sample to
// drained_ns.
typedef struct mxp_counter_view {
    uint32_t name, type;  // MXP_ARG_*
    uint64_t count;
    uint64_t last, least, most;  // as in records
    double first, integral;  // integral: sum of (value - first) x ns
    int64_t first_age_ns, last_age_ns;
} mxp_counter_view;

typedef struct mxp_info_pair {
    const char *key, *value;
} mxp_info_pair;

// State of the process that a source's file is of.
enum {
    MXP__PROCESS_FINISHED = 0,  // it finished the file
    MXP__PROCESS_RECORDING,  // it is recording now
    MXP__PROCESS_DIED,  // before it finished the file
    MXP__PROCESS_UNFINISHED  // recording or died: the file is from another machine, or a copy
};

typedef struct mxp_source mxp_source;
struct mxp_source {
    uint32_t pid;
    int state;  // MXP__PROCESS_*
    const mxp_timebase *timebase;
    uint32_t name_count;  // ids are 0 .. name_count - 1
    uint32_t thread_count;
    const mxp_thread_entry *threads;  // by index
    size_t loss_count;
    const mxp_loss_entry *losses;
    size_t stats_count;
    const mxp_stats_view *stats;  // statistics gathered without a trace
    size_t counter_count;
    const mxp_counter_view *counters;  // gathered without a trace
    int64_t drained_ns;  // the time up to which they count
    size_t info_count;
    const mxp_info_pair *info;  // the pairs of INFO
    size_t module_count;
    const mxp_module_entry *modules;  // whose functions are names by their address
    size_t clock_bytes;  // of the content of CLOCK_CUT, 0: there is none
    const mxp_clock_owner *clock_owner;  // that content: cuts stand behind it
    // Several processes: each is a source, all in one trace time, closed with this one. All other
    // members are those of the first. 0: a single process.
    size_t process_count;
    mxp_source *const *processes;
    size_t repeated;  // processes that were there twice, with the same records: used once
    size_t undated;  // processes that do not tell when they were recorded
    // Another process before this one has its number, as those of two containers may: the number
    // under which its rows stand instead. 0: its own.
    uint32_t row_pid;

    // An id beyond name_count gives "<bad name>".
    mxp_name_view (*name)(const mxp_source *source, uint32_t id);
    // Ranges are numbered from 0 in an order that keeps each thread's sequence. 1: *range is set.
    // 0: there is none of this number. MXP_EFORMAT, with the detail line: this range cannot be
    // read, later ones may be; of *range only thread, sequence and unread_bytes are set. Any other
    // negative error: no more ranges can be read. Thread-safe.
    int (*range)(mxp_source *source, size_t number, mxp_record_range *range);
    void (*close)(mxp_source *source);  // frees the source; null members are fine
    // The thread of a range, for sources where reaching its records is expensive. 1 or 0 as
    // `range`. May be null: readers then call `range`.
    int (*range_thread)(mxp_source *source, size_t number, uint32_t *thread);
    // Replaces a name, before the source is read; its text outlives the source. Null: it cannot.
    void (*rename)(mxp_source *source, uint32_t id, const mxp_name_view *name);
};

// How many cuts stand behind the clock's owner, and these.
static inline size_t mxp__source_cuts(const mxp_source *source, const mxp_clock_cut **cuts)
{
    if (source->clock_bytes == 0) {
        *cuts = NULL;
        return 0;
    }
    *cuts = (const mxp_clock_cut *)(const void *)(source->clock_owner + 1);
    return (source->clock_bytes - sizeof *source->clock_owner) / sizeof **cuts;
}

// What INFO says of `key`, or null.
static inline const char *mxp__source_info(const mxp_source *source, const char *key)
{
    for (size_t i = 0; i < source->info_count; i++) {
        if (strcmp(source->info[i].key, key) == 0) {
            return source->info[i].value;
        }
    }
    return NULL;
}

static inline void mxp__source_close(mxp_source *source)
{
    if (source != NULL) {
        source->close(source);
    }
}

#endif
