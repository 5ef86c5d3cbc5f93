// SPDX-License-Identifier: Apache-2.0
// Objects that a thread owns and that are freed when it ends. The thread finds its object through a
// thread-local pointer beside the slot, which costs one read; the slot only calls `end`:
//
//     static _Thread_local cache *mine;
//     static void cache_free(void *cache) { ... mine = NULL; }
//     static mxp_thread_slot slot = MXP__THREAD_SLOT_INIT(cache_free);
//     ...
//     if (mine == NULL) {
//         mine = mxp__thread_slot_new(&slot, sizeof *mine);
//     }
//
// `end` clears the pointer, so that code which runs later in the ending thread does not use the
// freed object. If that code makes a new one, `end` is called again.
#ifndef MXP_BASE_THREAD_SLOT_H
#define MXP_BASE_THREAD_SLOT_H

#include <stddef.h>

#include "base/atomic.h"

typedef struct mxp_thread_slot {
    void (*end)(void *object);  // called by the thread that ends
    mxp_atomic_u32 key;  // the system's, plus 1; 0: none yet
} mxp_thread_slot;

#define MXP__THREAD_SLOT_INIT(function) \
    {                                   \
        .end = (function)               \
    }

// From now on the calling thread's end calls `end` with this object instead of the one before.
// False: the system has no key or no memory, and `end` will not be called.
bool mxp__thread_slot_keep(mxp_thread_slot *slot, void *object);
// A zeroed object that is kept in the slot; `end` must free it with mxp__free. Null without memory
// or a key.
void *mxp__thread_slot_new(mxp_thread_slot *slot, size_t size_bytes);

#endif
