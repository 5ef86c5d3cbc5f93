// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: arrays by key, summed over devices or processes, with an updater. The rules of
// mxnet/c_api.h hold. One thread at a time uses a store.
//
// A store has keys of one kind, which its first call decides: integers, or texts by the functions
// in Ex. `vals` has an array for each of `num` keys. A key that is there several times has several
// values: push adds them up in their order, pull fills each. Everything is checked first: a call
// that fails has changed nothing. All runs through the engine, in the order of the calls.
#ifndef MXNET_C_API_KVSTORE_H_
#define MXNET_C_API_KVSTORE_H_

#include <mxnet/c_types.h>

// ---- life -------------------------------------------------------------------------------------
// `type` is "local..." or "device...", which differ on GPUs alone, or "dist_sync",
// "dist_device_sync" or "dist_async". The first of those joins the processes that this one was
// started with, and waits until all are there; one that is alone is a worker with its server
// inside.
MXNET_DLL int MXKVStoreCreate(const char *type, KVStoreHandle *out);
MXNET_DLL int MXKVStoreFree(KVStoreHandle handle);
MXNET_DLL int MXKVStoreGetType(KVStoreHandle handle, const char **type);  // lives as the store
MXNET_DLL int MXKVStoreGetRank(KVStoreHandle handle, int *ret);  // of this worker
MXNET_DLL int MXKVStoreGetGroupSize(KVStoreHandle handle, int *ret);  // workers

// ---- values -----------------------------------------------------------------------------------
// Keeps copies. A key that is there is an error.
MXNET_DLL int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int *keys,
                            NDArrayHandle *vals);
MXNET_DLL int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char **keys,
                              NDArrayHandle *vals);
// Without an updater the sum replaces what is stored; a single value is not copied then, and the
// store shares its memory. Values of another shape are an error. Larger priorities run first.
MXNET_DLL int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int *keys,
                            NDArrayHandle *vals, int priority);
MXNET_DLL int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char **keys,
                              NDArrayHandle *vals, int priority);
// Copies, converting to the type of each array. All arrays are dense: `ignore_sparse` changes
// nothing.
MXNET_DLL int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int *keys,
                            NDArrayHandle *vals, int priority);
MXNET_DLL int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char **keys,
                              NDArrayHandle *vals, int priority);
MXNET_DLL int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int *keys,
                                      NDArrayHandle *vals, int priority, bool ignore_sparse);
MXNET_DLL int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                                        NDArrayHandle *vals, int priority, bool ignore_sparse);
// An error: there are no arrays of sparse rows.
MXNET_DLL int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int *keys,
                                     NDArrayHandle *vals, const NDArrayHandle *row_ids,
                                     int priority);
MXNET_DLL int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                                       NDArrayHandle *vals, const NDArrayHandle *row_ids,
                                       int priority);
// A push of `vals`, then a pull to `outs`; an init of `vals`, then a pull to `outs`.
MXNET_DLL int MXKVStorePushPull(KVStoreHandle handle, mx_uint vnum, const int *vkeys, mx_uint onum,
                                const int *okeys, NDArrayHandle *vals, NDArrayHandle *outs,
                                int priority);
MXNET_DLL int MXKVStorePushPullEx(KVStoreHandle handle, mx_uint vnum, const char **vkeys,
                                  mx_uint onum, const char **okeys, NDArrayHandle *vals,
                                  NDArrayHandle *outs, int priority);
MXNET_DLL int MXKVStoreBroadcast(KVStoreHandle handle, mx_uint vnum, const int *vkeys, mx_uint onum,
                                 const int *okeys, NDArrayHandle *vals, NDArrayHandle *outs,
                                 int priority);
MXNET_DLL int MXKVStoreBroadcastEx(KVStoreHandle handle, mx_uint vnum, const char **vkeys,
                                   mx_uint onum, const char **okeys, NDArrayHandle *vals,
                                   NDArrayHandle *outs, int priority);

// ---- updaters ---------------------------------------------------------------------------------
// Called by each push, on its thread: changes `local`, which is what is stored, by `recv`, the sum.
// Both handles are the callback's to free. It must not push to the same store. A text key goes to
// the second kind if there is one, else to the first with a number of its own.
typedef void(MXKVStoreUpdater)(int key, NDArrayHandle recv, NDArrayHandle local, void *handle);
typedef void(MXKVStoreStrUpdater)(const char *key, NDArrayHandle recv, NDArrayHandle local,
                                  void *handle);
// Null: none. Of several processes: an error but inside of a server's controller.
MXNET_DLL int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater,
                                  void *updater_handle);
MXNET_DLL int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater,
                                    MXKVStoreStrUpdater str_updater, void *updater_handle);

// ---- groups of processes ----------------------------------------------------------------------
// An error: gradients are sent as they are.
MXNET_DLL int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params,
                                              const char **keys, const char **vals);
// Waits for the other workers, with what each has pushed. At exit there is always one.
MXNET_DLL int MXKVStoreBarrier(KVStoreHandle handle);
MXNET_DLL int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, const int barrier_before_exit);
// Commands go from worker 0 to all servers, others return at once; what fails there is the caller's
// error. 0: the text of an optimizer, or of a change of it (docs/migration.md). 16, 17: writes the
// optimizer's states to the file that the body names, and reads them. A local store sends nothing.
typedef void(MXKVStoreServerController)(int head, const char *body, void *controller_handle);
MXNET_DLL int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id,
                                             const char *cmd_body);
// In a server: returns when the workers are done. In a worker at once: the server inside it has
// this controller. It gets the texts of optimizers that are not built in, sets an updater for them,
// and says that it failed by mxp_set_last_error. `head`: 0, and the number of the store times
// 65536.
MXNET_DLL int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController controller,
                                 void *controller_handle);
MXNET_DLL int MXKVStoreGetNumDeadNode(KVStoreHandle handle, const int node_id, int *number,
                                      const int timeout_sec);  // 1: the job has failed
// Sets variables of the environment, which the first store over processes reads.
MXNET_DLL int MXInitPSEnv(uint32_t num_vars, const char **keys, const char **vals);

#endif
