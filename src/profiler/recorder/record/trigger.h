// SPDX-License-Identifier: Apache-2.0
// What asks for a snapshot on its own: a signal, a step that took too long, a counter that passed a
// threshold. Asking is a store and async-signal-safe; somebody else looks from time to time.
#ifndef MXP_PROF_TRIGGER_H
#define MXP_PROF_TRIGGER_H

#include <mxprof/record.h>
#include <stdbool.h>
#include <stdint.h>

enum { MXP__TRIGGER_NONE = 0, MXP__TRIGGER_SIGNAL, MXP__TRIGGER_STEP, MXP__TRIGGER_COUNTER };

typedef struct mxp_triggers {
    double step_factor;  // a step slower than this many times the running median; 0: off
    mxp_name counter;  // 0: off
    double counter_above;  // when its value rises above this
} mxp_triggers;

// Under the session's lock.
void mxp__triggers_set(const mxp_triggers *triggers);
bool mxp__triggers_armed(void);

void mxp__trigger_ask(int reason);
int mxp__trigger_take(void);  // what was asked for since the last call: MXP__TRIGGER_*

// Where steps and counters are recorded. A step lasts up to its own end, or to the next one; one in
// which recording goes off has no duration.
void mxp__trigger_step(uint64_t now);
void mxp__trigger_step_end(uint64_t now);
void mxp__trigger_step_forget(void);
void mxp__trigger_counter(mxp_name name, double value);

#endif
