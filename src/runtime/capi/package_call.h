// SPDX-License-Identifier: Apache-2.0
// What the Python package asks of the library beyond MXNet's C ABI. No promise is made to anybody
// else: the package and the library it loads are of one version, so these may change with any. The
// rules of mxnet/c_api.h hold. They are exported under MXNET_PACKAGE.
#ifndef MXN_CAPI_PACKAGE_CALL_H
#define MXN_CAPI_PACKAGE_CALL_H

#include <mxnet/c_types.h>

// Waits of the thread with this number (pthread_self) call `wanted` some twenty times a second, and
// fail once it answers other than 0; what they waited for continues. It may run code of the
// program. Null: no wait does.
MXNET_DLL int MXEngineSetInterrupt(int (*wanted)(void), uintptr_t thread);
// Operations that have not begun complete without running from now on, as after MXNotifyShutdown.
MXNET_DLL int MXEngineDropPending(void);
// The program ends with an error: stores over processes do not wait for the other workers, who
// learn that this one has died.
MXNET_DLL int MXKVStoreAbandon(const char *why);
// Every process of the stores over processes writes a snapshot of its profile: to `path` with its
// role and rank before the last part, or null: to its own next name. Returns before they have. -1:
// there are no others.
MXNET_DLL int MXKVStoreSnapshotAll(const char *path, double last_ms);
// Whether the store's servers are processes of their own: 0 also of a store of one process.
MXNET_DLL int MXKVStoreHasServers(KVStoreHandle handle, int *ret);

// MXAutogradMarkVariables of one array, but an array that recorded operators have made stays in
// their graph: backward writes its gradient and continues to what it was made of. Recorded as
// MXAutogradMarkVariables.
MXNET_DLL int MXAutogradAttachGradient(NDArrayHandle handle, mx_uint req, NDArrayHandle gradient);

// What the memory of an array is called in the table of allocations and among the owners, beside
// the scope in which the array was made; "unknown" otherwise. -1 once it has memory, so the array
// is made with `delay_alloc`.
MXNET_DLL int MXNDArrayNameMemory(NDArrayHandle handle, const char *name);

// As MXNDArrayToDLPack and MXNDArrayFromDLPack, with DLPack's versioned struct: the one of a
// "dltensor_versioned" capsule. Read-only memory is refused.
MXNET_DLL int MXNDArrayToDLPackVersioned(NDArrayHandle handle, DLManagedTensorHandle *out_dlpack);
MXNET_DLL int MXNDArrayFromDLPackVersioned(DLManagedTensorHandle dlpack, NDArrayHandle *out_handle);
MXNET_DLL int MXNDArrayCallDLPackDeleterVersioned(DLManagedTensorHandle dlpack);

#endif
