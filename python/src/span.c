// SPDX-License-Identifier: Apache-2.0
// A begin leaves a token, which the end on the same thread takes: a stack of them, so that one
// object may be begun again inside of itself and on several threads. The interpreter's lock guards
// it.
#include "span.h"

#include <mxprof/gate.h>

#include "objects.h"
#include "thread.h"

enum { CORE_SPANS_INLINE = 4 };

typedef struct begun {
    const uint32_t *thread;  // the address of its `core_thread_named`
    uint64_t token;
} begun;

typedef struct span {
    PyObject_HEAD mxp_name name;
    unsigned count, capacity;
    begun *stack;  // few, or more of them from the heap
    begun few[CORE_SPANS_INLINE];
} span;

static PyObject *span_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments;
    (void)keywords;
    span *self = (span *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->stack = self->few;
        self->capacity = CORE_SPANS_INLINE;
    }
    return (PyObject *)self;
}

static void span_dealloc(PyObject *object)
{
    span *self = (span *)object;
    if (self->stack != self->few) {
        PyMem_Free(self->stack);
    }
    Py_TYPE(object)->tp_free(object);
}

static __attribute__((noinline)) int grow(span *self)
{
    unsigned capacity = 2 * self->capacity;
    begun *stack = PyMem_New(begun, capacity);
    if (stack == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(stack, self->stack, self->count * sizeof(begun));
    if (self->stack != self->few) {
        PyMem_Free(self->stack);
    }
    self->stack = stack;
    self->capacity = capacity;
    return 0;
}

// Now if recording is on, else 0. Reading the clock waits for all that comes before it; so it
// comes first, and the rest continues beside the interpreter's own work. That halves what a span
// adds to its two calls.
static inline uint64_t clock_read(void)
{
    uint32_t gate = mxp_atomic_load(&core_mx.mxp_control->gate);
    if ((gate & MXP_CLASS_USER) == 0) {
        return 0;
    }
#ifdef MXP_CPU_COUNTER
    if (__builtin_expect((gate & MXP_GATE_LONG_BEGIN) == 0, 1)) {
        return mxp_cpu_counter();
    }
#endif
    return core_mx.mxp_clock_read();
}

static inline int begin(span *self)
{
    uint64_t now = clock_read();
    if (__builtin_expect(self->count == self->capacity, 0) && grow(self) != 0) {
        return -1;
    }
    begun *start = &self->stack[self->count++];
    start->thread = &core_thread_named;
    if (now == 0) {
        start->token = 0;
        return 0;
    }
    core_thread_seen();
    start->token = core_mx.mxp_begin_at(MXP_CLASS_USER, self->name, now);
    return 0;
}

// Without arguments, but of the kind of call that the interpreter makes fastest.
static PyObject *span_start(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)arguments;
    (void)count;
    if (begin((span *)self) != 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

// Other threads have begun it since.
static __attribute__((noinline)) PyObject *stop_below(span *self, uint64_t now)
{
    unsigned at = self->count;
    while (at > 0 && self->stack[at - 1].thread != &core_thread_named) {
        at--;
    }
    if (at == 0) {
        return core_fail("stop of a span without a start on this thread: call start first");
    }
    core_mx.mxp_end_at(self->name, self->stack[at - 1].token, now);
    for (self->count--; at <= self->count; at++) {
        self->stack[at - 1] = self->stack[at];
    }
    Py_RETURN_NONE;
}

static PyObject *span_stop(PyObject *object, PyObject *const *arguments, Py_ssize_t count)
{
    (void)arguments;
    (void)count;
    uint64_t now = clock_read();
    span *self = (span *)object;
    unsigned last = self->count - 1;
    if (__builtin_expect(self->count == 0 || self->stack[last].thread != &core_thread_named, 0)) {
        return stop_below(self, now);
    }
    self->count = last;
    core_mx.mxp_end_at(self->name, self->stack[last].token, now);
    Py_RETURN_NONE;
}

static PyObject *span_enter(PyObject *self, PyObject *none)
{
    (void)none;
    return begin((span *)self) == 0 ? Py_NewRef(self) : NULL;
}

static PyObject *span_identify(PyObject *self, PyObject *arguments)
{
    const char *category, *name;
    if (!PyArg_ParseTuple(arguments, "ss", &category, &name)) {
        return NULL;
    }
    ((span *)self)->name = core_mx.mxp_intern(category, name, MXP_STYLE_SPAN, MXP_UNIT_NONE);
    Py_RETURN_NONE;
}

static PyObject *span_subclass(PyObject *type, PyObject *none);

static PyMethodDef span_methods[] = {
    {"start", (PyCFunction)(void (*)(void))span_start, METH_FASTCALL,
     "start()\n--\n\nBegins the span on this thread."},
    {"stop", (PyCFunction)(void (*)(void))span_stop, METH_FASTCALL,
     "stop()\n--\n\nEnds what this thread began last; MXNetError if there is none."},
    {"__enter__", span_enter, METH_NOARGS, "Begins the span."},
    {"__exit__", (PyCFunction)(void (*)(void))span_stop, METH_FASTCALL, "Ends the span."},
    {"_identify", span_identify, METH_VARARGS,
     "_identify(category, name)\n--\n\nWhat it is called."},
    {"__init_subclass__", span_subclass, METH_NOARGS | METH_CLASS, "For fast calls."},
    {NULL, NULL, 0, NULL}};

static PyObject *span_subclass(PyObject *type, PyObject *none)
{
    (void)none;
    return core_own_methods(type, span_methods);
}

PyTypeObject core_span_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "mxnet._core.Span",
    .tp_doc = "A span of one thread that is begun and ended any number of times.",
    .tp_basicsize = sizeof(span),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = span_new,
    .tp_dealloc = span_dealloc,
    .tp_methods = span_methods,
};
