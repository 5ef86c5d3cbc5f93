// SPDX-License-Identifier: Apache-2.0
// Names of Python's functions, by the object that tells them apart: a code object, or the
// definition of a function written in C. All under the interpreter's lock.
#ifndef MXP_COLLECT_FUNCTION_NAMES_H
#define MXP_COLLECT_FUNCTION_NAMES_H

#include <mxprof/record.h>

#include "profiler/collect/python/python_api.h"

// "qualname (file.py:line)" of a code object, which is held from now on, so that its address stays
// this name. 0: it is the collector's own and not to be recorded.
mxp_name mxp__python_function_name(python_object *code);
// "module.name" of a function in C; `key` tells it apart and outlives it.
mxp_name mxp__c_function_name(const void *key, python_object *function);

#endif
