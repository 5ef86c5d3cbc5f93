// SPDX-License-Identifier: Apache-2.0
// Operators and their prepared calls: the parameters of a call are turned to text and parsed once
// for each set of values, and kept.
#ifndef MXNET_PYTHON_OPERATOR_H_
#define MXNET_PYTHON_OPERATOR_H_

#include "api.h"

enum { CORE_SCALARS = 16 };  // of lately used numbers, a power of two
enum { CORE_LISTED_MAX = 64 };  // parameters; inputs or outputs without memory from the heap

typedef struct core_prepared {
    PyObject_HEAD MXPreparedHandle handle;
} core_prepared;

typedef struct core_scalar {
    uint64_t bits;  // of the int, in two's complement, or of the float
    int is_whole;  // an int
    core_prepared *prepared;  // null: free
} core_scalar;

typedef struct core_operator {
    PyObject_HEAD vectorcallfunc call;
    AtomicSymbolCreator creator;
    PyObject *name;  // str
    PyObject *keys;  // tuple of str: the parameters
    PyObject *prepared;  // dict: texts of a call's parameters and its number of inputs -> prepared
    core_scalar scalars[CORE_SCALARS];
} core_operator;

extern PyTypeObject core_operator_type;
extern PyTypeObject core_prepared_type;

// Runs `prepared` and gives its results as `type`: one array, or a list of them. `out`: null, None,
// an array, or a list or tuple of arrays to write to, which is then the result.
PyObject *core_invoke(core_prepared *prepared, PyTypeObject *type, NDArrayHandle *inputs,
                      PyObject *out);

// set_conversion(function): what makes arrays of inputs that are none.
PyObject *core_set_conversion(PyObject *module, PyObject *function);

// What a prepared call is known by: the texts of the parameters, all left out yet (None), and the
// number of inputs.
PyObject *core_texts_empty(const core_operator *op, Py_ssize_t inputs);
// The call of these texts, made if it is new. Takes the reference to `texts`, which may be null
// after a failure. A new reference.
core_prepared *core_prepare_texts(core_operator *op, PyObject *texts);
// The call with one input and the number `value`, an int or a float, as `scalar` parameter; with
// `typed` also is_int. A new reference.
core_prepared *core_prepare_scalar(core_operator *op, PyObject *value, int typed);
// The call with `inputs` arrays and no parameters. A new reference.
core_prepared *core_prepare_plain(core_operator *op, Py_ssize_t inputs);

#endif
