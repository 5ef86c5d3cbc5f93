// SPDX-License-Identifier: Apache-2.0
// Recording keeps the interpreter's lock: a record takes less time than giving it away.
#include "objects.h"

#include "thread.h"

typedef struct object {
    PyObject_HEAD ProfileHandle handle;
} object;

// ---- what both have ---------------------------------------------------------------------------
static PyObject *object_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments;
    (void)keywords;
    return type->tp_alloc(type, 0);
}

static void object_dealloc(PyObject *self)
{
    ProfileHandle handle = ((object *)self)->handle;
    if (handle != NULL) {
        core_mx.MXProfileDestroyHandle(handle);
    }
    Py_TYPE(self)->tp_free(self);
}

static PyObject *get_address(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(((object *)self)->handle);
}

static int set_address(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    if (value == NULL || !PyLong_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "a handle's address is an int");
        return -1;
    }
    ((object *)self)->handle = PyLong_AsVoidPtr(value);
    return PyErr_Occurred() ? -1 : 0;
}

static PyGetSetDef object_members[] = {
    {"_address", get_address, set_address, "the handle as a number", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

// Calls of a method are fast only if its descriptor is of the object's very type (in CPython 3.11):
// every subclass gets descriptors of its own, except for what a class between overrides.
PyObject *core_own_methods(PyObject *type, PyMethodDef *methods)
{
    for (PyMethodDef *method = methods; method->ml_name != NULL; method++) {
        PyObject *found = PyObject_GetAttrString(type, method->ml_name);
        int is_ours = found != NULL && Py_TYPE(found) == &PyMethodDescr_Type &&
                      ((PyMethodDescrObject *)found)->d_method == method;
        Py_XDECREF(found);
        if (!is_ours) {
            PyErr_Clear();
            continue;
        }
        PyObject *own = PyDescr_NewMethod((PyTypeObject *)type, method);
        int failed = own == NULL || PyObject_SetAttrString(type, method->ml_name, own) != 0;
        Py_XDECREF(own);
        if (failed) {
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

// ---- durations --------------------------------------------------------------------------------
static PyObject *duration_start(PyObject *self, PyObject *none)
{
    (void)none;
    core_thread_seen();
    return core_answer(core_mx.mxp_duration_start(((object *)self)->handle));
}

static PyObject *duration_stop(PyObject *self, PyObject *none)
{
    (void)none;
    return core_answer(core_mx.mxp_duration_stop(((object *)self)->handle));
}

static PyObject *duration_enter(PyObject *self, PyObject *none)
{
    (void)none;
    core_thread_seen();
    return core_mx.mxp_duration_start(((object *)self)->handle) == 0 ? Py_NewRef(self)
                                                                     : core_raise();
}

static PyObject *duration_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)arguments;
    (void)count;
    return duration_stop(self, NULL);
}

static PyObject *duration_subclass(PyObject *type, PyObject *none);

static PyMethodDef duration_methods[] = {
    {"start", duration_start, METH_NOARGS, "start()\n--\n\nBegins the span on this thread."},
    {"stop", duration_stop, METH_NOARGS,
     "stop()\n--\n\nEnds the span that this thread began last; MXNetError if there is none."},
    {"__enter__", duration_enter, METH_NOARGS, "Begins the span."},
    {"__exit__", (PyCFunction)(void (*)(void))duration_exit, METH_FASTCALL, "Ends the span."},
    {"__init_subclass__", duration_subclass, METH_NOARGS | METH_CLASS, "For fast calls."},
    {NULL, NULL, 0, NULL}};

static PyObject *duration_subclass(PyObject *type, PyObject *none)
{
    (void)none;
    return core_own_methods(type, duration_methods);
}

PyTypeObject core_duration_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "mxnet._core.Duration",
    .tp_doc = "A span that is started and stopped any number of times.",
    .tp_basicsize = sizeof(object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = object_new,
    .tp_dealloc = object_dealloc,
    .tp_getset = object_members,
    .tp_methods = duration_methods,
};

// ---- counters ---------------------------------------------------------------------------------
static PyObject *counter_set(PyObject *self, PyObject *value)
{
    PyObject *whole = PyNumber_Long(value);
    if (whole == NULL) {
        return NULL;
    }
    uint64_t number = PyLong_AsUnsignedLongLong(whole);
    Py_DECREF(whole);
    if (number == UINT64_MAX && PyErr_Occurred()) {
        PyErr_Clear();
        return PyErr_Format(PyExc_ValueError, "a counter's value is 0 to 2**64 - 1, not %S", value);
    }
    core_thread_seen();
    return core_answer(core_mx.MXProfileSetCounter(((object *)self)->handle, number));
}

static PyObject *adjust(PyObject *self, PyObject *delta, int sign)
{
    PyObject *whole = PyNumber_Long(delta);
    if (whole != NULL && sign < 0) {
        Py_SETREF(whole, PyNumber_Negative(whole));
    }
    if (whole == NULL) {
        return NULL;
    }
    int64_t number = PyLong_AsLongLong(whole);
    Py_DECREF(whole);
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return PyErr_Format(PyExc_ValueError,
                            "a counter is changed by -2**63 to 2**63 - 1 at a time, not by %S",
                            delta);
    }
    core_thread_seen();
    return core_answer(core_mx.MXProfileAdjustCounter(((object *)self)->handle, number));
}

static PyObject *adjust_by(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                           PyObject *keywords, int sign)
{
    Py_ssize_t named = keywords != NULL ? PyTuple_GET_SIZE(keywords) : 0;
    if (count + named > 1 || (named == 1 && PyUnicode_CompareWithASCIIString(
                                                PyTuple_GET_ITEM(keywords, 0), "delta") != 0)) {
        PyErr_SetString(PyExc_TypeError, "a counter is changed by one number, delta");
        return NULL;
    }
    PyObject *delta = count + named == 1 ? Py_NewRef(arguments[0]) : PyLong_FromLong(1);
    PyObject *result = delta != NULL ? adjust(self, delta, sign) : NULL;
    Py_XDECREF(delta);
    return result;
}

static PyObject *counter_increment(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                   PyObject *keywords)
{
    return adjust_by(self, arguments, count, keywords, 1);
}

static PyObject *counter_decrement(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
                                   PyObject *keywords)
{
    return adjust_by(self, arguments, count, keywords, -1);
}

static PyObject *into_self(PyObject *self, PyObject *answer)
{
    if (answer == NULL) {
        return NULL;
    }
    Py_DECREF(answer);
    return Py_NewRef(self);
}

static PyObject *counter_add(PyObject *self, PyObject *delta)
{
    return into_self(self, adjust(self, delta, 1));
}

static PyObject *counter_subtract(PyObject *self, PyObject *delta)
{
    return into_self(self, adjust(self, delta, -1));
}

static PyNumberMethods counter_numbers = {
    .nb_inplace_add = counter_add,
    .nb_inplace_subtract = counter_subtract,
};

static PyMethodDef counter_methods[] = {
    {"set_value", counter_set, METH_O, "set_value(value)\n--\n\nSets the counter, 0 to 2**64 - 1."},
    {"increment", (PyCFunction)(void (*)(void))counter_increment, METH_FASTCALL | METH_KEYWORDS,
     "increment(delta=1)\n--\n\nAdds to the counter."},
    {"decrement", (PyCFunction)(void (*)(void))counter_decrement, METH_FASTCALL | METH_KEYWORDS,
     "decrement(delta=1)\n--\n\nSubtracts from the counter; it stops at 0, with MXNetError."},
    {NULL, NULL, 0, NULL}};

PyTypeObject core_counter_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "mxnet._core.Counter",
    .tp_doc = "A value that is recorded whenever it changes.",
    .tp_basicsize = sizeof(object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = object_new,
    .tp_dealloc = object_dealloc,
    .tp_getset = object_members,
    .tp_methods = counter_methods,
    .tp_as_number = &counter_numbers,
};
