// SPDX-License-Identifier: Apache-2.0
// The base of profiler.Span: a span that nests with the others of its thread, in the recorder's
// leanest form.
#ifndef MXNET_PYTHON_SPAN_H_
#define MXNET_PYTHON_SPAN_H_

#include "api.h"

extern PyTypeObject core_span_type;

#endif
