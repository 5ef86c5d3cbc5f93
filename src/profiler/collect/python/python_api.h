// SPDX-License-Identifier: Apache-2.0
// Folder profiler/collect/python: what is done inside of Python programs.
//
// Python's C interface, of which the program brings the functions: no header of Python's is needed,
// and one library serves all versions from 3.8 on. Nothing here depends on where members of
// Python's structures are, but for what is checked at the start (python_functions.c).
#ifndef MXP_COLLECT_PYTHON_API_H
#define MXP_COLLECT_PYTHON_API_H

#include <stdbool.h>
#include <stddef.h>

typedef struct python_object python_object;
typedef python_object *(*python_call)(python_object *self, python_object *const *arguments,
                                      ptrdiff_t count);

// As Python's PyMethodDef, which is part of its stable interface.
typedef struct python_method {
    const char *name;
    python_call call;
    int flags;
    const char *text;
} python_method;
enum { PYTHON_METHOD_FAST = 0x80 };

typedef int (*python_profile)(python_object *self, python_object *frame, int what,
                              python_object *argument);

typedef struct mxp_python_api {
    int minor;  // of version 3
    int (*add_audit_hook)(int (*hook)(const char *event, python_object *arguments, void *data),
                          void *data);
    int (*is_initialized)(void);
    const char *(*version)(void);  // null: there is no Python
    python_object *(*dict_new)(void);
    int (*dict_set)(python_object *dict, const char *key, python_object *value);
    python_object *(*builtins)(void);
    python_object *(*compile)(const char *text, const char *name, int start);
    python_object *(*eval)(python_object *code, python_object *globals, python_object *locals);
    void (*retain)(python_object *object);
    void (*release)(python_object *object);
    void (*clear_error)(void);
    python_object *(*attribute)(python_object *object, const char *name);
    const char *(*text)(python_object *string, ptrdiff_t *length);
    long (*number)(python_object *number);
    python_object *(*method_new)(python_method *method, python_object *self, python_object *module);
    void (*set_profile)(python_profile profile, python_object *self);
    python_object *none, *c_function_type, *c_method_type, *descriptor_type;
    python_object *(*code_of)(python_object *frame);  // null in 3.8
} mxp_python_api;

extern mxp_python_api mxp__python;

// False: this process has no Python, or one older than 3.8, whose `version` is there all the same.
bool mxp__python_find(void);

#endif
