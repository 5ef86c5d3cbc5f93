// SPDX-License-Identifier: Apache-2.0
// The names that a program gives its threads: the system does not know them, so the first call of a
// thread that records hands its name to the library, and the first one after a renaming.
#ifndef MXNET_PYTHON_THREAD_H_
#define MXNET_PYTHON_THREAD_H_

#include "api.h"

// How often threads had been renamed when this thread's name was handed over, 0: never. Its address
// tells threads apart, for less than asking for the thread's number.
extern __thread uint32_t core_thread_named
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
// How often threads were renamed, from 1. The interpreter's lock guards it.
extern uint32_t core_thread_names __attribute__((visibility("hidden")));

void core_thread_hand_over(void);

// To be called where a thread records, with the interpreter's lock. Runs no Python code.
static inline void core_thread_seen(void)
{
    if (__builtin_expect(core_thread_named != core_thread_names, 0)) {
        core_thread_hand_over();
    }
}

// thread_bind(threads, foreign): the dict of threading's threads by their numbers, and the type
// that stands for those that it did not start. thread_seen(). thread_renamed().
PyObject *core_thread_bind(PyObject *module, PyObject *arguments);
PyObject *core_thread_seen_call(PyObject *module, PyObject *none);
PyObject *core_thread_renamed(PyObject *module, PyObject *none);

#endif
