// SPDX-License-Identifier: Apache-2.0
// Buffers of a thread: made at the thread's first request, freed by a key's destructor.
#include "runtime/capi/thread_buffer.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct buffers {
    void *data[MXN_BUFFER_KINDS];
    size_t size_bytes[MXN_BUFFER_KINDS];
} buffers;

static _Thread_local buffers *of_thread __attribute__((tls_model("initial-exec")));
static pthread_key_t buffers_key;
static int buffers_key_error;
static pthread_once_t buffers_once = PTHREAD_ONCE_INIT;

static void buffers_free(void *pointer)
{
    buffers *all = pointer;
    for (int kind = 0; kind < MXN_BUFFER_KINDS; kind++) {
        mxp__free(all->data[kind], all->size_bytes[kind]);
    }
    mxp__free(all, sizeof(buffers));
    of_thread = NULL;
}

static void buffers_make_key(void)
{
    buffers_key_error = pthread_key_create(&buffers_key, buffers_free);
}

static buffers *buffers_get(void)
{
    if (of_thread != NULL) {
        return of_thread;
    }
    pthread_once(&buffers_once, buffers_make_key);
    buffers *made = mxp__alloc(sizeof(buffers));
    if (made != NULL && (buffers_key_error != 0 || pthread_setspecific(buffers_key, made) != 0)) {
        mxp__free(made, sizeof(buffers));
        made = NULL;
    }
    of_thread = made;
    return made;
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
