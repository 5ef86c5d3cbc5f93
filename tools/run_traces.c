// SPDX-License-Identifier: Apache-2.0
// Names in a folder. No process writes over a trace that is there, so a new one has a new name.
#include "run_traces.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static int is_trace(const struct dirent *entry)
{
    const char *ending = strrchr(entry->d_name, '.');
    return ending != NULL && ending != entry->d_name && strcmp(ending, ".mxp") == 0;
}

static int add(mxp_run_traces *traces, const char *name)
{
    char *kept = mxp__strdup(name);
    if (kept == NULL ||
        mxp__grow(&traces->all, &traces->capacity, traces->count + 1, sizeof(char *)) != MXP_OK) {
        mxp__strfree(kept);
        return mxp__fail_memory("the names of a run's files");
    }
    traces->all[traces->count++] = kept;
    return MXP_OK;
}

int mxp__run_traces_find(const char *folder, const mxp_run_traces *before, mxp_run_traces *traces)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, is_trace, alphasort);
    int error = MXP_OK;
    for (int i = 0; i < count; i++) {
        if (error == MXP_OK &&
            (before == NULL || !mxp__run_traces_have(before, entries[i]->d_name))) {
            error = add(traces, entries[i]->d_name);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return error;
}

bool mxp__run_traces_have(const mxp_run_traces *traces, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < traces->count && !found; i++) {
        found = strcmp(traces->all[i], name) == 0;
    }
    return found;
}

void mxp__run_traces_fini(mxp_run_traces *traces)
{
    while (traces->count > 0) {
        mxp__strfree(traces->all[--traces->count]);
    }
    mxp__free(traces->all, traces->capacity * sizeof(char *));
    *traces = (mxp_run_traces){0};
}
