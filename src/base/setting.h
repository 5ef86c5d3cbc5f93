// SPDX-License-Identifier: Apache-2.0
// Numbers from environment variables. One that is ill-formed is an error, never a default.
#ifndef MXP_BASE_SETTING_H
#define MXP_BASE_SETTING_H

#include <stdint.h>

// *value is `normal` if the variable is not set or empty. MXP_EVALUE names the variable, what it is
// and what is valid.
int mxp__setting_read(const char *variable, uint64_t normal, uint64_t min, uint64_t max,
                      uint64_t *value);

#endif
