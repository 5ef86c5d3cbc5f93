// SPDX-License-Identifier: Apache-2.0
// The environment: the one place where libmxprof reads it. A program that runs with other rights
// than whoever started it (set-user-id, file capabilities) has no variables for us: they would say
// where it writes.
#ifndef MXP_BASE_SETTING_H
#define MXP_BASE_SETTING_H

#include <stdbool.h>
#include <stdint.h>

// Whether this is such a program.
bool mxp__setting_is_distrusted(void);
// What the variable is set to, null if it is not set, empty, or not to be trusted.
const char *mxp__setting_text(const char *variable);
// A number; one that is ill-formed is an error, never a default. *value is `normal` if the variable
// is not set or empty. MXP_EVALUE names the variable, what it is and what is valid.
int mxp__setting_read(const char *variable, uint64_t normal, uint64_t min, uint64_t max,
                      uint64_t *value);

#endif
