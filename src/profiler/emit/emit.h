// SPDX-License-Identifier: Apache-2.0
// Folder profiler/emit: sends what is recorded to other tools as well.
//
// To a collector of Intel's instrumentation calls (VTune), or to a tool of Nvidia's range calls
// (Nsight Systems).
//
// A tool is loaded only if the variable by which every program finds it names it. Without the
// variables nothing is loaded, no tap is set, and recording is as fast as ever.
#ifndef MXP_EMIT_EMIT_H
#define MXP_EMIT_EMIT_H

#include <stdbool.h>

// Decides once in a process, at its first call that succeeds, from `wanted` (MXP_EMIT_*); loads the
// tools. MXP_ENOTSUP: one that is asked for by name cannot be had; the line says which variable
// names it, and why not. Must be called without the session's lock: a tool may call us.
int mxp__send_decide(int wanted);

// The session's state: recording goes on, or ends for now.
void mxp__send_recording(bool on);

#endif
