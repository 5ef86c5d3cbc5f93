// SPDX-License-Identifier: Apache-2.0
// Capsules of DLPack structures.
#ifndef MXNET_PYTHON_CAPSULE_H_
#define MXNET_PYTHON_CAPSULE_H_

#include "api.h"

// capsule(address, is_versioned, deleter) of the module.
PyObject *core_capsule(PyObject *module, PyObject *arguments);

#endif
