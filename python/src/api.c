// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include <dlfcn.h>
#include <string.h>

core_api core_mx;

static PyObject *mxnet_error;

typedef struct entry {
    const char *name;
    size_t offset;
} entry;

static const entry symbols[] = {
#define CORE_ENTRY(name) {#name, offsetof(core_api, name)},
    CORE_SYMBOLS(CORE_ENTRY)
#undef CORE_ENTRY
        {MXP_LAYOUT_NAME("mxp_control"), offsetof(core_api, mxp_control)},
};

int core_api_bind(void *library, PyObject *error_class)
{
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (symbol == NULL) {
            PyErr_Format(PyExc_ImportError, "the library has no %s", symbols[i].name);
            return -1;
        }
        memcpy((char *)&core_mx + symbols[i].offset, &symbol, sizeof(symbol));
    }
    Py_XSETREF(mxnet_error, Py_NewRef(error_class));
    return 0;
}

PyObject *core_fail(const char *text)
{
    PyErr_SetString(mxnet_error != NULL ? mxnet_error : PyExc_RuntimeError, text);
    return NULL;
}

// What has ended a function of the program inside of the call goes before what the library says.
PyObject *core_raise(void)
{
    PyObject *taken = PyObject_CallMethod(mxnet_error, "_taken", NULL);
    if (taken == NULL) {
        return NULL;
    }
    if (taken != Py_None) {
        PyErr_SetObject((PyObject *)Py_TYPE(taken), taken);
        Py_DECREF(taken);
        return NULL;
    }
    Py_DECREF(taken);
    static const char name[] = "MXNetError: ";  // Python says it itself
    const char *text = core_mx.MXGetLastError();
    return core_fail(strncmp(text, name, sizeof name - 1) == 0 ? text + sizeof name - 1 : text);
}

PyObject *core_answer(int status)
{
    if (status != 0) {
        return core_raise();
    }
    Py_RETURN_NONE;
}
