// SPDX-License-Identifier: Apache-2.0
// Small operations for tests of the engine.
#ifndef ENGINE_WORK_H
#define ENGINE_WORK_H

#include "runtime/engine/engine.h"

// ThreadSanitizer cannot start threads in the child of a process that had several.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ENGINE_THREADS_IN_CHILD 0
#endif
#elif defined(__SANITIZE_THREAD__)
#define ENGINE_THREADS_IN_CHILD 0
#endif
#if !defined(ENGINE_THREADS_IN_CHILD)
#define ENGINE_THREADS_IN_CHILD 1
#endif

// Ends the engine and starts it again under this MXNET_ENGINE_TYPE (null: the default).
void engine_use(const char *type);

// An operation that runs until the gate is opened. Close it before pushing, open it before waiting.
typedef struct engine_gate {
    uint32_t open, entered;
} engine_gate;
int engine_gate_function(const mxn_run *run, void *gate);
void engine_gate_open(engine_gate *gate);
void engine_gate_wait_entered(engine_gate *gate);
// Pushes one that writes `var` (may be null).
void engine_gate_push(engine_gate *gate, mxn_var *var);

int engine_do_nothing(const mxn_run *run, void *argument);
int engine_add_one(const mxn_run *run, void *counter);  // *(uint32_t *)counter, relaxed
int engine_fail(const mxn_run *run, void *text);  // MXP_EVALUE with the text

// Pushes function(argument), reading and writing one variable each (null: none). Fails the test on
// an error.
void engine_push(int (*function)(const mxn_run *run, void *argument), void *argument, mxn_var *read,
                 mxn_var *write);
// The same with everything else taken from `work`.
int engine_push_work(mxn_work work, mxn_var *read, mxn_var *write);

#endif
