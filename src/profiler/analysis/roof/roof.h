// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/roof: how fast operators were beside what the machine can do.
//
// A call of an operator needs at least the time of its floating-point operations at the rate of
// multiply-adds, and that of its bytes at the bandwidth of the smallest level of memory that holds
// them. Rows are of calls with equal shapes.
#ifndef MXP_ANALYSIS_ROOF_H
#define MXP_ANALYSIS_ROOF_H

#include "profiler/analysis/roof/ceilings.h"
#include "profiler/analysis/window/choice.h"

typedef enum mxp_family {
    MXP__FAMILY_PRODUCT,
    MXP__FAMILY_ELEMENTWISE,
    MXP__FAMILY_REDUCTION,
    MXP__FAMILY_COPY,
    MXP__FAMILY_RANDOM,
    MXP__FAMILY_OTHER,
    MXP__FAMILIES
} mxp_family;

#define MXP__ROOF_VOID 1.05  // a share of the ceiling above this makes all ceilings void
enum { MXP__ROOF_ROWS_MAX = 1 << 16 };  // what comes later is counted in left_out

typedef struct mxp_roof_row {
    uint32_t name, scope, shape;  // ids; shape 0: not recorded
    uint32_t kernel;  // MXP_KERNEL_*, of the first call
    mxp_family family;
    uint64_t calls, run_ns;
    float flops, bytes;  // of a call; 0: not known
    bool is_known;  // the share: flops or bytes are known
    mxp_ceiling bound;  // which ceiling it has
    double least_ns;  // a call at its ceiling
    double share;  // of the ceiling: least_ns / mean run
    double above_ns;  // run_ns less the calls at their ceiling, 0 at least; not known: 0
} mxp_roof_row;

// All rows of an operator in a scope.
typedef struct mxp_roof_group {
    uint32_t name, scope;
    size_t first, count;  // in `rows`, the largest above_ns first
    uint64_t calls, run_ns, known_run_ns;  // known: of the rows with a share
    double least_ns;  // of all known calls
    double above_ns;
    bool has_path;
    uint64_t path_ns;  // set by the caller, with has_path, before mxp__roof_sort
} mxp_roof_group;

typedef struct mxp_roof {
    mxp_roof_row *rows;
    size_t row_count, row_capacity;
    mxp_roof_group *groups;  // in the order of mxp__roof_sort
    size_t group_count, group_capacity;
    uint64_t run_ns, known_run_ns;  // of all
    uint64_t left_out_calls, left_out_ns;  // beyond MXP__ROOF_ROWS_MAX
    bool is_void;  // a row is above MXP__ROOF_VOID of its ceiling
    size_t worst;  // the row with the largest share; if any is known
} mxp_roof;

// Of the operators of one process that were pushed in what is chosen. MXP_ENOMEM; or an error of
// the source: the rest cannot be read, and *roof is of what could be. *roof is set in both cases,
// and finished by the caller.
int mxp__roof_make(mxp_source *process, const mxp_choice *choice, const mxp_ceilings *ceilings,
                   mxp_roof *roof);
void mxp__roof_fini(mxp_roof *roof);

// What a call computes and moves, as it was recorded.
typedef struct mxp_roof_call {
    uint32_t shape;  // id, 0: not recorded
    float flops, bytes;
} mxp_roof_call;

// What the call takes at its ceiling, and which one that is. 0: it is not known what it computes
// or moves, or the ceilings were not measured.
double mxp__roof_least_ns(const mxp_source *source, const mxp_ceilings *ceilings,
                          const mxp_roof_call *call, mxp_ceiling *bound);

// Groups in the order of what is to be gained: the time above the roof, of which that on the path
// comes first.
void mxp__roof_sort(mxp_roof *roof);
// Of the group's path time, or of its run time where no path is known: what is above the roof.
double mxp__roof_gain_ns(const mxp_roof_group *group);

mxp_family mxp__family_of(const char *name);  // of an operator
const char *mxp__family_name(mxp_family family);

#endif
