// SPDX-License-Identifier: Apache-2.0
// Buffers of a thread: made at the thread's first request, freed at its end.
#include "runtime/capi/thread_buffer.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/thread_slot.h"

typedef struct buffers {
    void *data[MXN_BUFFER_KINDS];
    size_t size_bytes[MXN_BUFFER_KINDS];
} buffers;

static _Thread_local buffers *of_thread __attribute__((tls_model("initial-exec")));

static void buffers_free(void *pointer)
{
    buffers *all = pointer;
    for (int kind = 0; kind < MXN_BUFFER_KINDS; kind++) {
        mxp__free(all->data[kind], all->size_bytes[kind]);
    }
    mxp__free(all, sizeof(buffers));
    of_thread = NULL;
}

static mxp_thread_slot slot = MXP__THREAD_SLOT_INIT(buffers_free);

static buffers *buffers_get(void)
{
    if (of_thread == NULL) {
        of_thread = mxp__thread_slot_new(&slot, sizeof(buffers));
    }
    return of_thread;
}

void *mxn__thread_buffer(int kind, size_t bytes)
{
    enum { SMALLEST = 128 };
    buffers *all = buffers_get();
    if (all != NULL && all->size_bytes[kind] >= bytes && all->data[kind] != NULL) {
        return all->data[kind];
    }
    size_t wanted = bytes < SMALLEST ? SMALLEST : bytes;
    void *data = all == NULL ? NULL : mxp__realloc(all->data[kind], all->size_bytes[kind], wanted);
    if (data == NULL) {
        mxp__fail_memory("the result of the call");
        return NULL;
    }
    all->data[kind] = data;
    all->size_bytes[kind] = wanted;
    return data;
}

int mxn__give_storage_types(uint32_t count, const int **out_stypes)
{
    if (out_stypes == NULL) {
        return MXP_OK;
    }
    int *types = mxn__thread_buffer(MXN_BUFFER_STYPES, count * sizeof(int));
    if (types == NULL) {
        return MXP_ENOMEM;
    }
    memset(types, 0, count * sizeof(int));
    *out_stypes = types;
    return MXP_OK;
}
