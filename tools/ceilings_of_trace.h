// SPDX-License-Identifier: Apache-2.0
// The ceilings that the commands hold a trace against: those of the machine that it is of.
#ifndef MXP_TOOLS_CEILINGS_OF_TRACE_H
#define MXP_TOOLS_CEILINGS_OF_TRACE_H

#include "ceilings_file.h"

// From `file`, which counts as of the trace's machine unless it says another; null: from the user's
// cache. Returns 1 where there are none, with the reason appended to `why`. MXP_EIO, MXP_EFORMAT:
// they cannot be read; MXP_ENOTSUP: there is no cache; MXP_ENOMEM.
int mxp__ceilings_of_trace(const mxp_source *source, const char *file, mxp_ceilings *ceilings,
                           mxp_strbuf *why);

#endif
