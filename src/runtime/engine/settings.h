// SPDX-License-Identifier: Apache-2.0
// What the environment says about the engine.
#ifndef MXN_ENGINE_SETTINGS_H
#define MXN_ENGINE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mxn_engine_settings {
    bool naive;
    uint32_t workers;  // compute and light threads together, at least 1
    uint32_t priority_workers;  // at least 1
    bool info;  // says on stderr what was started
} mxn_engine_settings;

// `child`: of a forked child, which takes MXNET_MP_WORKER_NTHREADS. MXP_EVALUE: names the variable
// and the valid values.
int mxn__engine_settings_read(mxn_engine_settings *settings, bool child);

// Notes them for outputs of the profiler: engine.type, engine.workers, engine.light and
// engine.priority, and the library's version.
void mxn__engine_settings_note(const mxn_engine_settings *settings);

#endif
