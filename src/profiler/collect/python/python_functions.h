// SPDX-License-Identifier: Apache-2.0
// Python's functions as spans. Before 3.12 by the profile hook of each thread; from 3.12 on by
// sys.monitoring, which sees every thread, with callbacks in C.
#ifndef MXP_COLLECT_PYTHON_FUNCTIONS_H
#define MXP_COLLECT_PYTHON_FUNCTIONS_H

#include "profiler/collect/python/python_api.h"

// What functions.py calls, into its name space: functions_begin and functions_end for a thread, or
// functions_enter, functions_leave, functions_c_enter and functions_c_leave as callbacks; and
// functions_with_c, None if calls of functions in C are not asked for. False: an error of Python's.
bool mxp__python_functions_offer(python_object *globals, bool with_c);

// What the audit hook saw: somebody sets the profile hook of this thread, which has but one.
void mxp__python_functions_replaced(void);

#endif
