// SPDX-License-Identifier: Apache-2.0
#include "text.h"

static PyObject *left_out_type, *text_of_other;

void core_text_bind(PyObject *left_out, PyObject *other)
{
    Py_XSETREF(left_out_type, Py_NewRef(left_out));
    Py_XSETREF(text_of_other, Py_NewRef(other));
}

PyObject *core_number_text(PyObject *value)
{
    if (PyBool_Check(value)) {
        return PyUnicode_FromString(value == Py_True ? "1" : "0");
    }
    if (PyLong_Check(value)) {
        return PyLong_Type.tp_repr(value);
    }
    PyObject *number = PyFloat_CheckExact(value) ? Py_NewRef(value) : PyNumber_Float(value);
    PyObject *text = number != NULL ? PyObject_Repr(number) : NULL;
    Py_XDECREF(number);
    return text;
}

// Shapes: "(5, 5)". Null without an exception: not all of it is whole numbers.
static PyObject *shape_text(PyObject *tuple)
{
    char text[256];
    size_t used = 0;
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    text[used++] = '(';
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        if (!PyLong_CheckExact(item) || used > sizeof(text) - 32) {
            return NULL;
        }
        long long number = PyLong_AsLongLong(item);
        if (number == -1 && PyErr_Occurred()) {
            return NULL;
        }
        used += (size_t)PyOS_snprintf(text + used, sizeof(text) - used, i > 0 ? ", %lld" : "%lld",
                                      number);
    }
    used += (size_t)PyOS_snprintf(text + used, sizeof(text) - used, count == 1 ? ",)" : ")");
    return PyUnicode_FromStringAndSize(text, (Py_ssize_t)used);
}

PyObject *core_value_text(PyObject *value)
{
    if ((PyObject *)Py_TYPE(value) == left_out_type) {
        Py_RETURN_NONE;
    }
    if (PyUnicode_CheckExact(value)) {
        return Py_NewRef(value);
    }
    if (value == Py_None || PyBool_Check(value)) {
        return PyObject_Repr(value);
    }
    if (PyLong_CheckExact(value) || PyFloat_CheckExact(value)) {
        return core_number_text(value);
    }
    PyObject *text = PyTuple_CheckExact(value) ? shape_text(value) : NULL;
    if (text != NULL || PyErr_Occurred()) {
        return text;
    }
    text = PyObject_CallOneArg(text_of_other, value);
    if (text != NULL && !PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "the text of a %s is no str", Py_TYPE(value)->tp_name);
        Py_CLEAR(text);
    }
    return text;
}
