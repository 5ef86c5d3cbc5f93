// SPDX-License-Identifier: Apache-2.0
#include "operator.h"

#include <stddef.h>

#include "array.h"
#include "text.h"

// How many prepared calls an operator keeps; a program that needs more has ever new parameters.
enum { PREPARED_MAX = 1024 };

// ---- prepared calls ---------------------------------------------------------------------------
// Making and freeing one may call back into Python, for a custom operator.
static void free_prepared(MXPreparedHandle handle)
{
    Py_BEGIN_ALLOW_THREADS;
    core_mx.MXPreparedFree(handle);
    Py_END_ALLOW_THREADS;
}

static int create_prepared(const core_operator *op, int inputs, int count, const char **keys,
                           const char **values, MXPreparedHandle *handle)
{
    int status;
    Py_BEGIN_ALLOW_THREADS;
    status = core_mx.MXPreparedCreate(op->creator, inputs, count, keys, values, handle);
    Py_END_ALLOW_THREADS;
    return status;
}

static void prepared_dealloc(PyObject *self)
{
    free_prepared(((core_prepared *)self)->handle);
    PyObject_Free(self);
}

PyTypeObject core_prepared_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "mxnet._core.Prepared",
    .tp_doc = "An operator with its parameters parsed.",
    .tp_basicsize = sizeof(core_prepared),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = prepared_dealloc,
};

// `texts`: of every parameter, None for those left out; the last element is the number of inputs.
static core_prepared *prepare(core_operator *op, PyObject *texts)
{
    const char *keys[CORE_LISTED_MAX], *values[CORE_LISTED_MAX];
    int count = 0;
    Py_ssize_t last = PyTuple_GET_SIZE(texts) - 1;
    for (Py_ssize_t i = 0; i < last; i++) {
        if (PyTuple_GET_ITEM(texts, i) == Py_None) {
            continue;
        }
        keys[count] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(op->keys, i));
        values[count] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(texts, i));
        if (keys[count] == NULL || values[count] == NULL) {
            return NULL;
        }
        count++;
    }
    MXPreparedHandle handle = NULL;
    int inputs = (int)PyLong_AsLong(PyTuple_GET_ITEM(texts, last));
    if (create_prepared(op, inputs, count, keys, values, &handle) != 0) {
        core_raise();
        return NULL;
    }
    core_prepared *prepared = PyObject_New(core_prepared, &core_prepared_type);
    if (prepared == NULL) {
        free_prepared(handle);
        return NULL;
    }
    prepared->handle = handle;
    return prepared;
}

// The prepared call of these texts, made if it is new. A new reference.
static core_prepared *find_prepared(core_operator *op, PyObject *texts)
{
    PyObject *found = PyDict_GetItemWithError(op->prepared, texts);
    if (found != NULL || PyErr_Occurred()) {
        return (core_prepared *)Py_XNewRef(found);
    }
    core_prepared *made = prepare(op, texts);
    if (made == NULL) {
        return NULL;
    }
    if (PyDict_GET_SIZE(op->prepared) >= PREPARED_MAX) {
        PyDict_Clear(op->prepared);
    }
    if (PyDict_SetItem(op->prepared, texts, (PyObject *)made) != 0) {
        Py_CLEAR(made);
    }
    return made;
}

// A key of `prepared` whose parameters are all left out yet.
static PyObject *empty_texts(const core_operator *op, Py_ssize_t inputs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(op->keys);
    PyObject *texts = PyTuple_New(count + 1);
    PyObject *number = PyLong_FromSsize_t(inputs);
    if (texts == NULL || number == NULL) {
        Py_XDECREF(texts);
        Py_XDECREF(number);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyTuple_SET_ITEM(texts, i, Py_NewRef(Py_None));
    }
    PyTuple_SET_ITEM(texts, count, number);
    return texts;
}

static core_prepared *take_prepared(core_operator *op, PyObject *texts)
{
    core_prepared *prepared = texts != NULL ? find_prepared(op, texts) : NULL;
    Py_XDECREF(texts);
    return prepared;
}

core_prepared *core_prepare_plain(core_operator *op, Py_ssize_t inputs)
{
    return take_prepared(op, empty_texts(op, inputs));
}

// ---- numbers ----------------------------------------------------------------------------------
static int set_text(const core_operator *op, PyObject *texts, const char *key, PyObject *text)
{
    for (Py_ssize_t i = 0; text != NULL && i < PyTuple_GET_SIZE(op->keys); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(op->keys, i), key) == 0) {
            Py_DECREF(PyTuple_GET_ITEM(texts, i));
            PyTuple_SET_ITEM(texts, i, text);
            return 0;
        }
    }
    if (text != NULL) {
        Py_DECREF(text);
        PyErr_Format(PyExc_TypeError, "operator %U has no parameter %s", op->name, key);
    }
    return -1;
}

static core_prepared *prepare_number(core_operator *op, PyObject *value, int typed, int is_whole)
{
    PyObject *texts = empty_texts(op, 1);
    if (texts == NULL) {
        return NULL;
    }
    if (set_text(op, texts, "scalar", core_number_text(value)) != 0 ||
        (typed && set_text(op, texts, "is_int", PyUnicode_FromString(is_whole ? "1" : "0")) != 0)) {
        Py_DECREF(texts);
        return NULL;
    }
    return take_prepared(op, texts);
}

core_prepared *core_prepare_scalar(core_operator *op, PyObject *value, int typed)
{
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        return NULL;
    }
    int is_whole = PyLong_Check(value) || !PyFloat_Check(value);
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    // The upper bits of small whole numbers are those that differ.
    core_scalar *slot = &op->scalars[((bits >> 48) ^ (bits >> 56) ^ bits) % CORE_SCALARS];
    if (slot->prepared != NULL && slot->is_whole == is_whole &&
        memcmp(&slot->value, &number, sizeof(number)) == 0) {
        return (core_prepared *)Py_NewRef((PyObject *)slot->prepared);
    }
    core_prepared *prepared = prepare_number(op, value, typed, is_whole);
    if (prepared != NULL) {
        core_prepared *before = slot->prepared;
        *slot = (core_scalar){number, is_whole, (core_prepared *)Py_NewRef((PyObject *)prepared)};
        Py_XDECREF((PyObject *)before);
    }
    return prepared;
}

// ---- lists of handles -------------------------------------------------------------------------
// Short ones need no memory from the heap.
typedef struct handle_list {
    NDArrayHandle few[CORE_LISTED_MAX];
    NDArrayHandle *at;
    Py_ssize_t count;
} handle_list;

static int list_begin(handle_list *list, Py_ssize_t room)
{
    list->count = 0;
    list->at = room <= CORE_LISTED_MAX ? list->few : PyMem_New(NDArrayHandle, room);
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
// The list of outputs is the library's and lives until this thread's next call, which the collector
// may bring about while arrays are made: it is copied first.
static PyObject *results(PyTypeObject *type, NDArrayHandle *outputs, int count)
{
    if (count == 1) {
        return core_array_make(type, outputs[0]);
    }
    handle_list copy;
    if (list_begin(&copy, count) != 0) {
        return NULL;
    }
    memcpy(copy.at, outputs, (size_t)count * sizeof(NDArrayHandle));
    PyObject *list = PyList_New(count);
    for (int i = 0; i < count && list != NULL; i++) {
        PyObject *array = core_array_make(type, copy.at[i]);
        if (array == NULL) {
            Py_CLEAR(list);
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
    if (list_begin(&given, one ? 1 : PySequence_Fast_GET_SIZE(out)) != 0) {
        return NULL;
    }
    int status = 0;
    if (one) {
        given.at[given.count++] = ((core_array *)out)->handle;
    } else {
        status = list_arrays(&given, "out", out);
    }
    if (status == 0) {
        int count = (int)given.count;
        NDArrayHandle *outputs = given.at;
        status = run(prepared, inputs, &count, &outputs);
    }
    list_end(&given);
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
    PyObject *texts = empty_texts(op, inputs);
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

static PyObject *call_listed(core_operator *op, PyTypeObject *type, handle_list *inputs,
                             PyObject *const *arguments)
{
    if (list_arrays(inputs, PyUnicode_AsUTF8(op->name), arguments[1]) != 0) {
        return NULL;
    }
    core_prepared *prepared = take_prepared(op, texts_of(op, arguments[2], inputs->count));
    if (prepared == NULL) {
        return NULL;
    }
    PyObject *result = core_invoke(prepared, type, inputs->at, arguments[3]);
    Py_DECREF((PyObject *)prepared);
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
