// SPDX-License-Identifier: Apache-2.0
// Workspaces. Each thread has a few for each device it asks for, given out in turn, so that
// operations pushed one after the other need not wait for each other's workspace. They go with the
// thread; what its last operations still use is theirs until they have ended.
#include <assert.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/setting.h"
#include "base/thread_slot.h"
#include "runtime/tensor/array_state.h"
#include "runtime/tensor/resource.h"
#include "runtime/tensor/resource_state.h"

enum {
    COPIES_MAX = 64,
    LARGE_BYTES = 1 << 24,  // below, memory is kept
    SMALL_PART = 8,  // of the memory: what asks for less is small
    SMALL_REQUESTS = 1000  // in a row, until the memory goes: more than most training steps make
};

struct mxn_workspace {
    mxn_var *var;
    // Touched by operations on `var` only: the memory, and how many requests in a row were small
    // beside it.
    mxn_allocation *block;
    uint32_t small_requests;
    mxn_context context;
};

// One thread's workspaces on one device.
typedef struct workspace_set {
    struct workspace_set *next;
    mxn_context context;
    uint32_t turn, count;
    mxn_workspace *workspaces[COPIES_MAX];
} workspace_set;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static mxp_name resource_scope;
static _Thread_local workspace_set *sets;

// ---- life -------------------------------------------------------------------------------------
static void end_workspace(void *argument)
{
    mxn_workspace *workspace = argument;
    mxn_storage_free(workspace->block);
    mxp__free(workspace, sizeof *workspace);
}

static void end_thread(void *argument)
{
    workspace_set *set = argument;
    sets = NULL;
    while (set != NULL) {
        workspace_set *next = set->next;
        for (uint32_t i = 0; i < set->count; i++) {
            mxn_workspace *workspace = set->workspaces[i];
            if (workspace != NULL) {
                mxn_var_delete(workspace->var, end_workspace, workspace,
                               mxn_context_engine_device(workspace->context));
            }
        }
        mxp__free(set, sizeof *set);
        set = next;
    }
}

static mxp_thread_slot slot = MXP__THREAD_SLOT_INIT(end_thread);

static void prepare(void)
{
    resource_scope = mxp_intern("", "resource:", MXP_STYLE_SCOPE, MXP_UNIT_NONE);
}

static int add_set(mxn_context context, workspace_set **set)
{
    uint64_t copies;
    int error = mxn_context_check(context);
    if (error == MXP_OK) {
        error = mxp__setting_read("MXNET_CPU_TEMP_COPY", 4, 1, COPIES_MAX, &copies);
    }
    if (error != MXP_OK) {
        return error;
    }
    pthread_once(&once, prepare);
    workspace_set *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("workspace");
    }
    made->context = context;
    made->count = (uint32_t)copies;
    made->next = sets;
    sets = made;
    (void)mxp__thread_slot_keep(&slot, made);  // else they stay after the thread
    *set = made;
    return MXP_OK;
}

static int add_workspace(workspace_set *set, mxn_workspace **workspace)
{
    mxn_workspace *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("workspace");
    }
    made->context = set->context;
    made->var = mxn_var_new_resource();
    if (made->var == NULL) {
        mxp__free(made, sizeof *made);
        return MXP_ENOMEM;
    }
    *workspace = made;
    return MXP_OK;
}

int mxn_workspace_get(mxn_context context, mxn_workspace **workspace)
{
    int error = mxn__resources_start();
    workspace_set *set = sets;
    while (set != NULL && !mxn_context_equal(set->context, context)) {
        set = set->next;
    }
    if (error == MXP_OK && set == NULL) {
        error = add_set(context, &set);
    }
    if (error != MXP_OK) {
        return error;
    }
    mxn_workspace **at = &set->workspaces[set->turn];
    if (*at == NULL) {
        error = add_workspace(set, at);
    }
    if (error == MXP_OK) {
        set->turn = (set->turn + 1) % set->count;
        *workspace = *at;
    }
    return error;
}

mxn_var *mxn_workspace_var(const mxn_workspace *workspace)
{
    return workspace->var;
}

// Whether much more is kept than has been asked for in a long time.
static bool outgrown(mxn_workspace *workspace, uint64_t bytes)
{
    uint64_t kept = workspace->block->rounded_bytes;
    bool small = kept >= LARGE_BYTES && bytes < kept / SMALL_PART;
    workspace->small_requests = small ? workspace->small_requests + 1 : 0;
    return workspace->small_requests >= SMALL_REQUESTS;
}

int mxn_workspace_take(mxn_workspace *workspace, uint64_t bytes, mxp_name name, void **data)
{
    assert(mxn_var_is_ours(workspace->var, true) &&
           "workspace is taken by who does not write its variable");
    *data = NULL;
    if (bytes == 0) {
        return MXP_OK;
    }
    if (workspace->block == NULL || workspace->block->rounded_bytes < bytes ||
        outgrown(workspace, bytes)) {
        workspace->small_requests = 0;
        mxn_storage_free_direct(workspace->block);
        workspace->block = NULL;
        mxn_tag tag = {name, resource_scope, MXN_MEMORY_WORKSPACE};
        int error = mxn_storage_alloc(mxn__context_storage_device(workspace->context), bytes, &tag,
                                      &workspace->block);
        if (error != MXP_OK) {
            return error;
        }
    }
    *data = workspace->block->data;
    return MXP_OK;
}
