// SPDX-License-Identifier: Apache-2.0
// A program (program.h) with arrays: what it is pushed with, again and again. Private to graph/.
//
// Own values are views of slots, made once. Bound values, those of the network's inputs, outputs
// and their gradients, are given before each push. Those that stay the same memory from push to
// push are still, and steps on still memory alone are made into bulk templates: such a step costs
// a push of the engine nothing but its run. Other steps are bound and pushed one by one, into the
// thread's bulk.
//
// Thread rule: one thread at a time; templates are made anew when it is another than before, for
// their workspaces are the thread's. Order: that of the pushes. Errors: 0 or a negative MXP_E code
// with the detail set; steps before the one that fails have been pushed.
#ifndef MXN_GRAPH_PROGRAM_RUN_H
#define MXN_GRAPH_PROGRAM_RUN_H

#include "runtime/graph/program.h"
#include "runtime/tensor/tensor.h"

typedef struct mxn_segment {
    uint32_t first, count;  // steps
    bool is_still;  // all its memory, in a static network
    mxn_bulk_template *bulk;  // null: one step that is bound at each push
} mxn_segment;

typedef struct mxn_program_run {
    const mxn_program *program;
    mxn_array **slots;  // a reference each
    mxn_array **values;  // likewise; views without attachments; null: not given yet
    bool *is_still;  // of each value
    mxn_segment *segments;
    size_t segment_count, segment_capacity;
    uint64_t thread;  // that the segments are of; 0: none are there
    uint32_t segment_size;  // likewise
} mxn_program_run;

// `below`: the forward's run, whose memory a backward's shares; null: of a forward. On failure
// *run is empty.
int mxn__program_run_init(const mxn_program *program, mxn_context context,
                          const mxn_program_run *below, mxn_program_run *run);
void mxn__program_run_fini(mxn_program_run *run);  // an empty one is fine

// The array of a bound value from now on; it may be released. `is_still`: it is expected to be the
// same the next time.
int mxn__program_run_give(mxn_program_run *run, uint32_t value, mxn_array *array, bool is_still);
// Lets go of the arrays of bound values that are not still, but for those that are kept.
void mxn__program_run_let_go(mxn_program_run *run, bool keeps);

typedef struct mxn_program_push {
    bool is_static;  // still steps are of the class symbolic, and may be templates
    uint32_t segment_size;  // of templates; 0: none
    uint64_t push_ticks;  // 0, or the begin of the caller's API call
} mxn_program_push;

int mxn__program_run_push(mxn_program_run *run, const mxn_program_push *push);

#endif
