// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: the profiler. The rules of mxnet/c_api.h hold.
#ifndef MXNET_C_API_PROFILE_H_
#define MXNET_C_API_PROFILE_H_

#include <mxnet/c_types.h>

// ---- configuration, state, output -------------------------------------------------------------
// Keys and values as text (docs/configuration.md lists them); keys left out return to their
// defaults. Legal at any time. All pairs are parsed before anything changes.
// `profile_process=server` configures the servers of `kvstoreHandle`.
MXNET_DLL int MXSetProcessProfilerConfig(int num_params, const char *const *keys,
                                         const char *const *vals, KVStoreHandle kvstoreHandle);
MXNET_DLL int MXSetProfilerConfig(int num_params, const char *const *keys, const char *const *vals);

// `state`: 0 stop, 1 run. `profile_process`: 0 this worker, 1 the servers of `kvStoreHandle`.
MXNET_DLL int MXSetProcessProfilerState(int state, int profile_process,
                                        KVStoreHandle kvStoreHandle);
MXNET_DLL int MXSetProfilerState(int state);

// Pauses (non-zero) or resumes recording. Does not nest; resume undoes a pause only, never a stop.
MXNET_DLL int MXProcessProfilePause(int paused, int profile_process, KVStoreHandle kvStoreHandle);
MXNET_DLL int MXProfilePause(int paused);

// Writes out what was recorded. `finished` closes the file; without continuous_dump every dump
// does. Fails if the profiler has not been run since the file was closed, or if writing fails (then
// the records are kept for the next dump).
MXNET_DLL int MXDumpProcessProfile(int finished, int profile_process, KVStoreHandle kvStoreHandle);
MXNET_DLL int MXDumpProfile(int finished);

// Begins a range on the calling thread that Nvidia's tools show in `color` (ARGB), and ends the
// newest one there; whether or not the profiler runs. Without a tool (NVTX_INJECTION64_PATH) an
// error.
MXNET_DLL int MXNVTXRangePush(const char *name, uint32_t color);
MXNET_DLL int MXNVTXRangePop(void);

// cudaProfilerStart and cudaProfilerStop, if the process has them; else an error.
MXNET_DLL int MXCUDAProfilerStart(void);
MXNET_DLL int MXCUDAProfilerStop(void);

// Replaces the calling thread's scope, the name that memory and operators are attributed to.
// "<unk>:" and "" stand for none.
MXNET_DLL int MXSetProfilerScope(const char *scope);

// The aggregate statistics as text, "" if they are off. `format`: 0 table, 1 JSON. `sort_by`: 0
// total, 1 average, 2 minimum, 3 maximum, 4 count. `reset` empties them afterwards. The text lives
// until this thread's next call that returns one.
MXNET_DLL int MXAggregateProfileStatsPrint(const char **out_str, int reset, int format, int sort_by,
                                           int ascending);
MXNET_DLL int MXAggregateProfileStatsPrintEx(const char **out_str, int reset, int format,
                                             int sort_by, int ascending);

// ---- objects ----------------------------------------------------------------------------------
// Domains live until the process exits; domains of one name are one. The others are given back with
// MXProfileDestroyHandle, records made stay. Null, destroyed and wrong-type handles are errors.
MXNET_DLL int MXProfileCreateDomain(const char *domain, ProfileHandle *out);
MXNET_DLL int MXProfileCreateTask(ProfileHandle domain, const char *task_name, ProfileHandle *out);
MXNET_DLL int MXProfileCreateFrame(ProfileHandle domain, const char *frame_name,
                                   ProfileHandle *out);
MXNET_DLL int MXProfileCreateEvent(const char *event_name, ProfileHandle *out);
MXNET_DLL int MXProfileCreateCounter(ProfileHandle domain, const char *counter_name,
                                     ProfileHandle *out);
MXNET_DLL int MXProfileDestroyHandle(ProfileHandle frame_handle);

// Starts are kept per thread and nesting level. A stop without a start fails and records nothing.
MXNET_DLL int MXProfileDurationStart(ProfileHandle duration_handle);
MXNET_DLL int MXProfileDurationStop(ProfileHandle duration_handle);

// Values are 64-bit unsigned. They stop at zero and at the maximum; reaching beyond is an error.
MXNET_DLL int MXProfileSetCounter(ProfileHandle counter_handle, uint64_t value);
MXNET_DLL int MXProfileAdjustCounter(ProfileHandle counter_handle, int64_t value);

// `scope`: "global", "process", "thread", "task" or "marker".
MXNET_DLL int MXProfileSetMarker(ProfileHandle domain, const char *instant_marker_name,
                                 const char *scope);

#endif
