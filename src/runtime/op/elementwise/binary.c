// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/elementwise: operators of one number after another.
//
// Operators on two arrays, element by element. elemwise_* want equal shapes; broadcast_* and
// numpy's repeat dimensions of size 1. Gradients are summed over what was repeated.
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/op/kernels/binary_gradients.h"
#include "runtime/op/kernels/kernels.h"
#include "runtime/op/loops/binary_loops.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/loops/type_promotion.h"
#include "runtime/op/registry/infer.h"

// ---- forward ------------------------------------------------------------------------------------
#define IS_NEGATIVE(type)                                             \
    static inline bool is_negative_##type(const void *data, size_t i) \
    {                                                                 \
        return ((const type *)data)[i] < 0;                           \
    }
IS_NEGATIVE(int8_t)
IS_NEGATIVE(int16_t)
IS_NEGATIVE(int32_t)
IS_NEGATIVE(int64_t)

MXN_LOOP_OF bool is_any(bool (*holds)(const void *data, size_t i), const mxn_operand *in)
{
    size_t count = mxn_shape_size(in->shape);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found |= holds(in->data, i);
    }
    return found;
}

static bool has_negative(const mxn_operand *in)
{
    switch (in->dtype) {
#define NEGATIVE_CASE(NAME, type) \
    case MXN_##NAME:              \
        return is_any(is_negative_##type, in);
        NEGATIVE_CASE(INT8, int8_t)
        NEGATIVE_CASE(INT16, int16_t)
        NEGATIVE_CASE(INT32, int32_t)
        NEGATIVE_CASE(INT64, int64_t)
#undef NEGATIVE_CASE
    default:
        return false;
    }
}

int mxn__check_powers(const mxn_job *job, const mxn_operand *powers)
{
    if (!mxn_dtype_is_float(job->outputs[0].dtype) && has_negative(powers)) {
        return mxp__fail(
            MXP_EINVAL,
            "ValueError: Operator %s: a whole number to a negative power is no whole number; "
            "make one of the two a float",
            job->params->op->name);
    }
    return 0;
}

static int binary_forward(mxn_job *job)
{
    const mxn_operand *a = &job->inputs[0], *b = &job->inputs[1], *out = &job->outputs[0];
    int64_t steps[2][MXN_DIMS_MAX];
    mxn__broadcast_steps(a->shape, out->shape, steps[0]);
    mxn__broadcast_steps(b->shape, out->shape, steps[1]);
    mxn_iterator it;
    mxn__iterator_init(&it, out->shape->ndim, out->shape->dims,
                       (const int64_t *const[]){steps[0], steps[1], NULL});
    size_t a_size = mxn_dtype_size(a->dtype), b_size = mxn_dtype_size(b->dtype);
    char *to = out->data;
    for (bool more = it.total > 0; more; more = mxn__iterator_next(&it)) {
        const mxn_row left = {(const char *)a->data + (size_t)it.at[0] * a_size, it.step[0],
                              a->dtype};
        const mxn_row right = {(const char *)b->data + (size_t)it.at[1] * b_size, it.step[1],
                               b->dtype};
        mxn__binary_row(job->params->op->def->variant, &left, &right, to, out->dtype, it.count);
        to += (size_t)it.count * mxn_dtype_size(out->dtype);
    }
    return 0;
}

static int power_forward(mxn_job *job)
{
    int error = mxn__check_powers(job, &job->inputs[1]);
    return error != 0 ? error : binary_forward(job);
}

// ---- gradients ----------------------------------------------------------------------------------
static bool repeats(const mxn_job *job, uint32_t side)
{
    return job->outputs[side].data != NULL &&
           mxn_shape_size(job->outputs[side].shape) != mxn_shape_size(job->inputs[0].shape);
}

// Whether the gradients are computed as doubles: of operands that differ in type, as numpy's may,
// and of whole numbers and truths.
static bool is_mixed(const mxn_job *job)
{
    int32_t type = job->inputs[0].dtype;
    if (!mxn_dtype_is_float(type)) {
        return true;
    }
    for (uint32_t i = 1; i < job->params->input_count; i++) {
        if (job->inputs[i].dtype != type) {
            return true;
        }
    }
    return (job->outputs[0].request != MXN_NULL && job->outputs[0].dtype != type) ||
           (job->outputs[1].request != MXN_NULL && job->outputs[1].dtype != type);
}

// Doubles for the sums of a repeated input.
static uint64_t sums_size(const mxn_job *job)
{
    uint64_t most = 0;
    for (uint32_t side = 0; side < 2; side++) {
        uint64_t size = mxn_shape_size(job->outputs[side].shape);
        if (size != mxn_shape_size(job->inputs[0].shape) && size > most) {
            most = size;
        }
    }
    return most;
}

// What mixed operands are computed as: doubles for each input, and for one output.
static uint64_t mixed_size(const mxn_job *job)
{
    uint64_t count = mxn_shape_size(job->inputs[0].shape);
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        count += mxn_shape_size(job->inputs[i].shape);
    }
    return count;
}

static uint64_t backward_workspace(const mxn_job *job)
{
    return (sums_size(job) + (is_mixed(job) ? mixed_size(job) : 0)) * sizeof(double);
}

// The gradient of one side: the arrays that are gone through, and where it begins.
typedef struct gradient_side {
    mxn_iterator it;
    const char *g, *a, *b;
    char *to;
    double *sums;  // null: the input was not repeated
    size_t element_bytes;
} gradient_side;

static void begin_side(const mxn_job *job, uint32_t side, gradient_side *s)
{
    static const double nothing = 0;  // stands for inputs the gradient does not take
    const mxn_shape *big = job->inputs[0].shape;
    const mxn_operand *out = &job->outputs[side];
    bool has_inputs = job->params->input_count == 3;
    int64_t steps[3][MXN_DIMS_MAX] = {{0}};
    if (has_inputs) {
        mxn__broadcast_steps(job->inputs[1].shape, big, steps[0]);
        mxn__broadcast_steps(job->inputs[2].shape, big, steps[1]);
    }
    mxn__broadcast_steps(out->shape, big, steps[2]);
    mxn__iterator_init(&s->it, big->ndim, big->dims,
                       (const int64_t *const[]){steps[0], steps[1], steps[2]});
    s->g = job->inputs[0].data;
    s->a = has_inputs ? job->inputs[1].data : &nothing;
    s->b = has_inputs ? job->inputs[2].data : &nothing;
    s->to = out->data;
    s->sums = repeats(job, side) ? job->workspace : NULL;
    s->element_bytes = mxn_dtype_size(out->dtype);
}

static mxn_gradient_row row_of(const gradient_side *s)
{
    const mxn_iterator *it = &s->it;
    return (mxn_gradient_row){
        .g = s->g,
        .a = s->a + (size_t)it->at[0] * s->element_bytes,
        .b = s->b + (size_t)it->at[1] * s->element_bytes,
        .a_step = it->step[0],
        .b_step = it->step[1],
        .to_step = it->step[2],
        .to = s->to + (size_t)it->at[2] * s->element_bytes,
        .sums = s->sums == NULL ? NULL : s->sums + it->at[2],
        .count = it->count,
    };
}

static void backward_side(mxn_job *job, uint32_t side)
{
    const mxn_operand *out = &job->outputs[side];
    size_t count = mxn_shape_size(out->shape);
    gradient_side s;
    begin_side(job, side, &s);
    if (s.sums != NULL) {
        memset(s.sums, 0, count * sizeof(double));
    }
    for (bool more = s.it.total > 0; more; more = mxn__iterator_next(&s.it)) {
        const mxn_gradient_row row = row_of(&s);
        MXN_WIDEST(mxn__binary_gradients)
            ->rows[job->params->op->def->variant][side][out->dtype == MXN_FLOAT64](&row);
        s.g += (size_t)s.it.count * s.element_bytes;
    }
    if (s.sums != NULL) {
        mxn_cast(out->data, out->dtype, s.sums, MXN_FLOAT64, count);
    }
}

// The inputs as doubles: the kernels take a single type. Returns the memory after them.
static double *widen_inputs(const mxn_job *job, mxn_operand *inputs)
{
    double *at = (double *)job->workspace + sums_size(job);
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        size_t count = mxn_shape_size(job->inputs[i].shape);
        inputs[i] = job->inputs[i];
        inputs[i].data = at;
        inputs[i].dtype = MXN_FLOAT64;
        mxn_cast(at, MXN_FLOAT64, job->inputs[i].data, job->inputs[i].dtype, count);
        at += count;
    }
    return at;
}

// One side of widened inputs, by way of `at`.
static void backward_widened(mxn_job *job, mxn_operand *inputs, double *at, uint32_t side)
{
    mxn_operand outputs[2] = {job->outputs[0], job->outputs[1]};
    outputs[side].data = at;
    outputs[side].dtype = MXN_FLOAT64;
    mxn_job doubles = *job;
    doubles.inputs = inputs;
    doubles.outputs = outputs;
    backward_side(&doubles, side);
    mxn_cast(job->outputs[side].data, job->outputs[side].dtype, at, MXN_FLOAT64,
             mxn_shape_size(job->outputs[side].shape));
}

// A remainder of whole numbers has no gradient, as in MXNet.
static int binary_backward(mxn_job *job)
{
    mxn_operand inputs[3];
    const bool remainder = job->params->op->def->variant == MXN_MOD_OF;
    double *widened = is_mixed(job) ? widen_inputs(job, inputs) : NULL;
    for (uint32_t side = 0; side < 2; side++) {
        if (job->outputs[side].data == NULL) {
            continue;
        }
        const mxn_operand *out = &job->outputs[side];
        if (remainder && !mxn_dtype_is_float(out->dtype)) {
            memset(out->data, 0, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
        } else if (widened != NULL) {
            backward_widened(job, inputs, widened, side);
        } else {
            backward_side(job, side);
        }
    }
    return 0;
}

// ---- the table ----------------------------------------------------------------------------------
#define ENTRY(name_, aliases_, function_, shapes_, types_, gradient_)                        \
    {                                                                                        \
        .name = (name_), .aliases = (aliases_), .inputs = "lhs rhs", .variant = (function_), \
        .flags = MXN_OP_POINTWISE, .inplace = MXN_INPLACE_ALL, .shapes = (shapes_),          \
        .types = (types_), .gradient = (gradient_), .forward = binary_forward                \
    }
#define ELEMWISE(name, aliases, function, gradient) \
    ENTRY(name, aliases, function, NULL, NULL, gradient)
#define BROADCAST(name, aliases, function, gradient) \
    ENTRY(name, aliases, function, mxn__shapes_broadcast, NULL, gradient)
#define NUMPY(name, aliases, function, gradient) \
    ENTRY(name, aliases, function, mxn__shapes_broadcast, mxn__types_of_two, gradient)
#define NUMPY_POWER(name_, gradient_)                                                             \
    {                                                                                             \
        .name = (name_), .inputs = "lhs rhs", .variant = MXN_POWER_OF, .flags = MXN_OP_POINTWISE, \
        .inplace = MXN_INPLACE_ALL, .shapes = mxn__shapes_broadcast, .types = mxn__types_of_two,  \
        .gradient = MXN_USES_BOTH(gradient_), .forward = power_forward                            \
    }
#define NUMPY_BITWISE(name, function) \
    ENTRY(name, NULL, function, mxn__shapes_broadcast, mxn__types_of_two_whole, MXN_GRADIENT_ZERO)
// These name their inputs otherwise.
#define NUMPY_REAL(name_, function_, gradient_)                                                \
    {                                                                                          \
        .name = (name_), .inputs = "x1 x2", .variant = (function_), .flags = MXN_OP_POINTWISE, \
        .inplace = MXN_INPLACE_ALL, .shapes = mxn__shapes_broadcast,                           \
        .types = mxn__types_of_two_float, .gradient = MXN_USES_BOTH(gradient_),                \
        .forward = binary_forward                                                              \
    }
#define NUMPY_COMPARE(name, function) \
    ENTRY(name, NULL, function, mxn__shapes_broadcast, mxn__types_truth, MXN_GRADIENT_ZERO)
#define READS(function)                                                     \
    ((function) == MXN_ADD_OF || (function) == MXN_SUB_OF ? MXN_READS_FIRST \
     : (function) == MXN_MUL_OF                           ? MXN_READS_OTHER \
                                                          : MXN_READS_ALL)
// `count`: 1, or 3 with the inputs of the forward.
#define BACKWARD(name_, function_, count_, again_)                                           \
    {                                                                                        \
        .name = (name_), .input_count = (count_), .output_count = 2, .variant = (function_), \
        .flags = MXN_OP_BACKWARD | MXN_OP_POINTWISE, .forward = binary_backward,             \
        .workspace = backward_workspace, .gradient = (again_), .flops_each = 2,              \
        .reads = READS(function_)                                                            \
    }
// Gradients of gradients, with h0 and h1 for the gradients' own. Sums: to g goes h0 + h1. Products
// (g b, g a): to g goes h0 b + h1 a, and to a and b what the gradient of a product makes of g, h0
// and h1.
#define AGAIN_ADD(add) MXN_GRADIENT({.op = (add), .takes = "g0 g1", .gives = "0"})
#define AGAIN_MUL(name, mul, add)                               \
    MXN_GRADIENT({.op = (mul), .takes = "g0 i2", .gives = "-"}, \
                 {.op = (mul), .takes = "i1 g1", .gives = "-"}, \
                 {.op = (add), .takes = "s0 s1", .gives = "0"}, \
                 {.op = (name), .takes = "i0 g0 g1", .gives = "1 2"})

static const mxn_op_def table[] = {
    ELEMWISE("elemwise_add", "_Plus _add _plus _sparse_elemwise_add", MXN_ADD_OF,
             MXN_USES_NONE("_backward_add")),
    ELEMWISE("_grad_add", NULL, MXN_ADD_OF, MXN_USES_NONE("_backward_add")),
    ELEMWISE("elemwise_sub", "_Minus _minus _sparse_elemwise_sub _sub", MXN_SUB_OF,
             MXN_USES_NONE("_backward_sub")),
    ELEMWISE("elemwise_mul", "_Mul _mul _sparse_elemwise_mul", MXN_MUL_OF,
             MXN_USES_BOTH("_backward_mul")),
    ELEMWISE("elemwise_div", "_Div _div _sparse_elemwise_div", MXN_DIV_OF,
             MXN_USES_BOTH("_backward_div")),
    ELEMWISE("_mod", "_Mod", MXN_MOD_OF, MXN_USES_BOTH("_backward_mod")),
    ELEMWISE("_power", "_Power", MXN_POWER_OF, MXN_USES_BOTH("_backward_power")),
    ELEMWISE("_maximum", "_Maximum", MXN_MAXIMUM_OF, MXN_USES_BOTH("_backward_maximum")),
    ELEMWISE("_minimum", "_Minimum", MXN_MINIMUM_OF, MXN_USES_BOTH("_backward_minimum")),
    ELEMWISE("_equal", "_Equal", MXN_EQUAL_OF, MXN_GRADIENT_ZERO),
    ELEMWISE("_greater", "_Greater", MXN_GREATER_OF, MXN_GRADIENT_ZERO),
    ELEMWISE("_hypot", "_Hypot", MXN_HYPOT_OF, MXN_USES_BOTH("_backward_hypot")),
    ELEMWISE("_not_equal", "_Not_Equal", MXN_NOT_EQUAL_OF, MXN_GRADIENT_ZERO),
    ELEMWISE("_greater_equal", "_Greater_Equal", MXN_GREATER_EQUAL_OF, MXN_GRADIENT_ZERO),
    ELEMWISE("_lesser", "_Lesser", MXN_LESSER_OF, MXN_GRADIENT_ZERO),
    ELEMWISE("_lesser_equal", "_Lesser_Equal", MXN_LESSER_EQUAL_OF, MXN_GRADIENT_ZERO),
    ELEMWISE("_logical_and", "_Logical_And", MXN_LOGICAL_AND_OF, MXN_GRADIENT_ZERO),
    ELEMWISE("_logical_or", "_Logical_Or", MXN_LOGICAL_OR_OF, MXN_GRADIENT_ZERO),
    ELEMWISE("_logical_xor", "_Logical_Xor", MXN_LOGICAL_XOR_OF, MXN_GRADIENT_ZERO),
    BROADCAST("broadcast_add", "_sparse_broadcast_add _sparse_broadcast_plus broadcast_plus",
              MXN_ADD_OF, MXN_USES_NONE("_backward_broadcast_add")),
    BROADCAST("broadcast_sub", "_sparse_broadcast_minus _sparse_broadcast_sub broadcast_minus",
              MXN_SUB_OF, MXN_USES_NONE("_backward_broadcast_sub")),
    BROADCAST("broadcast_mul", "_sparse_broadcast_mul", MXN_MUL_OF,
              MXN_USES_BOTH("_backward_broadcast_mul")),
    BROADCAST("broadcast_div", "_sparse_broadcast_div", MXN_DIV_OF,
              MXN_USES_BOTH("_backward_broadcast_div")),
    BROADCAST("broadcast_mod", NULL, MXN_MOD_OF, MXN_USES_BOTH("_backward_broadcast_mod")),
    BROADCAST("broadcast_power", NULL, MXN_POWER_OF, MXN_USES_BOTH("_backward_broadcast_power")),
    BROADCAST("broadcast_maximum", "_npi_maximum", MXN_MAXIMUM_OF,
              MXN_USES_BOTH("_backward_broadcast_maximum")),
    BROADCAST("broadcast_minimum", "_npi_minimum", MXN_MINIMUM_OF,
              MXN_USES_BOTH("_backward_broadcast_minimum")),
    BROADCAST("broadcast_hypot", NULL, MXN_HYPOT_OF, MXN_USES_BOTH("_backward_broadcast_hypot")),
    BROADCAST("broadcast_equal", NULL, MXN_EQUAL_OF, MXN_GRADIENT_ZERO),
    BROADCAST("broadcast_not_equal", NULL, MXN_NOT_EQUAL_OF, MXN_GRADIENT_ZERO),
    BROADCAST("broadcast_greater", "_npx_broadcast_greater", MXN_GREATER_OF, MXN_GRADIENT_ZERO),
    BROADCAST("broadcast_greater_equal", NULL, MXN_GREATER_EQUAL_OF, MXN_GRADIENT_ZERO),
    BROADCAST("broadcast_lesser", NULL, MXN_LESSER_OF, MXN_GRADIENT_ZERO),
    BROADCAST("broadcast_lesser_equal", NULL, MXN_LESSER_EQUAL_OF, MXN_GRADIENT_ZERO),
    BROADCAST("broadcast_logical_and", NULL, MXN_LOGICAL_AND_OF, MXN_GRADIENT_ZERO),
    BROADCAST("broadcast_logical_or", NULL, MXN_LOGICAL_OR_OF, MXN_GRADIENT_ZERO),
    BROADCAST("broadcast_logical_xor", NULL, MXN_LOGICAL_XOR_OF, MXN_GRADIENT_ZERO),
    NUMPY("_npi_add", NULL, MXN_ADD_OF, MXN_USES_BOTH("_backward_npi_broadcast_add")),
    NUMPY("_npi_subtract", NULL, MXN_SUB_OF, MXN_USES_BOTH("_backward_npi_broadcast_sub")),
    NUMPY("_npi_multiply", NULL, MXN_MUL_OF, MXN_USES_BOTH("_backward_npi_broadcast_mul")),
    NUMPY("_npi_true_divide", NULL, MXN_DIV_OF, MXN_USES_BOTH("_backward_npi_broadcast_div")),
    NUMPY("_npi_mod", NULL, MXN_REMAINDER_OF, MXN_USES_BOTH("_backward_npi_broadcast_mod")),
    NUMPY_POWER("_npi_power", "_backward_npi_broadcast_power"),
    NUMPY("_npi_floor_divide", NULL, MXN_FLOOR_DIVIDE_OF, MXN_GRADIENT_ZERO),
    NUMPY("_npi_fmax", NULL, MXN_FMAX_OF, MXN_USES_BOTH("_backward_npi_fmax")),
    NUMPY("_npi_fmin", NULL, MXN_FMIN_OF, MXN_USES_BOTH("_backward_npi_fmin")),
    NUMPY_REAL("_npi_hypot", MXN_HYPOT_OF, "_backward_npi_hypot"),
    NUMPY_REAL("_npi_arctan2", MXN_ARCTAN2_OF, "_backward_npi_arctan2"),
    NUMPY_REAL("_npi_logaddexp", MXN_LOGADDEXP_OF, "_backward_npi_logaddexp"),
    NUMPY_BITWISE("_npi_bitwise_and", MXN_BITWISE_AND_OF),
    NUMPY_BITWISE("_npi_bitwise_or", MXN_BITWISE_OR_OF),
    NUMPY_BITWISE("_npi_bitwise_xor", MXN_BITWISE_XOR_OF),
    NUMPY_COMPARE("_npi_logical_and", MXN_LOGICAL_AND_OF),
    NUMPY_COMPARE("_npi_logical_or", MXN_LOGICAL_OR_OF),
    NUMPY_COMPARE("_npi_logical_xor", MXN_LOGICAL_XOR_OF),
    NUMPY_COMPARE("_npi_equal", MXN_EQUAL_OF),
    NUMPY_COMPARE("_npi_not_equal", MXN_NOT_EQUAL_OF),
    NUMPY_COMPARE("_npi_greater", MXN_GREATER_OF),
    NUMPY_COMPARE("_npi_greater_equal", MXN_GREATER_EQUAL_OF),
    NUMPY_COMPARE("_npi_less", MXN_LESSER_OF),
    NUMPY_COMPARE("_npi_less_equal", MXN_LESSER_EQUAL_OF),
    BACKWARD("_backward_add", MXN_ADD_OF, 1, AGAIN_ADD("elemwise_add")),
    BACKWARD("_backward_sub", MXN_SUB_OF, 1, AGAIN_ADD("elemwise_sub")),
    BACKWARD("_backward_mul", MXN_MUL_OF, 3,
             AGAIN_MUL("_backward_mul", "elemwise_mul", "elemwise_add")),
    BACKWARD("_backward_div", MXN_DIV_OF, 3, NULL),
    BACKWARD("_backward_mod", MXN_MOD_OF, 3, NULL),
    BACKWARD("_backward_power", MXN_POWER_OF, 3, NULL),
    BACKWARD("_backward_maximum", MXN_MAXIMUM_OF, 3, NULL),
    BACKWARD("_backward_minimum", MXN_MINIMUM_OF, 3, NULL),
    BACKWARD("_backward_broadcast_add", MXN_ADD_OF, 1, AGAIN_ADD("broadcast_add")),
    BACKWARD("_backward_broadcast_sub", MXN_SUB_OF, 1, AGAIN_ADD("broadcast_sub")),
    BACKWARD("_backward_broadcast_mul", MXN_MUL_OF, 3,
             AGAIN_MUL("_backward_broadcast_mul", "broadcast_mul", "broadcast_add")),
    BACKWARD("_backward_broadcast_div", MXN_DIV_OF, 3, NULL),
    BACKWARD("_backward_broadcast_mod", MXN_MOD_OF, 3, NULL),
    BACKWARD("_backward_broadcast_power", MXN_POWER_OF, 3, NULL),
    BACKWARD("_backward_broadcast_maximum", MXN_MAXIMUM_OF, 3, NULL),
    BACKWARD("_backward_broadcast_minimum", MXN_MINIMUM_OF, 3, NULL),
    BACKWARD("_backward_broadcast_hypot", MXN_HYPOT_OF, 3, NULL),
    BACKWARD("_backward_npi_broadcast_add", MXN_ADD_OF, 3, AGAIN_ADD("_npi_add")),
    BACKWARD("_backward_npi_broadcast_sub", MXN_SUB_OF, 3, AGAIN_ADD("_npi_subtract")),
    BACKWARD("_backward_npi_broadcast_mul", MXN_MUL_OF, 3,
             AGAIN_MUL("_backward_npi_broadcast_mul", "_npi_multiply", "_npi_add")),
    BACKWARD("_backward_npi_broadcast_div", MXN_DIV_OF, 3, NULL),
    BACKWARD("_backward_npi_broadcast_mod", MXN_MOD_OF, 3, NULL),
    BACKWARD("_backward_npi_broadcast_power", MXN_POWER_OF, 3, NULL),
    BACKWARD("_backward_hypot", MXN_HYPOT_OF, 3, NULL),
    BACKWARD("_backward_npi_hypot", MXN_HYPOT_OF, 3, NULL),
    BACKWARD("_backward_npi_arctan2", MXN_ARCTAN2_OF, 3, NULL),
    BACKWARD("_backward_npi_fmax", MXN_FMAX_OF, 3, NULL),
    BACKWARD("_backward_npi_fmin", MXN_FMIN_OF, 3, NULL),
    BACKWARD("_backward_npi_logaddexp", MXN_LOGADDEXP_OF, 3, NULL),
};

MXN_FAMILY(binary, table);
