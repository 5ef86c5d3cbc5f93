// SPDX-License-Identifier: Apache-2.0
// The engine's environment variables. One that is ill-formed is an error, never a default.
#include "runtime/engine/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/setting.h"

enum { WORKERS_MAX = 256 };

static const char *const types[] = {"ThreadedEnginePerDevice",
                                    "ThreadedEnginePerDeviceAsync",
                                    "ThreadedEngine",
                                    "ThreadedEngineAsync",
                                    "NaiveEngine",
                                    NULL};

static int read_type(bool *naive)
{
    const char *text = getenv("MXNET_ENGINE_TYPE");
    *naive = false;
    if (text == NULL || text[0] == '\0') {
        return MXP_OK;
    }
    for (size_t i = 0; types[i] != NULL; i++) {
        if (strcmp(types[i], text) == 0) {
            *naive = strcmp(text, "NaiveEngine") == 0;
            return MXP_OK;
        }
    }
    const char *closest = mxp__closest(text, types);
    return mxp__fail(MXP_EVALUE,
                     "MXNET_ENGINE_TYPE='%.60s' is unknown%s%s: set it to ThreadedEnginePerDevice "
                     "(the default; ThreadedEngine and names ending in Async mean the same) or to "
                     "NaiveEngine",
                     text, closest != NULL ? ", perhaps " : "", closest != NULL ? closest : "");
}

static int read_count(const char *variable, uint32_t normal, uint32_t *count)
{
    const char *text = getenv(variable);
    *count = normal;
    if (text == NULL || text[0] == '\0') {
        return MXP_OK;
    }
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || value < 1 || value > WORKERS_MAX) {
        return mxp__fail(MXP_EVALUE, "%s='%.40s': set it to a number of threads from 1 to %d",
                         variable, text, WORKERS_MAX);
    }
    *count = (uint32_t)value;
    return MXP_OK;
}

int mxn__engine_settings_read(mxn_engine_settings *settings, bool child)
{
    int code = read_type(&settings->naive);
    if (code == MXP_OK) {
        code = read_count(child ? "MXNET_MP_WORKER_NTHREADS" : "MXNET_CPU_WORKER_NTHREADS", 1,
                          &settings->workers);
    }
    if (code == MXP_OK) {
        code = read_count("MXNET_CPU_PRIORITY_NTHREADS", 4, &settings->priority_workers);
    }
    uint64_t info = 0;
    if (code == MXP_OK) {
        code = mxp__setting_read("MXNET_ENGINE_INFO", 0, 0, 1, &info);
    }
    settings->info = info != 0;
    return code;
}
