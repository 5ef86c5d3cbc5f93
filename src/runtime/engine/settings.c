// SPDX-License-Identifier: Apache-2.0
// The engine's environment variables. One that is ill-formed is an error, never a default.
#include "runtime/engine/settings.h"

#include <mxprof/foreign.h>
#include <mxprof/version.h>
#include <stdio.h>
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
    const char *text = mxp__setting_text("MXNET_ENGINE_TYPE");
    *naive = false;
    if (text == NULL) {
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

static int read_count(const char *variable, uint64_t normal, uint32_t *count)
{
    uint64_t value;
    int error = mxp__setting_read(variable, normal, 1, WORKERS_MAX, &value);
    *count = (uint32_t)value;
    return error;
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

// Without memory for a line it is missing: the engine runs all the same.
void mxn__engine_settings_note(const mxn_engine_settings *settings)
{
    const struct {
        const char *key;
        uint32_t threads;
    } queues[] = {{"engine.workers", settings->naive ? 0 : 1},
                  {"engine.light", settings->naive ? 0 : settings->workers - 1},
                  {"engine.priority", settings->naive ? 0 : settings->priority_workers}};
    for (size_t i = 0; i < sizeof queues / sizeof queues[0]; i++) {
        char text[16];
        snprintf(text, sizeof text, "%u", (unsigned)queues[i].threads);
        (void)mxp_info(queues[i].key, text);
    }
    (void)mxp_info("engine.type", settings->naive ? "NaiveEngine" : "ThreadedEnginePerDevice");
    (void)mxp_info("library.version", MXP_VERSION_STRING);
}
