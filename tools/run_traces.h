// SPDX-License-Identifier: Apache-2.0
// The traces in a folder by name, so that those of a run can be told from those that were there
// before it.
#ifndef MXP_TOOLS_RUN_TRACES_H
#define MXP_TOOLS_RUN_TRACES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mxp_run_traces {
    char **all;  // by name
    size_t count, capacity;
} mxp_run_traces;

// The traces in the folder that `before`, which may be null, does not have. *traces begins as
// zeros, and mxp__run_traces_fini is due whatever it returns. A folder that cannot be read has
// none. MXP_ENOMEM.
int mxp__run_traces_find(const char *folder, const mxp_run_traces *before, mxp_run_traces *traces);
bool mxp__run_traces_have(const mxp_run_traces *traces, const char *name);
void mxp__run_traces_fini(mxp_run_traces *traces);

#endif
