// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <stddef.h>
#include <structmember.h>

#include "arithmetic.h"

// ---- life -------------------------------------------------------------------------------------
// The end of an array may run operations (with NaiveEngine its deletion), so others may continue.
// It may also end a graph and call back into Python, while an exception is on its way.
void core_handle_free(NDArrayHandle handle)
{
    if (handle == NULL) {
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_BEGIN_ALLOW_THREADS;
    core_mx.MXNDArrayFree(handle);
    Py_END_ALLOW_THREADS;
    PyErr_Restore(type, value, traceback);
}

PyObject *core_array_make(PyTypeObject *type, NDArrayHandle handle)
{
    core_array *array = (core_array *)type->tp_alloc(type, 0);
    if (array == NULL) {
        core_handle_free(handle);
        return NULL;
    }
    array->handle = handle;
    array->dtype = -1;
    return (PyObject *)array;
}

static PyObject *array_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"address", NULL};
    PyObject *address = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!", names, &PyLong_Type, &address)) {
        return NULL;
    }
    void *handle = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred()) {
        return NULL;
    }
    return core_array_make(type, handle);
}

static void array_dealloc(PyObject *self)
{
    core_array *array = (core_array *)self;
    if (array->weak_references != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    core_handle_free(array->handle);
    Py_XDECREF(array->shape);
    Py_TYPE(self)->tp_free(self);
}

// ---- what it is -------------------------------------------------------------------------------
static PyObject *get_address(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(((core_array *)self)->handle);
}

static PyObject *shape_of(NDArrayHandle handle)
{
    int rank = 0;
    const int *narrow = NULL;
    const int64_t *wide = NULL;
    if (core_mx.MXNDArrayGetShape(handle, &rank, &narrow) != 0 &&
        core_mx.MXNDArrayGetShape64(handle, &rank, &wide) != 0) {
        return core_raise();
    }
    PyObject *shape = PyTuple_New(rank > 0 ? rank : 0);
    for (int i = 0; shape != NULL && i < rank; i++) {
        PyObject *size = PyLong_FromLongLong(wide != NULL ? wide[i] : narrow[i]);
        if (size == NULL) {
            Py_CLEAR(shape);
            break;
        }
        PyTuple_SET_ITEM(shape, i, size);
    }
    return shape;
}

// An array never changes its shape, so it is asked for once; but () may stand for one that has no
// shape yet.
static PyObject *get_shape(PyObject *self, void *closure)
{
    (void)closure;
    core_array *array = (core_array *)self;
    if (array->shape != NULL) {
        return Py_NewRef(array->shape);
    }
    PyObject *shape = shape_of(array->handle);
    if (shape != NULL && PyTuple_GET_SIZE(shape) > 0) {
        array->shape = Py_NewRef(shape);
    }
    return shape;
}

static PyObject *get_type_code(PyObject *self, void *closure)
{
    (void)closure;
    core_array *array = (core_array *)self;
    if (array->dtype < 0 && core_mx.MXNDArrayGetDType(array->handle, &array->dtype) != 0) {
        return core_raise();
    }
    return PyLong_FromLong(array->dtype);
}

static PyGetSetDef array_members[] = {
    {"_address", get_address, NULL, "the handle as a number", NULL},
    {"shape", get_shape, NULL, "tuple of int: the size of each dimension", NULL},
    {"_type_code", get_type_code, NULL, "the number of the element type", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject core_array_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "mxnet._core.Array",
    .tp_doc = "Array(address): owner of an array handle of libmxnet.",
    .tp_basicsize = sizeof(core_array),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = array_new,
    .tp_dealloc = array_dealloc,
    .tp_weaklistoffset = offsetof(core_array, weak_references),
    .tp_getset = array_members,
    .tp_as_number = &core_arithmetic,
    .tp_richcompare = core_compare,
    .tp_hash = PyObject_HashNotImplemented,
};
