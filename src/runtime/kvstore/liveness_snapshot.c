// SPDX-License-Identifier: Apache-2.0
// Snapshots of all processes: one that a program asks for, and one that a slow step does. The head
// hears of a slow step from everybody who waited in it, perhaps at once, and makes one of them.
#include <string.h>

#include "base/os/os.h"
#include "runtime/kvstore/liveness_core.h"

enum { SLOW_STEPS_MAX = 100 };

static bool read_body(mxn_live_snapshot_body *snapshot, const char *body, uint32_t body_bytes)
{
    if (body_bytes != sizeof *snapshot) {
        return false;
    }
    memcpy(snapshot, body, sizeof *snapshot);
    snapshot->path[sizeof snapshot->path - 1] = '\0';
    return true;
}

bool mxn__live_lets_through(mxn_liveness *liveness, const char *body, uint32_t body_bytes)
{
    mxn_live_snapshot_body snapshot;
    const uint64_t now_ns = mxp__os_monotonic_ns();
    if (!read_body(&snapshot, body, body_bytes) || liveness->slow_steps >= SLOW_STEPS_MAX ||
        (liveness->slow_steps > 0 &&
         (double)(now_ns - liveness->slow_step_ns) < snapshot.last_ms * 1e6)) {
        return false;
    }
    liveness->slow_step_ns = now_ns;
    liveness->slow_steps++;
    return true;
}

void mxn__live_take_snapshot(mxn_liveness *liveness, int kind, const char *body,
                             uint32_t body_bytes)
{
    const mxn_liveness_setup *setup = &liveness->setup;
    mxn_live_snapshot_body snapshot;
    void (*take)(void *context, const char *path, double last_ms) =
        kind == MXN_LIVE_SLOW_STEP ? setup->slow_step : setup->snapshot;
    if (take != NULL && read_body(&snapshot, body, body_bytes)) {
        take(setup->context, snapshot.path[0] == '\0' ? NULL : snapshot.path, snapshot.last_ms);
    }
}

static bool ask_all(mxn_liveness *liveness, int kind, const char *path, double last_ms)
{
    mxn_live_snapshot_body snapshot = {.last_ms = last_ms};
    const size_t length = path == NULL ? 0 : strlen(path);
    if (length >= sizeof snapshot.path) {
        return false;
    }
    memcpy(snapshot.path, path == NULL ? "" : path, length);
    mxn__live_ask(liveness, kind, &snapshot, sizeof snapshot);
    return true;
}

bool mxn__liveness_snapshot(mxn_liveness *liveness, const char *path, double last_ms)
{
    return ask_all(liveness, MXN_LIVE_SNAPSHOT, path, last_ms);
}

bool mxn__liveness_slow_step(mxn_liveness *liveness, const char *path, double last_ms)
{
    return liveness->process_id == mxp__os_process_id() && !mxn__liveness_has_failed(liveness) &&
           ask_all(liveness, MXN_LIVE_SLOW_STEP, path, last_ms);
}
