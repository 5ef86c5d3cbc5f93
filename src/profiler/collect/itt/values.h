// SPDX-License-Identifier: Apache-2.0
// Numbers of the types that metadata and counters have.
#ifndef MXP_COLLECT_ITT_VALUES_H
#define MXP_COLLECT_ITT_VALUES_H

#include <mxprof/args.h>
#include <stdbool.h>
#include <stddef.h>

// The i-th number of `data`, as an argument of `key`. False: the type is unknown.
bool mxp__itt_value(const void *data, size_t i, int type, mxp_name key, mxp_arg *value);

#endif
