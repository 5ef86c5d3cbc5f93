// SPDX-License-Identifier: Apache-2.0
// Folder profiler/collect/python: what is done inside of Python programs.
//
// The way into an interpreter: preloaded, this library is there before it starts, and adds an audit
// hook, which no flag of Python's closes. At the first import the hook runs watch.py, once, in a
// name space of its own. Nothing of the program's files and paths is touched.
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/setting.h"
#include "profiler/collect/marks.h"

extern const char mxp__collect_watch[];  // watch.py, terminated

typedef struct python_object python_object;

// Of the stable part of Python's C interface; the program brings it.
static struct {
    int (*add_audit_hook)(int (*hook)(const char *event, python_object *arguments, void *data),
                          void *data);
    int (*is_initialized)(void);
    python_object *(*dict_new)(void);
    int (*dict_set)(python_object *dict, const char *key, python_object *value);
    python_object *(*builtins)(void);
    python_object *(*compile)(const char *text, const char *name, int start);
    python_object *(*eval)(python_object *code, python_object *globals, python_object *locals);
    void (*release)(python_object *object);
    void (*clear_error)(void);
} python;

static bool find(void *slot, const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(slot, &found, sizeof found);
    return found != NULL;
}

static bool find_python(void)
{
    return find(&python.add_audit_hook, "PySys_AddAuditHook") &&
           find(&python.is_initialized, "Py_IsInitialized") &&
           find(&python.dict_new, "PyDict_New") && find(&python.dict_set, "PyDict_SetItemString") &&
           find(&python.builtins, "PyEval_GetBuiltins") &&
           find(&python.compile, "Py_CompileString") && find(&python.eval, "PyEval_EvalCode") &&
           find(&python.release, "Py_DecRef") && find(&python.clear_error, "PyErr_Clear");
}

// An error of the watcher's is not the program's.
static void run_watcher(void)
{
    enum { FILE_INPUT = 257 };  // Py_file_input
    python_object *globals = python.dict_new();
    python_object *code = python.compile(mxp__collect_watch, "mxprof", FILE_INPUT);
    python_object *result = NULL;
    if (globals != NULL && code != NULL &&
        python.dict_set(globals, "__builtins__", python.builtins()) == 0) {
        result = python.eval(code, globals, globals);
    }
    if (result == NULL) {
        python.clear_error();
    }
    python_object *const made[] = {result, code, globals};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        if (made[i] != NULL) {
            python.release(made[i]);
        }
    }
}

// The hook stays for the life of the interpreter; after the first import it costs one compare.
static int hook(const char *event, python_object *arguments, void *data)
{
    static mxp_atomic_bool done;
    (void)arguments, (void)data;
    if (mxp_atomic_load(&done) || strcmp(event, "import") != 0 || python.is_initialized() == 0) {
        return 0;
    }
    if (!mxp_atomic_exchange(&done, true)) {
        run_watcher();
    }
    return 0;
}

static bool is_of_run(void)
{
    uint64_t only;
    mxp__setting_read("MXPROF_RUN_PROCESS", 0, 0, UINT32_MAX, &only);
    return mxp__setting_text("MXPROF_RUN") != NULL && (only == 0 || only == (uint64_t)getpid());
}

// Only in a run: a collector that is loaded by its variable alone comes after the start anyhow.
__attribute__((constructor)) static void open_door(void)
{
    if (is_of_run() && mxp__collect_takes("torch") && find_python()) {
        python.add_audit_hook(hook, NULL);
    }
}
