// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: the library as a whole. The rules of mxnet/c_api.h hold.
#ifndef MXNET_C_API_LIBRARY_H_
#define MXNET_C_API_LIBRARY_H_

#include <mxnet/c_types.h>

// The reason of this thread's last failure, "" if none has failed. Success does not clear it. Valid
// until this thread's next call of it.
MXNET_DLL const char *MXGetLastError(void);

// The version of MXNet's interface that this library serves: 20000.
MXNET_DLL int MXGetVersion(int *out);

struct LibFeature {
    const char *name;
    bool enabled;
};

// A static list.
MXNET_DLL int MXLibInfoFeatures(const struct LibFeature **libFeature, size_t *size);

// A variable of the environment, null if it is not set; the text is the environment's own. Not
// while another thread sets one; most settings are read once, when the library is loaded.
MXNET_DLL int MXGetEnv(const char *name, const char **value);
MXNET_DLL int MXSetEnv(const char *name, const char *value);  // null: it is removed

// Seeds every random generator, of all devices or of one, in order with what was pushed before.
MXNET_DLL int MXRandomSeed(int seed);
MXNET_DLL int MXRandomSeedContext(int seed, int dev_type, int dev_id);

// Finishes what is pending; operations pushed later complete without running, deletions excepted.
MXNET_DLL int MXNotifyShutdown(void);

// How many threads a parallel kernel may use.
MXNET_DLL int MXSetNumOMPThreads(int thread_num);

// How many synchronous operations in a row the engine may join, for the calling thread; 0 is off.
MXNET_DLL int MXEngineSetBulkSize(int bulk_size, int *prev_bulk_size);

MXNET_DLL int MXGetGPUCount(int *out);  // 0
MXNET_DLL int MXGetGPUMemoryInformation64(int dev, uint64_t *free_mem, uint64_t *total_mem);
MXNET_DLL int MXGetGPUMemoryInformation(int dev, int *free_mem, int *total_mem);  // 1.x

// Gives what the device's pool keeps unused back to the system.
MXNET_DLL int MXStorageEmptyCache(int dev_type, int dev_id);

// NumPy's shapes (rank 0 is a scalar, 0 an empty dimension): 0 off, 1 on for the calling thread, 2
// on for all. `prev` may be null.
MXNET_DLL int MXIsNumpyShape(int *curr);
MXNET_DLL int MXSetIsNumpyShape(int is_np_shape, int *prev);
// Whether functions of mx.np make float64 when no type is given.
MXNET_DLL int MXIsNumpyDefaultDtype(bool *curr);
MXNET_DLL int MXSetIsNumpyDefaultDtype(bool dtype_flag, bool *prev);

#endif
