// SPDX-License-Identifier: Apache-2.0
// What the recorder's asserts ask: rules that its headers promise. Builds without asserts have none
// of it.
//
// A file that another program empties takes pages with it at any time: what a thread's page or a
// chunk in such a file says afterwards breaks no rule.
#ifndef MXP_PROF_RULES_H
#define MXP_PROF_RULES_H

#include <assert.h>

#include "profiler/recorder/thread/thread.h"

#ifndef NDEBUG
bool mxp__drain_is_held(void);  // by the calling thread, as in the others
bool mxp__pool_is_ours(void);  // the pool lock is held, or nobody records
bool mxp__nobody_records(void);  // the others are frozen, or there are none
// By its owner: it has entered a record, so that a freeze waits for it.
bool mxp__is_in_record(const mxp_thread *self);
// Each lies in the chunk that it belongs to.
bool mxp__cursor_is_in_chunk(const mxp_thread *thread);
bool mxp__position_is_in_chunk(const mxp_position *position);
#endif

#endif
