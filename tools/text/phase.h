// SPDX-License-Identifier: Apache-2.0
// What phases of operators are called.
#ifndef MXP_TOOLS_TEXT_PHASE_H
#define MXP_TOOLS_TEXT_PHASE_H

#include <mxprof/format.h>
#include <stdint.h>

// "none" of MXP_PHASE_NONE, and of what is none.
static inline const char *mxp__phase_word(uint32_t phase)
{
    static const char *const words[] = {[MXP_PHASE_NONE] = "none",
                                        [MXP_PHASE_FORWARD] = "forward",
                                        [MXP_PHASE_BACKWARD] = "backward",
                                        [MXP_PHASE_UPDATE] = "update",
                                        [MXP_PHASE_COMMUNICATION] = "communication"};
    return words[phase < sizeof words / sizeof words[0] ? phase : MXP_PHASE_NONE];
}

// The same, but "" where there is none.
static inline const char *mxp__phase_label(uint32_t phase)
{
    return phase <= MXP_PHASE_COMMUNICATION && phase != MXP_PHASE_NONE ? mxp__phase_word(phase)
                                                                       : "";
}

#endif
