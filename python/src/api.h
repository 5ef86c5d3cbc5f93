// SPDX-License-Identifier: Apache-2.0
// What this extension uses of libmxnet, and of libmxprof behind it where a call more would be felt:
// functions, and the block that says what is recorded. All is looked up in the library which the
// package has loaded, so that there is one library however the extension was built.
#ifndef MXNET_PYTHON_API_H_
#define MXNET_PYTHON_API_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <mxnet/c_api.h>
#include <mxnet/invoke.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>

#if PY_VERSION_HEX < 0x030a0000
static inline PyObject *Py_NewRef(PyObject *object)
{
    Py_INCREF(object);
    return object;
}

static inline PyObject *Py_XNewRef(PyObject *object)
{
    Py_XINCREF(object);
    return object;
}
#endif

#define CORE_SYMBOLS(X)       \
    X(MXGetLastError)         \
    X(MXNDArrayFree)          \
    X(MXNDArrayGetShape)      \
    X(MXNDArrayGetShape64)    \
    X(MXNDArrayGetDType)      \
    X(MXPreparedCreate)       \
    X(MXPreparedInvoke)       \
    X(MXPreparedFree)         \
    X(MXProfileDestroyHandle) \
    X(mxp_duration_start)     \
    X(mxp_duration_stop)      \
    X(MXProfileSetCounter)    \
    X(MXProfileAdjustCounter) \
    X(MXSetProfilerScope)     \
    X(mxp_intern)             \
    X(mxp_thread_name)        \
    X(mxp_begin_at)           \
    X(mxp_end_at)             \
    X(mxp_clock_read)

typedef struct core_api {
#define CORE_MEMBER(name) __typeof__(&(name)) name;
    CORE_SYMBOLS(CORE_MEMBER)
#undef CORE_MEMBER
    mxp_control_block *mxp_control;  // its symbol's name says how it is laid out
} core_api;

extern core_api core_mx __attribute__((visibility("hidden")));  // its address needs no look-up

// Fills core_mx from a dlopen handle; failures raise `error_class` from now on. Returns -1 with an
// exception if one is missing.
int core_api_bind(void *library, PyObject *error_class);

// Raises MXNetError with the library's reason. Always returns null.
PyObject *core_raise(void);

// Raises MXNetError with a text of ours. Always returns null.
PyObject *core_fail(const char *text);

// None, or what core_raise returns.
PyObject *core_answer(int status);

#endif
