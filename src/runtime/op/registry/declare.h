// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/registry: what an operator is: declaration, inference, gradient, texts.
//
// How operators are declared. A family is a file with a table of mxn_op_def, named in families.def;
// an operator is one entry. Everything here is static data and lives forever.
//
// A kernel only computes and writes: adding, overlapping memory, half-precision numbers and outputs
// without elements are dealt with around it (execute.c). An output of several that is not wanted
// has null data. Values are row-major and contiguous.
#ifndef MXN_OP_REGISTRY_DECLARE_H
#define MXN_OP_REGISTRY_DECLARE_H

#include "runtime/op/op.h"
#include "runtime/tensor/number.h"

// ---- parameters -------------------------------------------------------------------------------
// What a field is in the operator's struct, and how its type is called in the documentation. A
// NUMBER keeps all digits of a whole number; a WIDE_FLOAT is what MXNet calls a float, kept as a
// double, so that arrays of float64 are not computed with seven digits.
// X(NAME, text, C type, whether the default is printed in quotes)
#define MXN_FIELD_KINDS(X)                                 \
    X(BOOL, "boolean", bool, 0)                            \
    X(INT, "int", int32_t, 1)                              \
    X(UINT, "int (non-negative)", uint32_t, 0)             \
    X(LONG, "long", int64_t, 0)                            \
    X(ULONG, "long (non-negative)", uint64_t, 0)           \
    X(FLOAT, "float", float, 0)                            \
    X(DOUBLE, "double", double, 0)                         \
    X(STRING, "string", const char *, 1)                   \
    X(ENUM, "", int32_t, 1)                                \
    X(TUPLE, "Shape(tuple)", mxn_tuple, 0)                 \
    X(MAYBE_TUPLE, "Shape or None", mxn_tuple, 0)          \
    X(MAYBE_INT, "int or None", mxn_maybe_int, 1)          \
    X(MAYBE_BOOL, "boolean or None", mxn_maybe_int, 0)     \
    X(MAYBE_FLOAT, "float or None", mxn_maybe_double, 0)   \
    X(MAYBE_DOUBLE, "double or None", mxn_maybe_double, 0) \
    X(NUMBER, "double", mxn_number, 0)                     \
    X(MAYBE_NUMBER, "double or None", mxn_maybe_number, 0) \
    X(WIDE_FLOAT, "float", double, 0)                      \
    X(FLOATS, "tuple of <float>", mxn_floats, 0)           \
    X(OPEN_TUPLE, "tuple of <>", mxn_tuple, 0)             \
    X(ANY_TUPLE, "", mxn_tuple, 0)                         \
    X(INPUT, "NDArray-or-Symbol", char, 0)

enum {
#define MXN_FIELD_ENUM(name, text, type, quoted) MXN_FIELD_##name,
    MXN_FIELD_KINDS(MXN_FIELD_ENUM)
#undef MXN_FIELD_ENUM
        MXN_FIELD_KIND_COUNT
};

enum { MXN_TUPLE_ABSENT = -1 };  // the count of a tuple that is None
// An element that is None, as in begin=(None, 2): of an OPEN_TUPLE or ANY_TUPLE. No other element
// is this number.
#define MXN_NONE_ELEMENT INT64_MIN

typedef struct mxn_tuple {
    int32_t count;
    int64_t values[MXN_DIMS_MAX];
} mxn_tuple;

typedef struct mxn_maybe_int {
    bool has;
    int32_t value;
} mxn_maybe_int;

typedef struct mxn_maybe_double {
    bool has;
    double value;
} mxn_maybe_double;

typedef struct mxn_maybe_number {
    bool has;
    mxn_number number;
} mxn_maybe_number;

typedef struct mxn_floats {
    uint32_t count;
    const float *values;
} mxn_floats;

// A word of an enumeration; a list ends with a null text and is printed in its order. The word
// "None" without quotes is written as MXN_NONE_WORD.
#define MXN_NONE_WORD "\1None"
typedef struct mxn_word {
    const char *text;
    int32_t value;
} mxn_word;

typedef struct mxn_field {
    const char *name;
    int kind;  // MXN_FIELD_*
    uint32_t offset;  // in the operator's struct
    const char *value;  // the default as the documentation prints it; null: required
    const mxn_word *words;  // of an ENUM
    const char *type_text;  // null: made from the kind and the default
    double min, max;  // of a number; both 0: no limits
    const char *other_name;  // by which another line of MXNet calls it; null: none
} mxn_field;

// The usual begin of an entry: {MXN_FIELD(fc_params, num_hidden, INT, NULL), .min = 1, .max = 1e9}
#define MXN_FIELD(type, member, kind_, value_) \
    .name = #member, .kind = MXN_FIELD_##kind_, .offset = offsetof(type, member), .value = (value_)

// ---- gradients --------------------------------------------------------------------------------
// One call. `takes` names what it takes: g0 (gradient of output 0), i1 (input 1), o0 (output 0), s0
// (result 0 of the calls before), and g*, i*, o*: all of them. `gives` has for each of its outputs
// the input whose gradient it is, or "-"; null: inputs 0, 1, ... in order; "each": the call is made
// once for every input. Parameters are the forward's where both have the same fields, else
// `params`.
typedef struct mxn_gradient_step {
    const char *op, *takes, *gives;
    const char *const *params;  // key, value, ..., null
    void (*adjust)(void *values);  // null, or changes the copy of the forward's parameters
} mxn_gradient_step;

// A list of steps as an expression: MXN_GRADIENT({.op = "_backward_dot", .takes = "g0 i0 i1"})
#define MXN_GRADIENT(...) ((const mxn_gradient_step[]){__VA_ARGS__, {0}})
#define MXN_USES_NONE(name_) MXN_GRADIENT({.op = (name_), .takes = "g0"})
#define MXN_USES_IN(name_) MXN_GRADIENT({.op = (name_), .takes = "g0 i0"})
#define MXN_USES_BOTH(name_) MXN_GRADIENT({.op = (name_), .takes = "g0 i0 i1"})
#define MXN_USES_OUT(name_) MXN_GRADIENT({.op = (name_), .takes = "g0 o0"})
#define MXN_USES_ALL(name_) MXN_GRADIENT({.op = (name_), .takes = "g0 i0 o0"})
#define MXN_GRADIENT_ZERO ((const mxn_gradient_step[]){{0}})

// Of which inputs an operator reads values: it may ask for others to know their shapes.
enum {
    MXN_READS_ALL,
    MXN_READS_FIRST,  // a sum's gradient: only the gradient that comes in
    MXN_READS_OTHER,  // a product's: that, and for each factor's gradient the other factor
    MXN_READS_NONE
};

// ---- inference --------------------------------------------------------------------------------
// Types of output 0 that the kernels of an operator compute, as bits; with MXN_TAKES_OF_INPUT,
// types of input 0. Inference refuses others, so that a call fails and not, later, its operation.
#define MXN_TAKES(name) (1u << MXN_##name)
#define MXN_TAKES_ALL 0u
#define MXN_TAKES_NARROW (MXN_TAKES(FLOAT16) | MXN_TAKES(BFLOAT16))
#define MXN_TAKES_REALS (MXN_TAKES_NARROW | MXN_TAKES(FLOAT32) | MXN_TAKES(FLOAT64))
#define MXN_TAKES_NUMBERS (((1u << MXN_DTYPE_COUNT) - 1) & ~MXN_TAKES(BOOL))
#define MXN_TAKES_OF_INPUT (1u << 31)

typedef struct mxn_shapes {
    const mxn_params *params;
    mxn_shape *const *inputs, *const *outputs;
    bool alone;  // a call of this operator only: no other will tell more
} mxn_shapes;

typedef struct mxn_types {
    const mxn_params *params;
    int32_t *inputs, *outputs;
} mxn_types;

typedef int (*mxn_infer_shapes)(const mxn_shapes *shapes);
typedef int (*mxn_infer_types)(const mxn_types *types);
typedef int (*mxn_kernel)(mxn_job *job);

// Beside the public flags.
enum {
    MXN_OP_SILENT = 1 << 16,  // its parameters are not documented
    MXN_OP_ANY_TYPE = 1 << 17,  // its kernel takes every type; else float16 and bfloat16 are
                                // converted to float32 and back
    MXN_OP_RUNS_EMPTY = 1 << 18,  // also runs when no output has an element
    MXN_OP_READS_STATES = 1 << 19  // only its gradient writes the inputs that it mutates
};

// Of a kernel that reads an element of each input before it writes that of output 0, and no more of
// any other.
#define MXN_INPLACE_ALL UINT32_MAX

// ---- an operator ------------------------------------------------------------------------------
typedef struct mxn_op_def {
    const char *name;
    const char *aliases;  // separated by blanks, sorted; null: none
    const char *description;  // one line
    const char *inputs;  // "data weight bias"; "data[]": a list; null: not documented
    uint32_t input_count;  // 0: as many as are named
    uint32_t output_count;  // 0: 1
    const char *outputs;  // "output mean var"; null: "output", or "output0", "output1" ...
    const char *key;  // name of the parameter that counts a list of inputs
    const mxn_field *fields;  // ends with a null name; null: none
    uint32_t params_bytes;  // of the operator's struct
    uint32_t flags;  // MXN_OP_*
    uint32_t mutates;  // bits of the inputs that are states, which it writes
    uint32_t inplace;  // bits of the inputs of which output 0 may be exactly one: MXN_INPLACE_ALL
    float flops_each;  // per element of its first output; 0: 1
    int reads;  // MXN_READS_*
    uint32_t takes;  // MXN_TAKES_*
    int variant;  // whatever the family wants to tell its members apart

    int (*check)(const mxn_op *op, void *params);  // of what single fields cannot say; may complete
    uint32_t (*inputs_of)(const void *params);  // null: constant
    uint32_t (*name_of)(const void *params, uint32_t input);  // index of its name; null: the same
    uint32_t (*outputs_of)(const void *params);
    uint32_t (*visible_of)(const void *params);  // null: all
    bool (*mutates_of)(const mxn_params *params, uint32_t index);
    // What a variable for this input begins with, as MXNet's attribute __init__ says it; null: as
    // the front end decides.
    const char *(*init_of)(const void *params, uint32_t input);
    bool (*inplace_of)(const mxn_params *params, uint32_t output, uint32_t input);
    bool (*cuts)(const void *params, bool training);  // mxn_params_cuts; null: never
    bool (*draws)(const void *params);  // random numbers; null: as MXN_OP_RANDOM says
    // Of operators whose struct holds more than its fields: fills in the rest from all pairs given,
    // of which no name is unknown; takes a share for a copy; lets go (also where make has failed).
    int (*make)(mxn_params *params, uint32_t count, const char *const *keys,
                const char *const *values);
    void (*share)(void *values);
    void (*release)(void *values);
    // With MXN_OP_STATE: makes the state of a run; null: it is that of the forward.
    int (*make_state)(const mxn_job *job, mxn_context context, mxn_call_state **state);
    mxn_infer_shapes shapes;  // null: all alike
    mxn_infer_types types;  // null: all alike
    const mxn_gradient_step *gradient;  // null: none, unless gradient_of tells
    const mxn_gradient_step *(*gradient_of)(const void *params);
    mxn_kernel forward;  // the plain C reference
    uint64_t (*workspace)(const mxn_job *job);  // bytes; null: wants none
    double (*flops)(const mxn_job *job);  // null: flops_each
    int (*direct)(const mxn_direct_call *call);
} mxn_op_def;

typedef struct mxn_op_family {
    const mxn_op_def *defs;
    uint32_t count;
} mxn_op_family;

// What a family's file ends with: its table under the file's name, which families.def lists.
#define MXN_FAMILY(name, table) \
    const mxn_op_family mxn__family_##name = {(table), sizeof(table) / sizeof((table)[0])}

#define MXN_FAMILY_DECLARE(name) extern const mxn_op_family mxn__family_##name;

static inline const void *mxn__values(const mxn_job *job)
{
    return job->params->values;
}

#endif
