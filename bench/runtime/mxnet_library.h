// SPDX-License-Identifier: Apache-2.0
// The runtime under measurement: any libmxnet.so, loaded at run time, by the C functions that
// MXNet's 1.x and 2.0 lines share. A call that fails ends the program.
#ifndef BENCH_MXNET_LIBRARY_H
#define BENCH_MXNET_LIBRARY_H

#include <mxnet/c_api.h>

typedef struct bench_mxnet {
    __typeof__(&MXGetLastError) last_error;
    __typeof__(&MXSetProfilerConfig) profiler_config;
    __typeof__(&MXSetProfilerState) profiler_state;
    __typeof__(&MXDumpProfile) profiler_dump;
    __typeof__(&MXNDArrayCreateEx) array_create;
    __typeof__(&MXNDArrayFree) array_free;
    __typeof__(&MXNDArraySyncCopyFromCPU) array_fill;
    __typeof__(&MXNDArraySyncCopyToCPU) array_read;
    __typeof__(&MXNDArrayWaitToRead) array_wait;
    __typeof__(&MXNDArrayWaitAll) wait_all;
    __typeof__(&MXEnginePushSyncND) push;
    __typeof__(&MXSymbolListAtomicSymbolCreators) operators;
    __typeof__(&MXSymbolGetAtomicSymbolName) operator_name;
    __typeof__(&MXImperativeInvokeEx) invoke;
    __typeof__(&MXAutogradSetIsRecording) set_recording;
    __typeof__(&MXAutogradSetIsTraining) set_training;
    __typeof__(&MXAutogradMarkVariables) mark_variables;
    __typeof__(&MXAutogradBackwardEx) backward;
} bench_mxnet;

extern bench_mxnet mxnet;

void bench_mxnet_load(const char *path);

// Ends the program unless `error` is 0, with the library's own reason.
void bench_mxnet_check(int error, const char *what);

// Records made so far, 0 from a library that does not count them.
double bench_mxnet_records(void);

// An operator by its name.
AtomicSymbolCreator bench_mxnet_operator(const char *name);

// An array of float32, its contents undefined.
NDArrayHandle bench_mxnet_array(const uint32_t *shape, uint32_t rank);

// Pushes a function on a processor, as an operation that has a name.
void bench_mxnet_push(EngineSyncFunc function, void *argument, NDArrayHandle *reads, int read_count,
                      NDArrayHandle *writes, int write_count);

#endif
