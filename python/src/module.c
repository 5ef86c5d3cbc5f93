// SPDX-License-Identifier: Apache-2.0
// mxnet._core: the calls that programs make most. mxnet/_fallback.py has the same names, through
// ctypes.
#include "api.h"
#include "arithmetic.h"
#include "array.h"
#include "capsule.h"
#include "objects.h"
#include "operator.h"
#include "span.h"
#include "text.h"
#include "thread.h"

static PyObject *bind(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *library, *error, *left_out, *text;
    if (!PyArg_ParseTuple(arguments, "O!OOO", &PyLong_Type, &library, &error, &left_out, &text)) {
        return NULL;
    }
    void *handle = PyLong_AsVoidPtr(library);
    if (handle == NULL || core_api_bind(handle, error) != 0) {
        return NULL;
    }
    core_text_bind(left_out, text);
    Py_RETURN_NONE;
}

static PyObject *set_scope(PyObject *module, PyObject *name)
{
    (void)module;
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(name, &length);
    if (text == NULL) {
        return NULL;
    }
    if (strlen(text) != (size_t)length) {
        return PyErr_Format(PyExc_ValueError, "a text must not have a null character: %R", name);
    }
    core_thread_seen();
    return core_answer(core_mx.MXSetProfilerScope(text));
}

static PyMethodDef functions[] = {
    {"bind", bind, METH_VARARGS,
     "bind(library, error, left_out, text)\n--\n\nSays which library is called (a dlopen handle), "
     "what failures raise,\nwhich type stands for a parameter's default, and what makes texts of "
     "values."},
    {"capsule", core_capsule, METH_VARARGS,
     "capsule(address, is_versioned, deleter)\n--\n\nA capsule of a DLPack structure; deleter is "
     "the "
     "address of the function\nthat is given it if nobody has taken it."},
    {"set_arithmetic", (PyCFunction)(void (*)(void))core_set_arithmetic, METH_FASTCALL,
     "set_arithmetic(type, table, typed, convert)\n--\n\nThe operators behind +, < and the "
     "others of a type."},
    {"set_conversion", core_set_conversion, METH_O,
     "set_conversion(function)\n--\n\nWhat makes arrays of inputs that are none: called with the "
     "type of\narrays and the tuple of inputs, it gives another tuple, or None if it cannot."},
    {"set_scope", set_scope, METH_O, "set_scope(name)\n--\n\nMXSetProfilerScope."},
    {"thread_bind", core_thread_bind, METH_VARARGS,
     "thread_bind(threads, foreign)\n--\n\nWhere threading keeps its threads, and the type of "
     "those it "
     "did not start."},
    {"thread_seen", core_thread_seen_call, METH_NOARGS,
     "thread_seen()\n--\n\nHands the calling thread's name over, if that is to be done."},
    {"thread_renamed", core_thread_renamed, METH_NOARGS,
     "thread_renamed()\n--\n\nA thread has another name; each hands its own over again."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "mxnet._core",
    .m_doc = "The calls that programs make most, in C.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && (PyType_Ready(&core_prepared_type) != 0 ||
                           PyModule_AddType(module, &core_array_type) != 0 ||
                           PyModule_AddType(module, &core_operator_type) != 0 ||
                           PyModule_AddType(module, &core_duration_type) != 0 ||
                           PyModule_AddType(module, &core_counter_type) != 0 ||
                           PyModule_AddType(module, &core_span_type) != 0)) {
        Py_CLEAR(module);
    }
    return module;
}
