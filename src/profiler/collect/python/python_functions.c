// SPDX-License-Identifier: Apache-2.0
// The one place where members of Python's structures are read: the type of an object, and the
// definition of a function in C. Where they are is checked on a function of our own first.
#include "profiler/collect/python/python_functions.h"

#include <stdio.h>

#include "base/atomic.h"
#include "profiler/collect/python/function_names.h"
#include "profiler/collect/python/function_stack.h"

enum { OBJECT_TYPE = 1, FUNCTION_METHOD = 2 };  // words of an object, where they are looked for

static bool takes_c;  // calls of functions in C
static __thread bool is_hooked, is_setting;

static const void *word_of(const python_object *object, size_t place)
{
    return ((const void *const *)(const void *)object)[place];
}

// ---- before 3.12 -------------------------------------------------------------------------------
enum {
    PROFILE_CALL = 0,
    PROFILE_RETURN = 3,
    PROFILE_C_CALL = 4,
    PROFILE_C_EXCEPTION = 5,
    PROFILE_C_RETURN = 6
};

static python_object *code_of(python_object *frame)
{
    return mxp__python.code_of != NULL ? mxp__python.code_of(frame)
                                       : mxp__python.attribute(frame, "f_code");
}

static void follow_function(python_object *frame, bool enters)
{
    python_object *code = code_of(frame);
    const mxp_name name = code != NULL ? mxp__python_function_name(code) : 0;
    if (name != 0 && enters) {
        mxp__function_enter(code, name);
    } else if (name != 0) {
        mxp__function_leave(code);
    }
    if (code != NULL) {
        mxp__python.release(code);
    } else {
        mxp__python.clear_error();
    }
}

static int profile(python_object *self, python_object *frame, int what, python_object *argument)
{
    (void)self;
    if (what == PROFILE_CALL || what == PROFILE_RETURN) {
        follow_function(frame, what == PROFILE_CALL);
    } else if (takes_c && argument != NULL && what == PROFILE_C_CALL) {
        const void *key = word_of(argument, FUNCTION_METHOD);
        mxp__function_enter(key, mxp__c_function_name(key, argument));
    } else if (takes_c && argument != NULL &&
               (what == PROFILE_C_RETURN || what == PROFILE_C_EXCEPTION)) {
        mxp__function_leave(word_of(argument, FUNCTION_METHOD));
    }
    return 0;
}

static void set_profile(python_profile hook)
{
    is_setting = true;
    mxp__python.set_profile(hook, NULL);
    is_setting = false;
    is_hooked = hook != NULL;
}

static python_object *nothing(void)
{
    mxp__python.retain(mxp__python.none);
    return mxp__python.none;
}

static python_object *begin(python_object *self, python_object *const *arguments, ptrdiff_t count)
{
    (void)self, (void)arguments, (void)count;
    set_profile(profile);
    return nothing();
}

// A hook that the program has set since then stays.
static python_object *end(python_object *self, python_object *const *arguments, ptrdiff_t count)
{
    (void)self, (void)arguments, (void)count;
    mxp__function_leave_all();
    if (is_hooked) {
        set_profile(NULL);
    }
    return nothing();
}

void mxp__python_functions_replaced(void)
{
    static mxp_atomic_bool told;
    if (!is_hooked || is_setting) {
        return;
    }
    is_hooked = false;
    mxp__function_leave_all();
    if (!mxp_atomic_exchange(&told, true)) {
        fputs("mxprof: from here on Python functions of this thread are not recorded: the program "
              "sets a profiler of its own (sys.setprofile, cProfile), and before Python 3.12 a "
              "thread has one only\n",
              stderr);
    }
}

// ---- from 3.12 on ------------------------------------------------------------------------------
// None lives for ever there, so no reference is taken.
static python_object *enter(python_object *self, python_object *const *arguments, ptrdiff_t count)
{
    (void)self, (void)count;
    const mxp_name name = mxp__python_function_name(arguments[0]);
    if (name != 0) {
        mxp__function_enter(arguments[0], name);
    }
    return mxp__python.none;
}

static python_object *leave(python_object *self, python_object *const *arguments, ptrdiff_t count)
{
    (void)self, (void)count;
    if (mxp__python_function_name(arguments[0]) != 0) {
        mxp__function_leave(arguments[0]);
    }
    return mxp__python.none;
}

// What tells a callable in C apart: the definition of a function, or a method of a type itself.
// Null: anything else, which has ends of another kind or none.
static const void *key_of_c(python_object *callable)
{
    const void *type = word_of(callable, OBJECT_TYPE);
    if (type == mxp__python.c_function_type || type == mxp__python.c_method_type) {
        return word_of(callable, FUNCTION_METHOD);
    }
    return type == mxp__python.descriptor_type ? callable : NULL;
}

static python_object *c_enter(python_object *self, python_object *const *arguments, ptrdiff_t count)
{
    enum { CALLABLE = 2 };
    (void)self;
    const void *key = count > CALLABLE ? key_of_c(arguments[CALLABLE]) : NULL;
    if (key != NULL) {
        mxp__function_enter(key, mxp__c_function_name(key, arguments[CALLABLE]));
    }
    return mxp__python.none;
}

static python_object *c_leave(python_object *self, python_object *const *arguments, ptrdiff_t count)
{
    enum { CALLABLE = 2 };
    (void)self;
    const void *key = count > CALLABLE ? key_of_c(arguments[CALLABLE]) : NULL;
    if (key != NULL) {
        mxp__function_leave(key);
    }
    return mxp__python.none;
}

// ---- all ---------------------------------------------------------------------------------------
static python_method methods[] = {
    {"functions_begin", begin, PYTHON_METHOD_FAST, NULL},
    {"functions_end", end, PYTHON_METHOD_FAST, NULL},
    {"functions_enter", enter, PYTHON_METHOD_FAST, NULL},
    {"functions_leave", leave, PYTHON_METHOD_FAST, NULL},
    {"functions_c_enter", c_enter, PYTHON_METHOD_FAST, NULL},
    {"functions_c_leave", c_leave, PYTHON_METHOD_FAST, NULL},
};

static bool is_laid_out_as_known(const python_object *function, const python_method *method)
{
    return word_of(function, OBJECT_TYPE) == mxp__python.c_function_type &&
           word_of(function, FUNCTION_METHOD) == method;
}

bool mxp__python_functions_offer(python_object *globals, bool with_c)
{
    bool fine = true;
    takes_c = with_c;
    for (size_t i = 0; fine && i < sizeof methods / sizeof methods[0]; i++) {
        python_object *function = mxp__python.method_new(&methods[i], NULL, NULL);
        fine = function != NULL && mxp__python.dict_set(globals, methods[i].name, function) == 0;
        if (function != NULL) {
            takes_c = takes_c && is_laid_out_as_known(function, &methods[i]);
            mxp__python.release(function);
        }
    }
    if (with_c && !takes_c) {
        fputs("mxprof: calls of C functions are not recorded: this Python's objects are not as "
              "known\n",
              stderr);
    }
    return fine && mxp__python.dict_set(globals, "functions_with_c",
                                        takes_c ? globals : mxp__python.none) == 0;
}
