// SPDX-License-Identifier: Apache-2.0
// All of it under one lock: errors are rare, and operations look here only while one is alive
// (mxn_engine.error_flags). Living errors are in a list in the order they came; at most LISTED_MAX
// of them, so that a program that never waits does not fill the memory. One beyond that still
// reaches who waits for its variables.
#include "runtime/engine/engine_error.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/lock.h"
#include "runtime/engine/idle.h"
#include "runtime/engine/variable.h"

enum { LISTED_MAX = 4096 };

struct mxn_error {
    mxn_error *previous, *next;  // in the list, if listed
    uint64_t generation;  // below the current one: cleared
    uint32_t references;
    uint32_t position;  // once delivered: what is pushed from here on knows nothing of it
    int code;
    bool delivered, listed;
    const char *text;  // after the struct
    size_t bytes;  // of both
};

static mxp_lock lock = MXP__LOCK_INIT;
static mxn_error *first, *last;
static uint32_t listed;
static uint64_t living;  // not delivered
static uint64_t generation;
static mxn_error no_memory = {.references = 1,
                              .code = MXP_ENOMEM,
                              .delivered = true,
                              .text = "an operation failed, and there was "
                                      "no memory to say why"};

static bool is_alive(const mxn_error *error)
{
    return !error->delivered && error->generation == generation;
}

static bool is_inherited(const mxn_error *error, const mxn_operation *op)
{
    return is_alive(error) || (error->delivered && error->generation == generation &&
                               (int32_t)(op->id - error->position) < 0);
}

// A delivered error is looked for until nothing is pending that was pushed before.
static void set_living_locked(uint64_t count)
{
    assert(mxp__lock_is_held(&lock));
    living = count;
    if (count != 0 || mxn__engine_pending() != 0) {
        mxp_atomic_or(&mxn__engine.error_flags, MXN__ERROR_FLAG_LIVING);
    } else {
        mxp_atomic_and(&mxn__engine.error_flags, ~(uint32_t)MXN__ERROR_FLAG_LIVING);
    }
}

static void release_locked(mxn_error *error)
{
    assert(mxp__lock_is_held(&lock));
    assert(error == NULL || error->references > 0);
    if (error != NULL && --error->references == 0) {
        mxp__free(error, error->bytes);
    }
}

static void list_locked(mxn_error *error)
{
    assert(mxp__lock_is_held(&lock));
    if (listed >= LISTED_MAX) {
        return;
    }
    error->previous = last;
    error->next = NULL;
    *(last != NULL ? &last->next : &first) = error;
    last = error;
    listed++;
    error->listed = true;
    error->references++;
}

static void clear_locked(mxn_error *error)
{
    assert(mxp__lock_is_held(&lock));
    error->delivered = true;
    if (!error->listed) {
        return;
    }
    *(error->previous != NULL ? &error->previous->next : &first) = error->next;
    *(error->next != NULL ? &error->next->previous : &last) = error->previous;
    listed--;
    error->listed = false;
    release_locked(error);
}

static mxn_error *make(int code, const char *text)
{
    size_t text_bytes = strlen(text) + 1;
    mxn_error *error = mxp__alloc(sizeof *error + text_bytes);
    if (error != NULL) {
        error->bytes = sizeof *error + text_bytes;
        error->code = code;
        error->text = memcpy(error + 1, text, text_bytes);
    }
    return error;
}

mxn_error *mxn__error_new(int code)
{
    const char *text = mxp_last_error();
    mxn_error *error = make(code, text[0] != '\0' ? text : mxp_strerror(code));
    mxp__lock(&lock);
    if (error == NULL) {
        error = &no_memory;
        error->references++;
        if (is_alive(error)) {
            mxp__unlock(&lock);
            return error;
        }
    } else {
        error->references = 1;
    }
    error->delivered = false;
    error->generation = generation;
    if (!error->listed) {
        list_locked(error);
    }
    set_living_locked(living + 1);
    mxp__unlock(&lock);
    return error;
}

mxn_error *mxn__error_inherited(const mxn_operation *op)
{
    mxn_error *found = NULL;
    mxp__lock(&lock);
    for (uint32_t i = 0; i < op->count; i++) {
        mxn_var *var = mxn__use_var(&op->uses[i]);
        mxn_error *error = var->error;
        if (mxn__use_overwrites(&op->uses[i])) {
            release_locked(error);
            var->error = NULL;
        } else if (error != NULL && found == NULL && is_inherited(error, op)) {
            found = error;
            found->references++;
        }
    }
    mxp__unlock(&lock);
    return found;
}

void mxn__error_spread(mxn_error *error, const mxn_operation *op, bool skipped)
{
    mxp__lock(&lock);
    for (uint32_t i = 0; i < op->count; i++) {
        mxn_var *var = mxn__use_var(&op->uses[i]);
        const bool is_kept = skipped && mxn__use_keeps(&op->uses[i]);
        if (mxn__use_writes(&op->uses[i]) && !var->is_resource && !is_kept) {
            error->references++;
            release_locked(var->error);
            var->error = error;
        }
    }
    mxp__unlock(&lock);
}

void mxn__error_release(mxn_error *error)
{
    if (error != NULL) {
        mxp__lock(&lock);
        release_locked(error);
        mxp__unlock(&lock);
    }
}

// The caller holds a reference or the lock keeps it.
static int deliver_locked(mxn_error *error, uint32_t position)
{
    assert(mxp__lock_is_held(&lock));
    assert(living > 0 && is_alive(error));
    error->position = position;
    error->references++;
    clear_locked(error);
    set_living_locked(living - 1);
    int code = mxp__fail(error->code, "%s", error->text);
    release_locked(error);
    return code;
}

int mxn__error_deliver(mxn_var *var, uint32_t position)
{
    if ((mxp_atomic_load(&mxn__engine.error_flags) & MXN__ERROR_FLAG_LIVING) == 0) {
        return MXP_OK;
    }
    mxp__lock(&lock);
    mxn_error *error = var->error;
    int code = MXP_OK;
    if (error != NULL && is_alive(error)) {
        code = deliver_locked(error, position);
    } else {
        set_living_locked(living);
    }
    mxp__unlock(&lock);
    return code;
}

int mxn__error_deliver_first(void)
{
    if ((mxp_atomic_load(&mxn__engine.error_flags) & MXN__ERROR_FLAG_LIVING) == 0) {
        return MXP_OK;
    }
    mxp__lock(&lock);
    int code = MXP_OK;
    if (first != NULL) {
        code = deliver_locked(first, mxn__push_position());
    } else if (living != 0) {
        code = mxp__fail(MXP_ESTATE, "operations have failed; so many that only waiting for their "
                                     "own variables tells which");
    }
    while (first != NULL) {
        clear_locked(first);
    }
    generation++;
    set_living_locked(0);
    mxp__unlock(&lock);
    return code;
}

int mxn__error_deliver_this(mxn_error *error)
{
    mxp__lock(&lock);
    int code = is_alive(error) ? deliver_locked(error, mxn__push_position())
                               : mxp__fail(error->code, "%s", error->text);
    release_locked(error);
    mxp__unlock(&lock);
    return code;
}

void mxn__error_forget(mxn_var *var)
{
    if (var->error != NULL) {
        mxp__lock(&lock);
        release_locked(var->error);
        var->error = NULL;
        mxp__unlock(&lock);
    }
}

void mxn__errors_fork_prepare(void)
{
    mxp__lock(&lock);
}

void mxn__errors_fork_parent(void)
{
    mxp__unlock(&lock);
}

void mxn__errors_fork_child(bool prepared)
{
    if (prepared) {
        mxp__unlock(&lock);
    } else {
        mxp__lock_reset(&lock);
    }
}
