// SPDX-License-Identifier: Apache-2.0
// Only looks up what threading has: code of Python's that ran here could be interrupted, and the
// interrupt would be lost.
#include "thread.h"

// Names beyond are not handed over: the library keeps each for as long as the process lives.
enum { NAMES_MAX = 4096 };

__thread uint32_t core_thread_named;
uint32_t core_thread_names = 1;

static PyObject *threads, *foreign;  // borrowed for ever: threading's
static PyObject *handed_over;  // set of str

// Of the calling thread, borrowed; null, perhaps with an exception: it has none that a program
// gave.
static PyObject *current_name(PyObject **thread)
{
    PyObject *number = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    PyObject *found = number != NULL ? PyDict_GetItemWithError(threads, number) : NULL;
    Py_XDECREF(number);
    if (found == NULL || (PyObject *)Py_TYPE(found) == foreign) {
        return NULL;
    }
    *thread = Py_NewRef(found);
    PyObject *name = PyObject_GetAttrString(found, "_name");
    if (name != NULL && !PyUnicode_CheckExact(name)) {
        Py_CLEAR(name);
    }
    return name;
}

static int may_be_kept(PyObject *name)
{
    int known = PySet_Contains(handed_over, name);
    if (known == 0 && PySet_GET_SIZE(handed_over) < NAMES_MAX) {
        return PySet_Add(handed_over, name) == 0;
    }
    return known == 1;
}

static void hand_over(PyObject *name)
{
    // The first thread's name is Python's own, the system has that of the program.
    if (PyUnicode_CompareWithASCIIString(name, "MainThread") == 0 || !may_be_kept(name)) {
        return;
    }
    PyObject *text = PyUnicode_AsEncodedString(name, "utf-8", "replace");
    if (text != NULL) {
        core_mx.mxp_thread_name(PyBytes_AS_STRING(text));
        Py_DECREF(text);
    }
}

void core_thread_hand_over(void)
{
    if (threads == NULL || (mxp_atomic_load(&core_mx.mxp_control->gate) & MXP_CLASS_ALL) == 0) {
        return;  // threads that never record cost the library nothing
    }
    core_thread_named = core_thread_names;
    PyObject *type, *value, *traceback, *thread = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *name = current_name(&thread);
    if (name != NULL) {
        hand_over(name);
        Py_DECREF(name);
    }
    Py_XDECREF(thread);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

PyObject *core_thread_bind(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *dict, *type;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyDict_Type, &dict, &PyType_Type, &type)) {
        return NULL;
    }
    if (handed_over == NULL && (handed_over = PySet_New(NULL)) == NULL) {
        return NULL;
    }
    Py_XSETREF(foreign, Py_NewRef(type));
    Py_XSETREF(threads, Py_NewRef(dict));
    Py_RETURN_NONE;
}

PyObject *core_thread_seen_call(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    core_thread_seen();
    Py_RETURN_NONE;
}

PyObject *core_thread_renamed(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    int is_known = core_thread_named != 0;
    core_thread_names++;
    if (is_known) {
        core_thread_seen();
    }
    Py_RETURN_NONE;
}
