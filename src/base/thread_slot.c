// SPDX-License-Identifier: Apache-2.0
// The first thread makes the key. If two do at once, one of the keys is deleted.
#include "base/thread_slot.h"

#include <pthread.h>

#include "base/alloc.h"

static bool key_of(mxp_thread_slot *slot, pthread_key_t *key)
{
    uint32_t known = mxp_atomic_load(&slot->key);
    if (known == 0) {
        pthread_key_t made;
        if (pthread_key_create(&made, slot->end) != 0) {
            return false;
        }
        if (mxp_atomic_cas(&slot->key, &known, made + 1)) {
            known = made + 1;
        } else {
            pthread_key_delete(made);
        }
    }
    *key = known - 1;
    return true;
}

bool mxp__thread_slot_keep(mxp_thread_slot *slot, void *object)
{
    pthread_key_t key;
    return key_of(slot, &key) && pthread_setspecific(key, object) == 0;
}

void *mxp__thread_slot_new(mxp_thread_slot *slot, size_t size_bytes)
{
    void *made = mxp__alloc(size_bytes);
    if (made != NULL && !mxp__thread_slot_keep(slot, made)) {
        mxp__free(made, size_bytes);
        return NULL;
    }
    return made;
}
