// SPDX-License-Identifier: Apache-2.0
// A store's handle, with the program's updater beside it.
#include <mxnet/c_api.h>

#include "base/alloc.h"
#include "runtime/capi/kvstore_handle.h"

struct mxn_kvstore_object {
    mxn_kvstore *store;
    MXKVStoreUpdater *of_number;
    MXKVStoreStrUpdater *of_text;
    void *context;
};

int mxn__kvstore_object_new(const char *type, mxn_kvstore_object **made)
{
    mxn_kvstore_object *object = mxp__alloc(sizeof *object);
    if (object == NULL) {
        return mxp__fail_memory("a key-value store");
    }
    int error = mxn_kvstore_new(type, &object->store);
    if (error != MXP_OK) {
        mxn__kvstore_object_free(object);
        return error;
    }
    *made = object;
    return MXP_OK;
}

void mxn__kvstore_object_free(mxn_kvstore_object *object)
{
    if (object != NULL) {
        mxn_kvstore_free(object->store);
        mxp__free(object, sizeof *object);
    }
}

static int get_object(const void *handle, mxn_kvstore_object **object)
{
    void *found = NULL;
    int error = mxn__object_get(MXN_OBJECT_KVSTORE, handle, "handle", &found);
    *object = found;
    return error;
}

int mxn__kvstore_get(const void *handle, mxn_kvstore **store)
{
    mxn_kvstore_object *object = NULL;
    int error = get_object(handle, &object);
    *store = error == MXP_OK ? object->store : NULL;
    return error;
}

// The program frees both handles.
static void update(const char *text, int number, mxn_array *received, mxn_array *stored,
                   void *context)
{
    const mxn_kvstore_object *object = context;
    mxn_array_retain(received);
    mxn_array_retain(stored);
    if (text != NULL && object->of_text != NULL) {
        object->of_text(text, received, stored, object->context);
    } else {
        object->of_number(number, received, stored, object->context);
    }
}

static int set_updater(KVStoreHandle handle, MXKVStoreUpdater *of_number,
                       MXKVStoreStrUpdater *of_text, void *context)
{
    mxn_kvstore_object *object = NULL;
    int error = get_object(handle, &object);
    if (error == MXP_OK && of_number == NULL && of_text != NULL) {
        error = mxp__fail(MXP_EINVAL, "an updater for texts comes with one for integers");
    }
    if (error == MXP_OK) {
        object->of_number = of_number;
        object->of_text = of_text;
        object->context = context;
        error = mxn_kvstore_set_updater(object->store, of_number != NULL ? update : NULL, object);
    }
    return error;
}

int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater, void *updater_handle)
{
    MXN_API_CALL();
    return mxn__api_end(&call, set_updater(handle, updater, NULL, updater_handle));
}

int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater,
                          MXKVStoreStrUpdater str_updater, void *updater_handle)
{
    MXN_API_CALL();
    return mxn__api_end(&call, set_updater(handle, updater, str_updater, updater_handle));
}
