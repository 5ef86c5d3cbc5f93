// SPDX-License-Identifier: Apache-2.0
// Handles of what programs make beside arrays. A handle is no address but a packed number, so that
// any value a program passes can be looked at safely, freed ones too:
//
//   63        48 47          28 27    24 23                 0
//   | magic 16  | generation 20 | kind 4 | index 24          |
//
// Any thread may call anything here. An object in use must not be freed meanwhile by another
// thread: MXNet says so of all handles.
#ifndef MXN_CAPI_OBJECT_H
#define MXN_CAPI_OBJECT_H

enum {
    MXN_OBJECT_FREE = 0,
    MXN_OBJECT_SYMBOL = 1,
    MXN_OBJECT_CACHED_OP = 2,
    MXN_OBJECT_EXECUTOR = 3,
    MXN_OBJECT_KVSTORE = 4,
    MXN_OBJECT_DATA_ITER = 5,
    MXN_OBJECT_KINDS
};

// The handle of an object, which is the table's from now on. MXP_ENOMEM: it is not.
int mxn__object_new(int kind, void *object, void **handle);
// MXP_EHANDLE: null, freed, of another kind, or none of ours. `what` names it in the error.
int mxn__object_get(int kind, const void *handle, const char *what, void **object);
// The object is the caller's again, the handle is freed.
int mxn__object_take(int kind, void *handle, const char *what, void **object);

#endif
