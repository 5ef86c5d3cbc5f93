// SPDX-License-Identifier: Apache-2.0
// What forked children have recorded into files of their own, NAME.PID.mxp, taken into the trace
// file of their parent when that is finished.
#ifndef MXP_SESSION_CHILDREN_H
#define MXP_SESSION_CHILDREN_H

#include "profiler/session/session.h"

// Adds to the open trace file what the children's files hold that exist now, each under its own
// process. A file that is damaged, or none of this run, is left out as far as it cannot be read;
// what goes wrong is said on stderr and is no error of the dump. Does nothing in a child.
void mxp__children_add_in_turn(mxp_session *session);

#endif
