// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op: operators, as the other rooms see them.
//
// Operators, as the other folders see them: finding them, their documentation, parameters,
// inference, gradients, and running them inside an operation of the engine. How one is declared is
// in op/registry/declare.h; an operator is one entry in the table of its family.
//
//   mxn_op        an operator, lives forever
//   mxn_params    an operator with its parsed parameters, reference-counted, immutable
//   mxn_job       one execution: params, operands, resources
//
// Any thread may call anything here. Functions that can fail return 0 or a negative MXP_E code with
// the detail set; the detail names the operator, the argument and the value.
#ifndef MXN_OP_OP_H
#define MXN_OP_OP_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "runtime/tensor/resource.h"
#include "runtime/tensor/tensor.h"

// ---- operators --------------------------------------------------------------------------------
enum {
    // A gradient: its caller gives the shapes and types of its outputs, which are those of the
    // forward's inputs (mxn_op_infer only checks that they are there).
    MXN_OP_BACKWARD = 1 << 0,
    MXN_OP_PARALLEL = 1 << 1,  // may enter a parallel kernel: MXN_WORK_PARALLEL
    MXN_OP_UPDATE = 1 << 2,  // updates parameters: MXP_PHASE_UPDATE
    MXN_OP_ADDS = 1 << 4,  // carries out MXN_ADD itself
    MXN_OP_DIRECT = 1 << 5,  // no operation of its own: mxn_op_direct
    MXN_OP_RANDOM = 1 << 6,  // draws random numbers
    MXN_OP_NOT_EAGER = 1 << 7,  // only the graph knows how to run it
    MXN_OP_CALLBACK = 1 << 8,  // a function of the program computes it: op/custom.h
    MXN_OP_ASSIGNS = 1 << 9,  // the others go to a part of input 0
    MXN_OP_STATE = 1 << 10,  // its runs have a state: mxn_call_state
    MXN_OP_SPARSE_HEADS = 1 << 11,  // a gradient that takes null for those that nobody gives
    // Where all operands have one shape, an element of the outputs depends on the same element of
    // the inputs alone, and shapes make no other difference.
    MXN_OP_POINTWISE = 1 << 12
};

// Read-only. Sorted by name, so pointers compare as names do.
typedef struct mxn_op {
    const char *name;  // the primary one, which the profile shows
    uint32_t index;  // 0 .. mxn_op_list() - 1
    uint32_t flags;
    const struct mxn_op_def *def;  // private to op/
    const char *const *input_names;  // private: those that are documented
    uint32_t named_inputs;
    uint32_t params_bytes;
    struct mxn_op_state *state;
} mxn_op;

// By primary name or alias. Null, without a detail, if there is none.
const mxn_op *mxn_op_find(const char *name);
// The same with an error: MXP_EINVAL names the closest operator.
int mxn_op_require(const char *name, const mxn_op **op);
// MXP_EHANDLE if `handle` is not an operator.
int mxn_op_check(const void *handle);
uint32_t mxn_op_list(const mxn_op **ops);  // an array of all, primary names only
uint32_t mxn_op_names(const char *const **names);  // all names, aliases too, sorted
mxp_name mxn_op_record_name(const mxn_op *op);  // category "operator": for mxn_work.name

// As MXSymbolGetAtomicSymbolInfo returns it. Lives forever; null without memory.
typedef struct mxn_op_doc {
    const char *description;  // what it computes; in a second paragraph, "Returns: ", what it gives
    uint32_t count;
    const char *const *names, *const *types, *const *descriptions;
    const char *key_var_num_args;  // "" if the number of inputs is not a parameter
    const char *return_type;  // ""
} mxn_op_doc;
const mxn_op_doc *mxn_op_document(const mxn_op *op);

// ---- parameters -------------------------------------------------------------------------------
#define MXN_INPUTS_UNKNOWN UINT32_MAX
enum { MXN_OPERANDS_MAX = 4096 };

// Read-only.
typedef struct mxn_params {
    const mxn_op *op;
    mxp_refs refs;  // private
    uint32_t input_count;  // wanted; MXN_INPUTS_UNKNOWN only if that was passed in
    uint32_t output_count;  // all, hidden ones after the visible ones
    uint32_t visible_count;  // outputs the caller of the operator sees
    mxn_context context;  // parameter `ctx`; 0, 0 if not given
    // Shapes are NumPy's: rank 0 is a scalar; else results that NumPy gives rank 0 have shape (1).
    // Nobody who infers or runs asks the thread: what was parsed here may be run there.
    bool numpy_shape;
    mxp_atomic_ptr gradient;  // private: made when first asked for
    mxp_atomic_ptr other;  // private: under the other switch, likewise
    uint64_t bytes;  // private
    const char *pairs;  // what they were parsed from: key, value, key ... each ended by a zero byte
    uint32_t pair_count;  // 0 also of those that another operator's follow from
    alignas(16) unsigned char values[];  // the operator's struct
} mxn_params;

// `inputs` is the number of arrays at hand: the default of num_args and its like. Keys that begin
// and end with two underscores are ignored. MXP_EINVAL: unknown key (lists the valid ones and the
// closest), missing, ill-typed or out-of-range value. One reference. `numpy_shape`: for
// mxn_params.numpy_shape; who calls an operator for a thread passes mxn_numpy_shape() of it.
int mxn_params_parse(const mxn_op *op, uint32_t count, const char *const *keys,
                     const char *const *values, uint32_t inputs, bool numpy_shape,
                     mxn_params **params);
// The same parameters under this switch: `params` themselves, or others that live as long, made at
// the first call. MXP_ENOMEM.
int mxn__params_other(mxn_params *params, mxn_params **other);
static inline int mxn_params_under(mxn_params *params, bool numpy_shape, mxn_params **same)
{
    *same = params;
    return __builtin_expect(params->numpy_shape == numpy_shape, 1)
               ? 0
               : mxn__params_other(params, same);
}
void mxn_params_retain(mxn_params *params);
void mxn_params_release(mxn_params *params);  // null does nothing
// MXP_EINVAL: "Operator X expects N inputs, but got M instead."
int mxn_params_expect(const mxn_params *params, uint32_t inputs);
// "data", "weight" ... of inputs 0 .. input_count - 1; a variable list is "data0", "data1" in
// `buffer`.
const char *mxn_params_input_name(const mxn_params *params, uint32_t index, char buffer[64]);
// The same for outputs: "output", "mean" ...
const char *mxn_params_output_name(const mxn_params *params, uint32_t index, char buffer[64]);
// Whether this input is a state that runs move on (auxiliary and optimizer states).
bool mxn_params_mutates(const mxn_params *params, uint32_t index);
// Whether a run of this operator does: list it among the writes. Else only its gradient's does.
bool mxn_params_writes(const mxn_params *params, uint32_t index);
// What a variable for this input begins with: MXNet's attribute __init__, such as ["one", {}]; or
// null.
const char *mxn_params_input_init(const mxn_params *params, uint32_t index);

// Whether the kernels may write this output to exactly the memory of this input. An output may
// share memory with any input in any way: what they may not do goes through a workspace.
bool mxn_params_inplace(const mxn_params *params, uint32_t output, uint32_t input);

// Whether results may be computed a part of axis 0 of input 0 at a time: of output 0 the same part,
// from other inputs as a whole, and other outputs are the same each time.
bool mxn_params_cuts(const mxn_params *params, bool training);

// Whether the values of an input make any difference to an output.
bool mxn_params_reads(const mxn_params *params, uint32_t output, uint32_t input);

// ---- inference --------------------------------------------------------------------------------
// In both directions: fills in what is not known (rank -1, dimension -1, type MXN_DTYPE_NONE) and
// leaves alone what is. Outputs whose shape is known beforehand must agree. `complete` receives
// whether all is known now; null: anything unknown is an error. No shape comes out that
// mxn_shape_countable refuses; with null that is looked at by the caller, who makes arrays of the
// outputs. MXP_EINVAL names the operator, the input and the shapes.
int mxn_op_infer(const mxn_params *params, mxn_shape *const *input_shapes, int32_t *input_types,
                 mxn_shape *const *output_shapes, int32_t *output_types, bool *complete);
// MXP_EINVAL: an output that has too many elements.
int mxn_op_size_refused(const mxn_params *params, uint32_t output, const mxn_shape *shape);

// ---- running ----------------------------------------------------------------------------------
enum { MXN_NULL = 0, MXN_WRITE = 1, MXN_INPLACE = 2, MXN_ADD = 3 };  // MXNet's write requests

typedef struct mxn_operand {
    mxn_buffer_ref memory;  // buffer null: absent, and the request is MXN_NULL
    const mxn_shape *shape;
    void *data;  // set by mxn_job_execute; null if there are no elements
    int32_t dtype;
    uint16_t request;  // of an output
    uint16_t copied;  // private: why the kernel works on a copy
} mxn_operand;

// What one run of an operator leaves for its backward beside arrays. The invocation of a forward
// makes it, the recorded graph keeps it with the run's node, and the calls of the run's gradient
// are given it: two runs never share one, whatever they have in common.
typedef struct mxn_call_state {
    mxp_refs refs;
    void (*destroy)(struct mxn_call_state *state);  // once, by whoever lets go of it last
} mxn_call_state;

static inline void mxn_call_state_retain(mxn_call_state *state)
{
    mxp__refs_take(&state->refs);
}
static inline void mxn_call_state_release(mxn_call_state *state)  // null does nothing
{
    if (state != NULL && mxp__refs_drop(&state->refs)) {
        state->destroy(state);
    }
}

enum { MXN_NEEDS_WORKSPACE = 1, MXN_NEEDS_RANDOM = 2 };

struct mxn_job;

// Which kernel runs a job, by what is known before the operands have addresses. Read-only.
typedef struct mxn_kernel_choice {
    int (*run)(struct mxn_job *job);
    uint64_t workspace_bytes;
    int threads;  // private: it holds for that many alone; 0: for any number
    uint32_t family;  // MXP_KERNEL_*: whose kernel it is
} mxn_kernel_choice;

// The caller owns everything, keeps it until the operation is over and holds a reference on params.
typedef struct mxn_job {
    const mxn_params *params;
    mxn_operand *inputs, *outputs;  // params->input_count, params->output_count
    mxn_workspace *thread_workspace;  // of the pusher: as mxn_job_needs says
    mxn_random *random;  // from mxn_random_get_parallel
    mxn_call_state *state;  // of an operator with MXN_OP_STATE
    const mxn_kernel_choice *kernel;  // from mxn_job_choose; null: the execution chooses
    bool training;
    bool parallel;  // from here on set by mxn_job_execute
    void *workspace;  // there, of kernel->workspace_bytes; null if the kernel wants none
} mxn_job;

// Asks the backends for the kernel of a job that will run more than once; parameters, training,
// shapes, types and requests are those of the runs. An execution that finds another number of
// threads for kernels than then chooses by itself. Any thread; its number of OpenMP threads stays.
// MXP_EVALUE: as mxn_kernels_check.
int mxn_job_choose(const mxn_job *job, mxn_kernel_choice *choice);
// At the push: MXN_NEEDS_* of what must be got and listed among the writes. Outputs may share
// memory with inputs in any way: what an operator cannot do in place is computed in a
// workspace.
uint32_t mxn_job_needs(const mxn_job *job);
void mxn_job_cost(const mxn_job *job, float *flops, float *bytes);  // estimates
// Makes the state of a run whose operands are there, with one reference.
int mxn_job_state(const mxn_job *job, mxn_context context, mxn_call_state **state);
// Inside the operation.
int mxn_job_execute(mxn_job *job, const mxn_run *run);

// One run of an operator with MXN_OP_DIRECT (_copyto, _set_value): all that an invocation knows,
// for what it pushes in its stead.
typedef struct mxn_direct_call {
    const mxn_params *params;
    mxn_array *const *inputs;
    mxn_array *const *outputs;  // a `none` one becomes what it must be; null: MXN_NULL
    const uint32_t *requests;  // of outputs; null: MXN_WRITE
    mxn_call_state **state;  // of an operator with MXN_OP_STATE: as in mxn_invocation
    bool training;
    uint32_t scope;  // 0: the thread's current one
    uint32_t category;  // of memory made for outputs: MXN_MEMORY_*
} mxn_direct_call;

// Pushes under other names; nothing if no output is wanted. MXP_ENOTSUP: MXN_ADD of an operator
// without MXN_OP_ADDS.
int mxn_op_direct(const mxn_direct_call *call);

// ---- gradients --------------------------------------------------------------------------------
// The gradient of an operator is a list of calls, in order. Each takes gradients of the outputs,
// inputs, outputs, or results of earlier calls, and gives gradients of inputs or intermediate
// results. An input that no call gives has gradient zero.
enum { MXN_FROM_GRADIENT, MXN_FROM_INPUT, MXN_FROM_OUTPUT, MXN_FROM_RESULT };

typedef struct mxn_source {
    uint32_t kind;  // MXN_FROM_*
    uint32_t index;  // of the output, input, output; of the result, counted over all earlier calls
} mxn_source;

typedef struct mxn_gradient_call {
    mxn_params *params;
    mxn_source *takes;  // params->input_count
    int32_t *gives;  // params->output_count: the forward's input, or -1
} mxn_gradient_call;

typedef struct mxn_gradient {
    uint32_t count;  // 0: all gradients are zero
    mxn_gradient_call *calls;
    uint64_t bytes;  // private
} mxn_gradient;

// Lives as long as `params`; made at the first call, which may fail as parsing does. MXP_ENOTSUP:
// the operator has no gradient.
int mxn_params_gradient(mxn_params *params, const mxn_gradient **gradient);

// ---- choice of kernels ------------------------------------------------------------------------
// MXNET_CPU_KERNELS=auto|dnnl|own|ref, read at the first execution, with MXNET_OMP_MAX_THREADS:
// whose kernels are asked first. One that does not take a job leaves it to the next, and the plain
// C reference takes what nobody else does. MXP_EVALUE: unknown value, or a kind this build has not;
// every execution fails with it.
enum { MXN_KERNEL_REF, MXN_KERNEL_OWN, MXN_KERNEL_DNNL, MXN_KERNEL_KINDS };
int mxn_kernels_check(void);

#endif
