// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/comparison/run_settings.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

// How the program was run, in contrast to what was measured of it.
static bool is_setting(const char *key)
{
    static const char *const keys[] = {
        "mxprof_version",     "host",    "system",  "cpu", "command", "process_name", "full_policy",
        "memory_limit_bytes", "kernels", "step_cpu"};
    static const char *const groups[] = {"machine.", "engine.", "library.", "run.", "config."};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strncmp(key, groups[i], strlen(groups[i])) == 0) {
            return true;
        }
    }
    return false;
}

static int keep_text(mxp_compared_run *run, const char *text)
{
    char *copy = mxp__strdup(text);
    if (copy == NULL || mxp__grow(&run->settings, &run->setting_capacity, run->setting_count + 1,
                                  sizeof *run->settings) != MXP_OK) {
        mxp__strfree(copy);
        return mxp__fail_memory("the settings of a run");
    }
    run->settings[run->setting_count++] = copy;
    return MXP_OK;
}

int mxp__run_settings_read(const mxp_source *source, mxp_compared_run *run)
{
    int error = MXP_OK;
    for (size_t i = 0; i < source->info_count && error == MXP_OK; i++) {
        if (is_setting(source->info[i].key)) {
            error = keep_text(run, source->info[i].key);
            error = error == MXP_OK ? keep_text(run, source->info[i].value) : error;
        }
    }
    return error;
}
