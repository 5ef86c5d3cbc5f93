// SPDX-License-Identifier: Apache-2.0
// What `mxprof diff` says of two traces, for who knows nothing of comparisons.
#ifndef MXP_TOOLS_DIFF_DOCUMENT_H
#define MXP_TOOLS_DIFF_DOCUMENT_H

#include "command.h"

// Appends what `mxprof diff --json BEFORE -- AFTER` prints. 0, or an error with its line printed.
int mxp__diff_document(const mxp_command *command, const char *before, const char *after,
                       mxp_strbuf *out);

#endif
