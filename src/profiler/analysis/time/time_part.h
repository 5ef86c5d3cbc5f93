// SPDX-License-Identifier: Apache-2.0
// What the spans and operators of some threads of a process add up to, by the ids of the trace.
// Parts of a process do not need one another: they are read side by side, and time_rows.c makes one
// table of them.
#ifndef MXP_ANALYSIS_TIME_PART_H
#define MXP_ANALYSIS_TIME_PART_H

#include "profiler/analysis/time/time_rows.h"

typedef struct mxp_time_part_row {
    size_t first_range;  // in which it came first
    mxp_time_row row;  // its name and scope are ids of the process; of the category nothing
} mxp_time_part_row;

typedef struct mxp_part_range {
    size_t number;  // as the source counts
    uint32_t part;
} mxp_part_range;

typedef struct mxp_time_part {
    // What is to be read; not owned.
    mxp_source *source;
    const mxp_choice *choice;
    const mxp_filter *filter;  // may be null
    const bool *overlaps;  // by name id: spans of it may overlap others
    bool has_no_durations;
    const mxp_part_range *ranges;  // in the order of their numbers; of a thread all or none
    size_t range_count;
    // What came of it.
    mxp_time_part_row *rows;  // in the order in which they came
    size_t count, capacity;
    uint64_t operators, spans;  // that were chosen, filtered ones left out
} mxp_time_part;

// MXP_ENOMEM, or an error of the source. In both cases finished by the caller. Names are not asked
// for, so several threads may read parts of one source.
int mxp__time_part_read(mxp_time_part *part);
void mxp__time_part_fini(mxp_time_part *part);

#endif
