// SPDX-License-Identifier: Apache-2.0
// Settings: libmxprof reads its environment variables through these functions. A program with more
// rights than the user who started it (set-user-id, file capabilities) counts as having no
// variables, because they would let that user choose which files it writes.
#ifndef MXP_BASE_SETTING_H
#define MXP_BASE_SETTING_H

#include <stdbool.h>
#include <stdint.h>

// Whether the variables of this program are not trusted.
bool mxp__setting_is_distrusted(void);
// The variable's value; null if it is not set, empty, or not trusted.
const char *mxp__setting_text(const char *variable);
// Reads a number from `min` to `max`. *value is `fallback` if mxp__setting_text gives null, and
// after an error. MXP_EVALUE: no such number; the line names the variable, its value and the valid
// range.
int mxp__setting_read(const char *variable, uint64_t fallback, uint64_t min, uint64_t max,
                      uint64_t *value);

#endif
