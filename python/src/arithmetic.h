// SPDX-License-Identifier: Apache-2.0
// The operators of arrays: which of the registry's computes +, -, < and the others is said by
// the package, for each type of array.
#ifndef MXNET_PYTHON_ARITHMETIC_H_
#define MXNET_PYTHON_ARITHMETIC_H_

#include "api.h"

extern PyNumberMethods core_arithmetic;
PyObject *core_compare(PyObject *left, PyObject *right, int comparison);

// set_arithmetic(type, table, typed, convert): `table` maps a word ("add", "less" ...) to a triple
// of operators: of two arrays, of array and number, of number and array; None for one there is not.
// `typed`: number operators have a parameter is_int. `convert(array, other)` makes an array or a
// number of any other operand, or gives NotImplemented.
PyObject *core_set_arithmetic(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

#endif
