// SPDX-License-Identifier: Apache-2.0
#include "operator.h"
#include "text.h"

// How many prepared calls an operator keeps; a program that needs more has ever new parameters.
enum { PREPARED_MAX = 1024 };

// ---- prepared calls ---------------------------------------------------------------------------
// Making and freeing one may call back into Python, for a custom operator.
static void free_prepared(MXPreparedHandle handle)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_BEGIN_ALLOW_THREADS;
    core_mx.MXPreparedFree(handle);
    Py_END_ALLOW_THREADS;
    PyErr_Restore(type, value, traceback);
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
PyObject *core_texts_empty(const core_operator *op, Py_ssize_t inputs)
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

core_prepared *core_prepare_texts(core_operator *op, PyObject *texts)
{
    core_prepared *prepared = texts != NULL ? find_prepared(op, texts) : NULL;
    Py_XDECREF(texts);
    return prepared;
}

core_prepared *core_prepare_plain(core_operator *op, Py_ssize_t inputs)
{
    return core_prepare_texts(op, core_texts_empty(op, inputs));
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
    PyObject *texts = core_texts_empty(op, 1);
    if (texts == NULL) {
        return NULL;
    }
    if (set_text(op, texts, "scalar", core_number_text(value)) != 0 ||
        (typed && set_text(op, texts, "is_int", PyUnicode_FromString(is_whole ? "1" : "0")) != 0)) {
        Py_DECREF(texts);
        return NULL;
    }
    return core_prepare_texts(op, texts);
}

// Ints are compared as ints: two of more than 53 bits may be the same double. Without a place are
// those of more than 64 bits.
static int scalar_bits(PyObject *value, int is_whole, uint64_t *bits)
{
    if (is_whole) {
        int overflow = 0;
        *bits = (uint64_t)PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow == 0 && !PyErr_Occurred();
    }
    double number = PyFloat_AS_DOUBLE(value);
    memcpy(bits, &number, sizeof(*bits));
    return 1;
}

core_prepared *core_prepare_scalar(core_operator *op, PyObject *value, int typed)
{
    int is_whole = PyLong_Check(value);
    uint64_t bits;
    if (!scalar_bits(value, is_whole, &bits)) {
        return PyErr_Occurred() ? NULL : prepare_number(op, value, typed, is_whole);
    }
    // The upper bits of small floats are those that differ.
    core_scalar *slot = &op->scalars[((bits >> 48) ^ (bits >> 56) ^ bits) % CORE_SCALARS];
    if (slot->prepared != NULL && slot->is_whole == is_whole && slot->bits == bits) {
        return (core_prepared *)Py_NewRef((PyObject *)slot->prepared);
    }
    core_prepared *prepared = prepare_number(op, value, typed, is_whole);
    if (prepared != NULL) {
        core_prepared *before = slot->prepared;
        *slot = (core_scalar){bits, is_whole, (core_prepared *)Py_NewRef((PyObject *)prepared)};
        Py_XDECREF((PyObject *)before);
    }
    return prepared;
}
