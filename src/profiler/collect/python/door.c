// SPDX-License-Identifier: Apache-2.0
// The way into an interpreter: preloaded, this library is there before it starts, and adds an audit
// hook, which no flag of Python's closes. At the first import, or where the program begins before
// one, the hook runs watch.py and what else is asked for, once, in a name space of its own. Nothing
// of the program's files and paths is touched.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/setting.h"
#include "profiler/collect/marks.h"
#include "profiler/collect/python/python_api.h"
#include "profiler/collect/python/python_functions.h"

// The files of this folder, each terminated.
extern const char mxp__collect_watch[], mxp__collect_torch_marks[], mxp__collect_functions[];

static bool has_functions;  // MXPROF_PYTHON: functions, or c

// An error of ours is not the program's.
static bool run_text(const char *text, python_object *globals)
{
    enum { FILE_INPUT = 257 };  // Py_file_input
    python_object *code = mxp__python.compile(text, "mxprof", FILE_INPUT);
    python_object *result = code != NULL ? mxp__python.eval(code, globals, globals) : NULL;
    if (result == NULL) {
        mxp__python.clear_error();
    } else {
        mxp__python.release(result);
    }
    if (code != NULL) {
        mxp__python.release(code);
    }
    return result != NULL;
}

static void run_functions(python_object *globals)
{
    const char *which = mxp__setting_text("MXPROF_PYTHON");
    if (!mxp__python_functions_offer(globals, strcmp(which, "c") == 0)) {
        mxp__python.clear_error();
    } else if (run_text(mxp__collect_functions, globals)) {
        return;
    }
    fputs("mxprof: Python functions are not recorded: this Python does not take the hook\n",
          stderr);
}

static void run_all(void)
{
    python_object *globals = mxp__python.dict_new();
    if (globals == NULL ||
        mxp__python.dict_set(globals, "__builtins__", mxp__python.builtins()) != 0 ||
        !run_text(mxp__collect_watch, globals)) {
        mxp__python.clear_error();
    } else {
        if (mxp__collect_takes("torch")) {
            run_text(mxp__collect_torch_marks, globals);
        }
        if (has_functions) {
            run_functions(globals);
        }
    }
    if (globals != NULL) {
        mxp__python.release(globals);
    }
}

// With site, the first import comes before the program. Without it, a program that imports only
// what the interpreter has already causes none: its text is executed, its .pyc file run.
static bool is_beginning(const char *event)
{
    static const char *const events[] = {"import", "exec", "cpython.run_file"};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (strcmp(event, events[i]) == 0) {
            return true;
        }
    }
    return false;
}

// The hook stays for the life of the interpreter; once it has begun it costs one compare.
static int hook(const char *event, python_object *arguments, void *data)
{
    static mxp_atomic_bool done;
    (void)arguments, (void)data;
    if (mxp_atomic_load(&done)) {
        if (has_functions && strcmp(event, "sys.setprofile") == 0) {
            mxp__python_functions_replaced();
        }
        return 0;
    }
    if (is_beginning(event) && mxp__python.is_initialized() != 0 &&
        !mxp_atomic_exchange(&done, true)) {
        run_all();
    }
    return 0;
}

static bool is_of_run(void)
{
    uint64_t only;
    mxp__setting_read("MXPROF_RUN_PROCESS", 0, 0, UINT32_MAX, &only);
    return mxp__setting_text("MXPROF_RUN") != NULL && (only == 0 || only == (uint64_t)getpid());
}

static void tell_old(void)
{
    const char *version = mxp__python.version();
    fprintf(stderr,
            "mxprof: Python functions are not recorded: this is Python %.*s, those from 3.8 on are "
            "recorded\n",
            (int)strcspn(version, " "), version);
}

// Only in a run: a collector that is loaded by its variable alone comes after the start anyhow.
__attribute__((constructor)) static void open_door(void)
{
    if (!is_of_run()) {
        return;
    }
    has_functions = mxp__setting_text("MXPROF_PYTHON") != NULL;
    if (!has_functions && !mxp__collect_takes("torch")) {
        return;
    }
    if (mxp__python_find()) {
        mxp__python.add_audit_hook(hook, NULL);
    } else if (has_functions && mxp__python.version != NULL) {
        tell_old();
    }
}
