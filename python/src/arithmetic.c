// SPDX-License-Identifier: Apache-2.0
#include "arithmetic.h"

#include "array.h"
#include "operator.h"

// What an operator is called in the table of operators; WORD_COUNT is how many there are.
enum {
#define BINARY(word, name, slot) WORD_##word,
#define POWER BINARY
#define COMPARISON BINARY
#include "../mxnet/_operators.def"
    WORD_COUNT
};

enum { OF_ARRAYS, OF_NUMBER, OF_REVERSED, FORMS };
enum { FAMILIES_MAX = 4 };

typedef struct family {
    PyTypeObject *type;
    core_operator *operators[WORD_COUNT][FORMS];  // null: there is none
    PyObject *convert;
    int typed;
} family;

static family families[FAMILIES_MAX];
static int family_count;

static const family *family_of(PyObject *array)
{
    for (int i = 0; i < family_count; i++) {
        if (Py_TYPE(array) == families[i].type) {
            return &families[i];
        }
    }
    for (int i = 0; i < family_count; i++) {
        if (PyObject_TypeCheck(array, families[i].type)) {
            return &families[i];
        }
    }
    return NULL;
}

// ---- running ----------------------------------------------------------------------------------
static PyObject *with_number(const family *kind, int word, int form, PyObject *array,
                             PyObject *number, PyObject *out)
{
    core_operator *op = kind->operators[word][form];
    if (op == NULL) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    core_prepared *prepared = core_prepare_scalar(op, number, kind->typed);
    if (prepared == NULL) {
        return NULL;
    }
    PyObject *result = core_invoke(prepared, kind->type, &((core_array *)array)->handle, out);
    Py_DECREF((PyObject *)prepared);
    return result;
}

static PyObject *with_array(const family *kind, int word, PyObject *left, PyObject *right,
                            PyObject *out)
{
    core_operator *op = kind->operators[word][OF_ARRAYS];
    if (op == NULL) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    core_prepared *prepared = core_prepare_plain(op, 2);
    if (prepared == NULL) {
        return NULL;
    }
    NDArrayHandle inputs[] = {((core_array *)left)->handle, ((core_array *)right)->handle};
    PyObject *result = core_invoke(prepared, kind->type, inputs, out);
    Py_DECREF((PyObject *)prepared);
    return result;
}

// A truth is no number where types are made common: beside truths the result is one.
static int is_number(const family *kind, PyObject *object)
{
    return PyFloat_Check(object) ||
           (PyLong_Check(object) && !(kind->typed && PyBool_Check(object)));
}

// `other` is an array or a number.
static PyObject *apply(const family *kind, int word, PyObject *array, PyObject *other, int reversed,
                       PyObject *out)
{
    if (is_number(kind, other)) {
        return with_number(kind, word, reversed ? OF_REVERSED : OF_NUMBER, array, other, out);
    }
    if (!core_is_array(other)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    return reversed ? with_array(kind, word, other, array, out)
                    : with_array(kind, word, array, other, out);
}

static PyObject *binary(int word, PyObject *left, PyObject *right, PyObject *out)
{
    int reversed = !core_is_array(left);
    PyObject *array = reversed ? right : left, *other = reversed ? left : right;
    const family *kind = core_is_array(array) ? family_of(array) : NULL;
    if (kind == NULL) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (is_number(kind, other) || core_is_array(other)) {
        return apply(kind, word, array, other, reversed, out);
    }
    PyObject *pair[] = {array, other};
    PyObject *converted = PyObject_Vectorcall(kind->convert, pair, 2, NULL);
    if (converted == NULL) {
        return NULL;
    }
    PyObject *result = apply(kind, word, array, converted, reversed, out);
    Py_DECREF(converted);
    return result;
}

// ---- Python's operators -----------------------------------------------------------------------
#define BINARY(word, name, slot)                                  \
    static PyObject *word##_of(PyObject *left, PyObject *right)   \
    {                                                             \
        return binary(WORD_##word, left, right, NULL);            \
    }                                                             \
    static PyObject *word##_into(PyObject *left, PyObject *right) \
    {                                                             \
        return binary(WORD_##word, left, right, left);            \
    }
#define POWER(word, name, slot)                                                     \
    static PyObject *word##_of(PyObject *left, PyObject *right, PyObject *modulo)   \
    {                                                                               \
        if (modulo != Py_None) {                                                    \
            Py_RETURN_NOTIMPLEMENTED;                                               \
        }                                                                           \
        return binary(WORD_##word, left, right, NULL);                              \
    }                                                                               \
    static PyObject *word##_into(PyObject *left, PyObject *right, PyObject *modulo) \
    {                                                                               \
        (void)modulo;                                                               \
        return binary(WORD_##word, left, right, left);                              \
    }
#define COMPARISON(word, name, comparison)
#include "../mxnet/_operators.def"

PyNumberMethods core_arithmetic = {
#define BINARY(word, name, slot) .nb_##slot = word##_of, .nb_inplace_##slot = word##_into,
#define POWER BINARY
#define COMPARISON(word, name, comparison)
#include "../mxnet/_operators.def"
};

PyObject *core_compare(PyObject *left, PyObject *right, int comparison)
{
    static const int words[] = {
#define BINARY(word, name, slot)
#define POWER BINARY
#define COMPARISON(word, name, comparison) [Py_##comparison] = WORD_##word,
#include "../mxnet/_operators.def"
    };
    return binary(words[comparison], left, right, NULL);
}

// ---- the table --------------------------------------------------------------------------------
static int set_form(family *kind, int word, int form, PyObject *given)
{
    if (given != Py_None && Py_TYPE(given) != &core_operator_type) {
        PyErr_SetString(PyExc_TypeError, "the table of arithmetic holds operators or None");
        return -1;
    }
    kind->operators[word][form] = given == Py_None ? NULL : (core_operator *)Py_NewRef(given);
    return 0;
}

static int set_words(family *kind, PyObject *table)
{
    static const char *const words[] = {
#define BINARY(word, name, slot) #word,
#define POWER BINARY
#define COMPARISON BINARY
#include "../mxnet/_operators.def"
    };
    for (int word = 0; word < WORD_COUNT; word++) {
        PyObject *forms = PyDict_GetItemString(table, words[word]);
        if (forms == NULL) {
            continue;
        }
        if (!PyTuple_Check(forms) || PyTuple_GET_SIZE(forms) != FORMS) {
            PyErr_SetString(PyExc_TypeError, "the table of arithmetic holds triples");
            return -1;
        }
        for (int form = 0; form < FORMS; form++) {
            if (set_form(kind, word, form, PyTuple_GET_ITEM(forms, form)) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

PyObject *core_set_arithmetic(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 4 || !PyType_Check(arguments[0]) ||
        !PyType_IsSubtype((PyTypeObject *)arguments[0], &core_array_type) ||
        !PyDict_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "set_arithmetic(array type, dict, typed, convert)");
        return NULL;
    }
    if (family_count == FAMILIES_MAX) {
        PyErr_SetString(PyExc_ValueError, "there are too many types of arrays");
        return NULL;
    }
    family *kind = &families[family_count];
    if (set_words(kind, arguments[1]) != 0) {
        return NULL;
    }
    kind->type = (PyTypeObject *)Py_NewRef(arguments[0]);
    kind->typed = PyObject_IsTrue(arguments[2]);
    kind->convert = Py_NewRef(arguments[3]);
    family_count++;
    Py_RETURN_NONE;
}
