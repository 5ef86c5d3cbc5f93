// SPDX-License-Identifier: Apache-2.0
// The bases of the profiler's objects: Task, Frame and Event; Counter.
#ifndef MXNET_PYTHON_OBJECTS_H_
#define MXNET_PYTHON_OBJECTS_H_

#include "api.h"

extern PyTypeObject core_duration_type;
extern PyTypeObject core_counter_type;

// For __init_subclass__: fast calls of `methods` on the new type. None, or null with an exception.
PyObject *core_own_methods(PyObject *type, PyMethodDef *methods);

#endif
