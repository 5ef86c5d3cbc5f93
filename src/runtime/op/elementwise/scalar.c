// SPDX-License-Identifier: Apache-2.0
// Operators on an array and a number. A number that is not whole makes float64 of whole arrays;
// numpy's comparisons make truth values.
#include "base/fail.h"
#include "runtime/op/kernels/binary_gradients.h"
#include "runtime/op/loops/binary_loops.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/loops/type_promotion.h"
#include "runtime/op/registry/infer.h"

typedef struct scalar_params {
    mxn_number scalar;
    bool is_int;
} scalar_params;

static const mxn_field fields[] = {
    {MXN_FIELD(scalar_params, scalar, NUMBER, "1")},
    {MXN_FIELD(scalar_params, is_int, BOOL, "1")},
    {0},
};

enum { REVERSED = 1 << 8 };  // in the variant: the number is on the left

static int result_types(const mxn_types *types)
{
    const scalar_params *params = (const void *)types->params->values;
    int32_t in = types->inputs[0];
    if (in == MXN_DTYPE_NONE || mxn_dtype_is_float(in) || (params->is_int && in != MXN_BOOL)) {
        return mxn__types_alike(types);
    }
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0],
                           params->is_int ? MXN_INT64 : MXN_FLOAT64);
}

// A whole number to a negative power is none.
static int power_types(const mxn_types *types)
{
    const scalar_params *params = (const void *)types->params->values;
    int32_t in = types->inputs[0];
    bool is_whole = in != MXN_DTYPE_NONE && !mxn_dtype_is_float(in) && params->is_int;
    return is_whole && params->scalar.real < 0
               ? mxp__fail(MXP_EINVAL,
                           "ValueError: Operator %s: a whole number to a negative power (%.17g) is "
                           "no whole "
                           "number; make one of the two a float",
                           types->params->op->name, params->scalar.real)
               : result_types(types);
}

static int bitwise_types(const mxn_types *types)
{
    const scalar_params *params = (const void *)types->params->values;
    int32_t in = types->inputs[0];
    bool is_float = in != MXN_DTYPE_NONE && mxn_dtype_is_float(in);
    if (is_float || !params->is_int || params->scalar.dtype == MXN_FLOAT64) {
        return mxp__fail(MXP_EINVAL, "TypeError: Operator %s: %s, it must be whole",
                         types->params->op->name,
                         is_float ? "input 0 is of floats" : "the number is a float");
    }
    return result_types(types);
}

// Whole numbers divided are no whole numbers.
static int divided_types(const mxn_types *types)
{
    int32_t in = types->inputs[0];
    return in == MXN_DTYPE_NONE || mxn_dtype_is_float(in)
               ? mxn__types_alike(types)
               : mxn__type_merge(types->params, "output", 0, &types->outputs[0], MXN_FLOAT32);
}

// Whether a whole number is one of a type of whole numbers or truths.
static bool holds(int32_t type, const mxn_number *number)
{
    bool is_negative = number->dtype == MXN_INT64 && (int64_t)number->bits < 0;
    if (type == MXN_UINT64 || number->dtype == MXN_UINT64) {
        return type == MXN_UINT64 && !is_negative;
    }
    int64_t value = 0, back;
    mxn_number_fill(&value, type, number, 1);
    mxn_cast(&back, MXN_INT64, &value, type, 1);
    return (uint64_t)back == number->bits;
}

// What the number is beside the array: of its type, where that holds it or the result has it too;
// else of one that holds the number.
static int32_t number_type(const mxn_job *job)
{
    const scalar_params *params = mxn__values(job);
    const mxn_number *number = &params->scalar;
    int32_t in = job->inputs[0].dtype, out = job->outputs[0].dtype;
    if (mxn_dtype_is_float(in)) {
        return in;
    }
    if (!params->is_int) {
        return MXN_FLOAT64;
    }
    bool compares = job->params->op->def->types == mxn__types_truth;
    if (!compares && in != out) {
        return number->dtype;  // truths that become numbers are not computed as truths
    }
    if (!compares && in != MXN_BOOL) {
        return in;
    }
    return number->dtype != MXN_FLOAT64 && holds(in, number) ? in : number->dtype;
}

static void make_number(const mxn_job *job, int64_t *value, mxn_row *row)
{
    const scalar_params *params = mxn__values(job);
    int32_t type = number_type(job);
    *row = (mxn_row){value, 0, type};
    mxn_number_fill(value, type, &params->scalar, 1);
}

static int scalar_forward(mxn_job *job)
{
    int variant = job->params->op->def->variant;
    int64_t value;
    mxn_row number;
    make_number(job, &value, &number);
    const mxn_operand *out = &job->outputs[0];
    const mxn_row array = {job->inputs[0].data, 1, job->inputs[0].dtype};
    bool reversed = (variant & REVERSED) != 0;
    mxn__binary_row(variant & ~REVERSED, reversed ? &number : &array, reversed ? &array : &number,
                    out->data, out->dtype, (int64_t)mxn_shape_size(out->shape));
    return 0;
}

static int reversed_power_forward(mxn_job *job)
{
    int error = mxn__check_powers(job, &job->inputs[0]);
    return error != 0 ? error : scalar_forward(job);
}

// ---- gradients ----------------------------------------------------------------------------------
// That of the array's side, where the number is an array of one. Inputs: the gradient and, unless
// the derivative is a constant, the input (of the number to a power: the output).
static int scalar_backward(mxn_job *job)
{
    const mxn_operand *g = &job->inputs[0], *out = &job->outputs[0];
    int variant = job->params->op->def->variant;
    int32_t dtype = out->dtype;
    if (dtype != MXN_FLOAT32 && dtype != MXN_FLOAT64) {  // a product's is a product
        return variant == MXN_MUL_OF ? scalar_forward(job) : mxn__type_refused(job, dtype);
    }
    int64_t value;
    mxn_number_fill(&value, dtype, &((const scalar_params *)mxn__values(job))->scalar, 1);
    bool reversed = (variant & REVERSED) != 0;
    const void *array = job->inputs[job->params->input_count - 1].data;
    const mxn_gradient_row row = {
        .g = g->data,
        .a = reversed ? (const void *)&value : array,
        .b = reversed ? array : (const void *)&value,
        .a_step = !reversed,
        .b_step = reversed,
        .to = out->data,
        .count = (int64_t)mxn_shape_size(out->shape),
    };
    MXN_WIDEST(mxn__binary_gradients)
        ->rows[variant & ~REVERSED][reversed][dtype == MXN_FLOAT64](&row);
    return 0;
}

// ---- gradients of gradients ---------------------------------------------------------------------
// Linear in g: the same operator. Of powers, whose derivative is s x^(s-1): the second one is
// s (s-1) x^(s-2), which is the first one's output times (s-1) / x.
#define AGAIN_LINEAR(name) MXN_USES_NONE(name)
#define STRAIGHT(name) MXN_GRADIENT({.op = (name), .takes = "g0 i1", .gives = "0"})
#define AGAIN_POWER                                                                \
    MXN_GRADIENT({.op = "_backward_power_scalar", .takes = "g0 i1", .gives = "0"}, \
                 {.op = "elemwise_mul", .takes = "g0 o0", .gives = "-"},           \
                 {.op = "elemwise_div", .takes = "s1 i1", .gives = "-"},           \
                 {.op = "_backward_mul_scalar", .takes = "s2", .gives = "-"},      \
                 {.op = "elemwise_sub", .takes = "s3 s2", .gives = "1"})
#define AGAIN_RDIV                                                                \
    MXN_GRADIENT({.op = "_backward_rdiv_scalar", .takes = "g0 i1", .gives = "0"}, \
                 {.op = "elemwise_mul", .takes = "g0 o0", .gives = "-"},          \
                 {.op = "elemwise_div", .takes = "s1 i1", .gives = "-"},          \
                 {.op = "_mul_scalar", .takes = "s2", .gives = "1", .adjust = make_minus_two})

static void make_minus_two(void *values)
{
    *(scalar_params *)values = (scalar_params){.scalar = mxn_number_of_whole(-2), .is_int = true};
}

// ---- the table ----------------------------------------------------------------------------------
#define RUN(name_, aliases_, variant_, types_, gradient_, forward_)                              \
    {                                                                                            \
        .name = (name_), .aliases = (aliases_), .inputs = "data", .fields = fields,              \
        .params_bytes = sizeof(scalar_params), .flags = MXN_OP_POINTWISE, .variant = (variant_), \
        .inplace = MXN_INPLACE_ALL, .types = (types_), .gradient = (gradient_),                  \
        .forward = (forward_)                                                                    \
    }
#define ENTRY(name, aliases, variant, types, gradient) \
    RUN(name, aliases, variant, types, gradient, scalar_forward)
#define SCALAR(name, aliases, variant, gradient) \
    ENTRY(name, aliases, variant, result_types, gradient)
#define COMPARE(name, aliases, variant) \
    ENTRY(name, aliases, variant, result_types, MXN_GRADIENT_ZERO)
#define NUMPY_COMPARE(name, variant) ENTRY(name, NULL, variant, mxn__types_truth, MXN_GRADIENT_ZERO)
#define BACKWARD(name_, inputs_, function_, again_)                                               \
    {                                                                                             \
        .name = (name_), .inputs = (inputs_), .fields = fields,                                   \
        .params_bytes = sizeof(scalar_params), .flags = MXN_OP_POINTWISE,                         \
        .inplace = MXN_INPLACE_ALL, .variant = (function_), .gradient = (again_),                 \
        .forward = scalar_backward,                                                               \
        .takes = (function_) == MXN_MUL_OF ? MXN_TAKES_NUMBERS : MXN_TAKES_REALS, .flops_each = 2 \
    }

static const mxn_op_def table[] = {
    SCALAR("_plus_scalar", "_PlusScalar", MXN_ADD_OF, MXN_USES_NONE("_copy")),
    SCALAR("_minus_scalar", "_MinusScalar", MXN_SUB_OF, MXN_USES_NONE("_copy")),
    SCALAR("_rminus_scalar", "_RMinusScalar", MXN_SUB_OF | REVERSED, MXN_USES_NONE("negative")),
    SCALAR("_mul_scalar", "_MulScalar", MXN_MUL_OF, MXN_USES_NONE("_backward_mul_scalar")),
    SCALAR("_div_scalar", "_DivScalar", MXN_DIV_OF, MXN_USES_NONE("_backward_div_scalar")),
    SCALAR("_rdiv_scalar", "_RDivScalar", MXN_DIV_OF | REVERSED,
           MXN_USES_IN("_backward_rdiv_scalar")),
    SCALAR("_mod_scalar", "_ModScalar", MXN_MOD_OF, MXN_USES_IN("_backward_mod_scalar")),
    SCALAR("_rmod_scalar", "_RModScalar", MXN_MOD_OF | REVERSED,
           MXN_USES_IN("_backward_rmod_scalar")),
    SCALAR("_power_scalar", "_PowerScalar", MXN_POWER_OF, MXN_USES_IN("_backward_power_scalar")),
    SCALAR("_rpower_scalar", "_RPowerScalar", MXN_POWER_OF | REVERSED,
           MXN_USES_OUT("_backward_rpower_scalar")),
    SCALAR("_maximum_scalar", "_MaximumScalar _npi_maximum_scalar", MXN_MAXIMUM_OF,
           MXN_USES_IN("_backward_maximum_scalar")),
    SCALAR("_minimum_scalar", "_MinimumScalar _npi_minimum_scalar", MXN_MINIMUM_OF,
           MXN_USES_IN("_backward_minimum_scalar")),
    COMPARE("_equal_scalar", "_EqualScalar", MXN_EQUAL_OF),
    COMPARE("_not_equal_scalar", "_NotEqualScalar", MXN_NOT_EQUAL_OF),
    COMPARE("_greater_scalar", "_GreaterScalar", MXN_GREATER_OF),
    COMPARE("_greater_equal_scalar", "_GreaterEqualScalar", MXN_GREATER_EQUAL_OF),
    COMPARE("_lesser_scalar", "_LesserScalar", MXN_LESSER_OF),
    COMPARE("_lesser_equal_scalar", "_LesserEqualScalar", MXN_LESSER_EQUAL_OF),
    COMPARE("_logical_and_scalar", "_LogicalAndScalar", MXN_LOGICAL_AND_OF),
    COMPARE("_logical_or_scalar", "_LogicalOrScalar", MXN_LOGICAL_OR_OF),
    COMPARE("_logical_xor_scalar", "_LogicalXorScalar", MXN_LOGICAL_XOR_OF),
    SCALAR("_npi_add_scalar", NULL, MXN_ADD_OF, MXN_USES_NONE("_copy")),
    SCALAR("_npi_subtract_scalar", NULL, MXN_SUB_OF, MXN_USES_NONE("_copy")),
    SCALAR("_npi_rsubtract_scalar", NULL, MXN_SUB_OF | REVERSED, MXN_USES_NONE("negative")),
    SCALAR("_npi_multiply_scalar", NULL, MXN_MUL_OF, MXN_USES_NONE("_backward_mul_scalar")),
    ENTRY("_npi_true_divide_scalar", NULL, MXN_DIV_OF, divided_types,
          MXN_USES_NONE("_backward_div_scalar")),
    ENTRY("_npi_rtrue_divide_scalar", NULL, MXN_DIV_OF | REVERSED, divided_types,
          MXN_USES_IN("_backward_rdiv_scalar")),
    SCALAR("_npi_mod_scalar", NULL, MXN_REMAINDER_OF, MXN_USES_IN("_backward_mod_scalar")),
    SCALAR("_npi_rmod_scalar", NULL, MXN_REMAINDER_OF | REVERSED,
           MXN_USES_IN("_backward_rmod_scalar")),
    ENTRY("_npi_power_scalar", NULL, MXN_POWER_OF, power_types,
          MXN_USES_IN("_backward_power_scalar")),
    RUN("_npi_rpower_scalar", NULL, MXN_POWER_OF | REVERSED, result_types,
        MXN_USES_OUT("_backward_rpower_scalar"), reversed_power_forward),
    NUMPY_COMPARE("_npi_equal_scalar", MXN_EQUAL_OF),
    NUMPY_COMPARE("_npi_not_equal_scalar", MXN_NOT_EQUAL_OF),
    NUMPY_COMPARE("_npi_greater_scalar", MXN_GREATER_OF),
    NUMPY_COMPARE("_npi_greater_equal_scalar", MXN_GREATER_EQUAL_OF),
    NUMPY_COMPARE("_npi_less_scalar", MXN_LESSER_OF),
    NUMPY_COMPARE("_npi_less_equal_scalar", MXN_LESSER_EQUAL_OF),
    BACKWARD("_backward_mul_scalar", "data", MXN_MUL_OF, AGAIN_LINEAR("_backward_mul_scalar")),
    BACKWARD("_backward_div_scalar", "data", MXN_DIV_OF, AGAIN_LINEAR("_backward_div_scalar")),
    BACKWARD("_backward_rdiv_scalar", "lhs rhs", MXN_DIV_OF | REVERSED, AGAIN_RDIV),
    BACKWARD("_backward_mod_scalar", "lhs rhs", MXN_MOD_OF, NULL),
    BACKWARD("_backward_rmod_scalar", "lhs rhs", MXN_MOD_OF | REVERSED, NULL),
    BACKWARD("_backward_power_scalar", "lhs rhs", MXN_POWER_OF, AGAIN_POWER),
    BACKWARD("_backward_rpower_scalar", "lhs rhs", MXN_RPOWER_OF, NULL),
    BACKWARD("_backward_maximum_scalar", "lhs rhs", MXN_MAXIMUM_OF,
             STRAIGHT("_backward_maximum_scalar")),
    BACKWARD("_backward_minimum_scalar", "lhs rhs", MXN_MINIMUM_OF,
             STRAIGHT("_backward_minimum_scalar")),
    SCALAR("_hypot_scalar", "_HypotScalar _npi_hypot_scalar", MXN_HYPOT_OF,
           MXN_USES_IN("_backward_hypot_scalar")),
    SCALAR("_npi_fmax_scalar", NULL, MXN_FMAX_OF, MXN_USES_IN("_backward_npi_fmax_scalar")),
    SCALAR("_npi_fmin_scalar", NULL, MXN_FMIN_OF, MXN_USES_IN("_backward_npi_fmin_scalar")),
    ENTRY("_npi_arctan2_scalar", NULL, MXN_ARCTAN2_OF, divided_types,
          MXN_USES_IN("_backward_npi_arctan2_scalar")),
    ENTRY("_npi_rarctan2_scalar", NULL, MXN_ARCTAN2_OF | REVERSED, divided_types,
          MXN_USES_IN("_backward_npi_rarctan2_scalar")),
    SCALAR("_npi_floor_divide_scalar", NULL, MXN_FLOOR_DIVIDE_OF, MXN_GRADIENT_ZERO),
    SCALAR("_npi_rfloor_divide_scalar", NULL, MXN_FLOOR_DIVIDE_OF | REVERSED, MXN_GRADIENT_ZERO),
    ENTRY("_npi_bitwise_and_scalar", NULL, MXN_BITWISE_AND_OF, bitwise_types, MXN_GRADIENT_ZERO),
    ENTRY("_npi_bitwise_or_scalar", NULL, MXN_BITWISE_OR_OF, bitwise_types, MXN_GRADIENT_ZERO),
    ENTRY("_npi_bitwise_xor_scalar", NULL, MXN_BITWISE_XOR_OF, bitwise_types, MXN_GRADIENT_ZERO),
    NUMPY_COMPARE("_npi_logical_and_scalar", MXN_LOGICAL_AND_OF),
    NUMPY_COMPARE("_npi_logical_or_scalar", MXN_LOGICAL_OR_OF),
    NUMPY_COMPARE("_npi_logical_xor_scalar", MXN_LOGICAL_XOR_OF),
    BACKWARD("_backward_hypot_scalar", "lhs rhs", MXN_HYPOT_OF, NULL),
    BACKWARD("_backward_npi_fmax_scalar", "lhs rhs", MXN_FMAX_OF, NULL),
    BACKWARD("_backward_npi_fmin_scalar", "lhs rhs", MXN_FMIN_OF, NULL),
    BACKWARD("_backward_npi_arctan2_scalar", "lhs rhs", MXN_ARCTAN2_OF, NULL),
    BACKWARD("_backward_npi_rarctan2_scalar", "lhs rhs", MXN_ARCTAN2_OF | REVERSED, NULL),
};

MXN_FAMILY(scalar, table);
