// SPDX-License-Identifier: Apache-2.0
// The base of mx.nd.NDArray and mx.np.ndarray: owner of a handle, with the arithmetic operators.
#ifndef MXNET_PYTHON_ARRAY_H_
#define MXNET_PYTHON_ARRAY_H_

#include "api.h"

typedef struct core_array {
    PyObject_HEAD NDArrayHandle handle;  // null: not given yet
    PyObject *shape;  // a tuple once it was asked for, else null
    PyObject *weak_references;
    int dtype;  // element type; -1: not asked for yet
} core_array;

extern PyTypeObject core_array_type;

static inline int core_is_array(PyObject *object)
{
    return PyObject_TypeCheck(object, &core_array_type);
}

// A new array of `type` that owns `handle`; without memory the handle is freed.
PyObject *core_array_make(PyTypeObject *type, NDArrayHandle handle);
void core_handle_free(
    NDArrayHandle handle);  // lets the interpreter go meanwhile; null does nothing

#endif
