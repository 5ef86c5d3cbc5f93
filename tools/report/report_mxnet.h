// SPDX-License-Identifier: Apache-2.0
// MXNet's table, which `dumps` returns as well.
#ifndef MXP_TOOLS_REPORT_MXNET_H
#define MXP_TOOLS_REPORT_MXNET_H

#include "command.h"

typedef struct mxp_mxnet_options {
    int sort_by;  // MXP_SORT_*
    int group;  // MXP_GROUP_*
    int ascending, json, csv, percentiles, per_process;
} mxp_mxnet_options;

// Appends the table of `input`, which is marked damaged where it is. 0 or an error.
int mxp__report_mxnet(const mxp_command *self, mxp_input *input, const mxp_mxnet_options *options,
                      mxp_strbuf *out);

#endif
