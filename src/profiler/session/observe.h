// SPDX-License-Identifier: Apache-2.0
// Private to src/profiler/session: calls the registered observers of dumps.
#ifndef MXP_SESSION_OBSERVE_H
#define MXP_SESSION_OBSERVE_H

#include <mxprof/profiler.h>

void mxp__observers_call(mxp_session *session);  // without the session's lock

#endif
