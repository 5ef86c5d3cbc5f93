// SPDX-License-Identifier: Apache-2.0
// Snapshots: the newest records, written while recording continues: when the program asks, when a
// signal asks, when a step takes too long, or when a counter passes a threshold.
#ifndef MXP_SESSION_SNAPSHOT_H
#define MXP_SESSION_SNAPSHOT_H

#include "profiler/session/session.h"

// Takes the triggers of the configuration over, or out of force.
int mxp__snapshot_configure_locked(mxp_session *session);
// By the background thread: writes the snapshot that a trigger has asked for, if one has.
void mxp__snapshot_serve_locked(mxp_session *session);
bool mxp__snapshot_wanted(void);
// By the background thread: shows `mxprof snapshot` whether SIGUSR2 is for it now.
void mxp__snapshot_show_locked(const mxp_session *session);

#endif
