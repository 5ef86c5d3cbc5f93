// SPDX-License-Identifier: Apache-2.0
// Values of parameters as the text that libmxnet parses.
#ifndef MXNET_PYTHON_TEXT_H_
#define MXNET_PYTHON_TEXT_H_

#include "api.h"

// `left_out`: the type whose instances stand for a parameter's default. `other`: a function that
// makes the text of anything that is no plain number, text, bool, None or tuple of those.
void core_text_bind(PyObject *left_out, PyObject *other);

// A str, None for a parameter left out, or null with an exception. A new reference.
PyObject *core_value_text(PyObject *value);

// The text of an int or of what has a float value.
PyObject *core_number_text(PyObject *value);

#endif
