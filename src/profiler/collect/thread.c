// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/thread.h"

#include <mxprof/record.h>
#include <pthread.h>

#include "base/atomic.h"
#include "base/os/os.h"

typedef void (*flush_function)(mxp_collect_thread *thread);

__thread mxp_collect_thread *mxp__collect_own;
static MXP_ATOMIC(flush_function) at_end;
static pthread_key_t end_key;
static bool has_end_key;

static void flush(mxp_collect_thread *thread)
{
    const flush_function function = mxp_atomic_load(&at_end);
    if (function != NULL) {
        function(thread);
    }
}

static void end_thread(void *thread)
{
    flush(thread);
    mxp__collect_own = NULL;
    mxp__os_unmap_pages(thread, sizeof(mxp_collect_thread));
}

static void in_child(void)
{
    if (mxp__collect_own != NULL) {
        mxp__collect_own->depth |= MXP__COLLECT_FORKED;
    }
}

// As soon as the library is there: threads end what they have of older keys first, and the recorder
// makes its own with the first record.
__attribute__((constructor)) static void make_end_key(void)
{
    has_end_key = pthread_key_create(&end_key, end_thread) == 0;
    pthread_atfork(NULL, NULL, in_child);
}

__attribute__((destructor)) static void end_process(void)
{
    if (mxp__collect_own != NULL) {
        flush(mxp__collect_own);
    }
}

mxp_collect_thread *mxp__collect_thread_make(void)
{
    mxp_collect_thread *made = mxp__os_map_pages(sizeof *made);
    mxp__collect_own = made;  // first: what follows may call malloc, and malloc us
    if (made != NULL && has_end_key) {
        pthread_setspecific(end_key, made);
    }
    return made;
}

void mxp__collect_at_end(flush_function function)
{
    mxp_atomic_store(&at_end, function);
}

mxp_arg mxp__collect_kept(const mxp_arg *arg)
{
    enum { KEPT_BYTES = 256 };
    if ((arg->type & 0xff) != MXP_ARG_TEXT) {
        return *arg;
    }
    const size_t length = arg->value.text != NULL ? arg->type >> 8 : 0;
    return mxp_name_arg(arg->key, mxp_intern_in(MXP_NAME_NONE, arg->value.text,
                                                length < KEPT_BYTES ? length : KEPT_BYTES,
                                                MXP_STYLE_NONE, MXP_UNIT_NONE));
}
