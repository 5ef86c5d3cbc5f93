// SPDX-License-Identifier: Apache-2.0
#include "operator.h"

#include <stddef.h>

#include "array.h"
#include "text.h"
#include "thread.h"

// ---- lists of handles -------------------------------------------------------------------------
// Short ones need no memory from the heap.
typedef struct handle_list {
    NDArrayHandle few[CORE_LISTED_MAX];
    NDArrayHandle *at;
    Py_ssize_t count;
} handle_list;

static int list_begin(handle_list *list, Py_ssize_t capacity)
{
    list->count = 0;
    list->at = capacity <= CORE_LISTED_MAX ? list->few : PyMem_New(NDArrayHandle, capacity);
    if (list->at == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static void list_end(handle_list *list)
{
    if (list->at != list->few) {
        PyMem_Free(list->at);
    }
}

// Appends the handles of `arrays` (a tuple or list); None is passed over.
static int list_arrays(handle_list *list, const char *what, PyObject *arrays)
{
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(arrays); i++) {
        PyObject *array = PySequence_Fast_GET_ITEM(arrays, i);
        if (array == Py_None) {
            continue;
        }
        if (!core_is_array(array)) {
            PyErr_Format(PyExc_TypeError, "%s: item %zd must be an array, not %s", what, i,
                         Py_TYPE(array)->tp_name);
            return -1;
        }
        list->at[list->count++] = ((core_array *)array)->handle;
    }
    return 0;
}

// ---- running ----------------------------------------------------------------------------------
static void free_handles(const NDArrayHandle *handles, int count)
{
    for (int i = 0; i < count; i++) {
        core_handle_free(handles[i]);
    }
}

// The list of outputs is the library's and lives until this thread's next call, which the collector
// may bring about while arrays are made: it is copied first.
static PyObject *results(PyTypeObject *type, NDArrayHandle *outputs, int count)
{
    if (count == 1) {
        return core_array_make(type, outputs[0]);
    }
    handle_list copy;
    if (list_begin(&copy, count) != 0) {
        free_handles(outputs, count);
        return NULL;
    }
    memcpy(copy.at, outputs, (size_t)count * sizeof(NDArrayHandle));
    PyObject *list = PyList_New(count);
    if (list == NULL) {
        free_handles(copy.at, count);
    }
    for (int i = 0; i < count && list != NULL; i++) {
        PyObject *array = core_array_make(type, copy.at[i]);
        if (array == NULL) {
            Py_CLEAR(list);
            free_handles(copy.at + i + 1, count - i - 1);  // that of `array` is gone
        } else {
            PyList_SET_ITEM(list, i, array);
        }
    }
    list_end(&copy);
    return list;
}

static int run(core_prepared *prepared, NDArrayHandle *inputs, int *count, NDArrayHandle **outputs)
{
    int status;
    core_thread_seen();
    Py_BEGIN_ALLOW_THREADS;
    status = core_mx.MXPreparedInvoke(prepared->handle, inputs, count, outputs);
    Py_END_ALLOW_THREADS;
    if (status != 0) {
        core_raise();
    }
    return status;
}

static PyObject *invoke_into(core_prepared *prepared, NDArrayHandle *inputs, PyObject *out)
{
    handle_list given;
    int one = core_is_array(out);
    if (!one && !PyList_Check(out) && !PyTuple_Check(out)) {
        return PyErr_Format(PyExc_TypeError, "out must be an array or a list of arrays, not %s",
                            Py_TYPE(out)->tp_name);
    }
    // Another thread may change a list while this one has let go of the interpreter's lock.
    PyObject *arrays = one ? Py_NewRef(out) : PySequence_Tuple(out);
    if (arrays == NULL || list_begin(&given, one ? 1 : PyTuple_GET_SIZE(arrays)) != 0) {
        Py_XDECREF(arrays);
        return NULL;
    }
    int status = 0;
    if (one) {
        given.at[given.count++] = ((core_array *)out)->handle;
    } else {
        status = list_arrays(&given, "out", arrays);
    }
    if (status == 0) {
        int count = (int)given.count;
        NDArrayHandle *outputs = given.at;
        status = run(prepared, inputs, &count, &outputs);
    }
    list_end(&given);
    Py_DECREF(arrays);
    return status == 0 ? Py_NewRef(out) : NULL;
}

PyObject *core_invoke(core_prepared *prepared, PyTypeObject *type, NDArrayHandle *inputs,
                      PyObject *out)
{
    if (out != NULL && out != Py_None) {
        return invoke_into(prepared, inputs, out);
    }
    NDArrayHandle *outputs = NULL;
    int count = 0;
    return run(prepared, inputs, &count, &outputs) == 0 ? results(type, outputs, count) : NULL;
}

// ---- calls from Python ------------------------------------------------------------------------
static PyObject *texts_of(const core_operator *op, PyObject *values, Py_ssize_t inputs)
{
    if (PyTuple_GET_SIZE(values) != PyTuple_GET_SIZE(op->keys)) {
        return PyErr_Format(PyExc_TypeError, "%U: %zd parameters expected, %zd given", op->name,
                            PyTuple_GET_SIZE(op->keys), PyTuple_GET_SIZE(values));
    }
    PyObject *texts = core_texts_empty(op, inputs);
    for (Py_ssize_t i = 0; texts != NULL && i < PyTuple_GET_SIZE(values); i++) {
        PyObject *text = core_value_text(PyTuple_GET_ITEM(values, i));
        if (text == NULL) {
            Py_CLEAR(texts);
        } else {
            Py_SETREF(PyTuple_GET_ITEM(texts, i), text);
        }
    }
    return texts;
}

// What makes arrays of inputs that are none: called with the type and the tuple, it gives another
// tuple, or None if it cannot. Null: not set yet.
static PyObject *conversion;

PyObject *core_set_conversion(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(conversion, Py_NewRef(function));
    Py_RETURN_NONE;
}

// Lists inputs of which list_arrays has refused one, with its error set. The tuple that keeps them
// alive, or null.
static PyObject *list_converted(handle_list *inputs, const char *what, PyTypeObject *type,
                                PyObject *arrays)
{
    PyObject *error, *value, *traceback;
    if (conversion == NULL) {
        return NULL;
    }
    PyErr_Fetch(&error, &value, &traceback);
    PyObject *pair[] = {(PyObject *)type, arrays};
    PyObject *made = PyObject_Vectorcall(conversion, pair, 2, NULL);
    if (made == Py_None) {
        Py_CLEAR(made);
        PyErr_Restore(error, value, traceback);
        return NULL;
    }
    Py_XDECREF(error);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    inputs->count = 0;
    if (made != NULL && list_arrays(inputs, what, made) != 0) {
        Py_CLEAR(made);
    }
    return made;
}

static PyObject *call_listed(core_operator *op, PyTypeObject *type, handle_list *inputs,
                             PyObject *const *arguments)
{
    const char *name = PyUnicode_AsUTF8(op->name);
    PyObject *made = NULL;
    if (list_arrays(inputs, name, arguments[1]) != 0) {
        made = list_converted(inputs, name, type, arguments[1]);
        if (made == NULL) {
            return NULL;
        }
    }
    core_prepared *prepared = core_prepare_texts(op, texts_of(op, arguments[2], inputs->count));
    PyObject *result =
        prepared != NULL ? core_invoke(prepared, type, inputs->at, arguments[3]) : NULL;
    Py_XDECREF((PyObject *)prepared);
    Py_XDECREF(made);
    return result;
}

// operator(type, inputs, values, out)
static PyObject *operator_call(PyObject *self, PyObject *const *arguments, size_t flags,
                               PyObject *keywords)
{
    if (PyVectorcall_NARGS(flags) != 4 || keywords != NULL || !PyType_Check(arguments[0]) ||
        !PyType_IsSubtype((PyTypeObject *)arguments[0], &core_array_type) ||
        !PyTuple_Check(arguments[1]) || !PyTuple_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError,
                        "an operator is called with (array type, inputs, parameters, out)");
        return NULL;
    }
    handle_list inputs;
    if (list_begin(&inputs, PyTuple_GET_SIZE(arguments[1])) != 0) {
        return NULL;
    }
    PyObject *result =
        call_listed((core_operator *)self, (PyTypeObject *)arguments[0], &inputs, arguments);
    list_end(&inputs);
    return result;
}

static PyObject *operator_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"address", "name", "keys", NULL};
    PyObject *address, *name, *keys;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!UO!", names, &PyLong_Type, &address,
                                     &name, &PyTuple_Type, &keys)) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(keys) > CORE_LISTED_MAX) {
        PyErr_Format(PyExc_ValueError, "%U has more than %d parameters", name, CORE_LISTED_MAX);
        return NULL;
    }
    core_operator *op = (core_operator *)type->tp_alloc(type, 0);
    if (op == NULL) {
        return NULL;
    }
    op->call = operator_call;
    op->creator = PyLong_AsVoidPtr(address);
    op->name = Py_NewRef(name);
    op->keys = Py_NewRef(keys);
    op->prepared = PyDict_New();
    if (op->prepared == NULL) {
        Py_CLEAR(op);
    }
    return (PyObject *)op;
}

static void operator_dealloc(PyObject *self)
{
    core_operator *op = (core_operator *)self;
    for (int i = 0; i < CORE_SCALARS; i++) {
        Py_XDECREF((PyObject *)op->scalars[i].prepared);
    }
    Py_XDECREF(op->prepared);
    Py_XDECREF(op->keys);
    Py_XDECREF(op->name);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject core_operator_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "mxnet._core.Operator",
    .tp_doc = "Operator(address, name, keys): an operator of the registry.",
    .tp_basicsize = sizeof(core_operator),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(core_operator, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = operator_new,
    .tp_dealloc = operator_dealloc,
};
