// SPDX-License-Identifier: Apache-2.0
// For programs that record what other tools and runtimes tell them: marks with a time of their own,
// on a lane or about another thread, and marks that fit nothing.
#ifndef MXPROF_FOREIGN_H
#define MXPROF_FOREIGN_H

#include <mxprof/format.h>
#include <mxprof/gate.h>
#include <stdint.h>

// One point of a flow. mxp_flow means now and here; this is any moment, on any lane.
typedef struct mxp_flow_point {
    mxp_name name;  // of style MXP_STYLE_FLOW
    uint32_t phase;  // MXP_FLOW_*
    uint64_t id;  // points with one id are one flow
    uint64_t ticks;  // 0: now
    uint32_t lane;  // as in mxp_span: 0 is this thread; MXP_LANE_THREAD | index; or a name
    uint32_t reserved;  // 0
} mxp_flow_point;

#ifdef __cplusplus
extern "C" {
#endif

// Records a point. Any thread, signal handlers too; costs what a short record costs.
void mxp_flow_emit(uint32_t classes, const mxp_flow_point *point);

// Counts marks that cannot be recorded because they fit nothing: an end without a begin, an unknown
// id, nesting that is too deep. Outputs tell them as losses of the calling thread, reason FOREIGN.
// While nothing is recorded, nothing is counted. Any thread, signal handlers too.
void mxp_lose_foreign(uint64_t count);

// Names a thread of this process by the system's number (gettid), whether or not it records yet, in
// every output. Copied. The thread's own mxp_thread_name replaces it, and the other way round.
// MXP_ENOMEM: 256 threads that have not recorded have names already. MXP_EINVAL: tid is 0. Any
// thread, not in signal handlers: it may wait for a dump.
int mxp_thread_name_of(uint32_t tid, const char *name);

// Names the process in outputs, in place of the program's file name. Copied. The last word counts;
// what was written before keeps the name it had: a file of a process that died has one that was
// given before the file began.
void mxp_process_name(const char *name);

// Adds a line to what outputs tell of the run (`mxprof info`): a version, a setting, by which two
// recordings are compared. Key and value are copied; the last value of a key counts, "" takes the
// line away. A file of a process that died has those from before the file began. MXP_EINVAL: null,
// or an empty key. MXP_ESTATE: there are 32 keys already. MXP_ENOMEM. Any thread, not in signal
// handlers: it may wait for a dump.
int mxp_info(const char *key, const char *value);

#ifdef __cplusplus
}
#endif

#endif
