// SPDX-License-Identifier: Apache-2.0
// Which transport a process has follows from how it was started.
#include "base/setting.h"
#include "runtime/kvstore/transport.h"

// Set by the starters of the implementations for each process.
static bool is_started_by_mpi(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (mxp__setting_text(variables[i]) != NULL) {
            return true;
        }
    }
    return false;
}

int mxn__transport_open(mxn_transport **transport)
{
    if (is_started_by_mpi()) {
        return mxn__transport_open_mpi(transport);
    }
    if (mxp__setting_text("DMLC_ROLE") != NULL) {
        return mxn__transport_open_processes(transport);
    }
    return mxn__transport_open_alone(transport);
}
