// SPDX-License-Identifier: Apache-2.0
// A capsule whose structure nobody takes ends it itself. In C, because that may happen while an
// exception is on its way, in which no Python code may run.
#include "capsule.h"

typedef int (*deleter_function)(DLManagedTensorHandle tensor);

static const char plain[] = "dltensor", versioned[] = "dltensor_versioned";

// Who takes the structure renames the capsule.
static void end_capsule(PyObject *capsule)
{
    const char *name = PyCapsule_IsValid(capsule, plain) ? plain : versioned;
    if (PyCapsule_IsValid(capsule, name)) {
        deleter_function deleter;
        void *context = PyCapsule_GetContext(capsule);
        memcpy(&deleter, &context, sizeof deleter);
        deleter(PyCapsule_GetPointer(capsule, name));
    }
}

PyObject *core_capsule(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *address, *deleter;
    int is_versioned;
    if (!PyArg_ParseTuple(arguments, "O!pO!", &PyLong_Type, &address, &is_versioned, &PyLong_Type,
                          &deleter)) {
        return NULL;
    }
    void *tensor = PyLong_AsVoidPtr(address), *function = PyLong_AsVoidPtr(deleter);
    if (tensor == NULL || function == NULL) {
        return PyErr_Occurred() != NULL ? NULL : core_fail("a capsule of nothing");
    }
    PyObject *capsule = PyCapsule_New(tensor, is_versioned ? versioned : plain, NULL);
    if (capsule != NULL && (PyCapsule_SetContext(capsule, function) != 0 ||
                            PyCapsule_SetDestructor(capsule, end_capsule) != 0)) {
        Py_CLEAR(capsule);
    }
    return capsule;
}
