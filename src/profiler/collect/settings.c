// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/settings.h"

#include <mxprof/profiler.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/setting.h"

// Threads that come at once read the same, and each may tell of it.
static int read_word(const char *variable, const char *const *words, int fallback)
{
    const char *text = mxp__setting_text(variable);
    for (int i = 0; text != NULL && words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            return i + 1;
        }
    }
    if (text != NULL) {
        fprintf(stderr, "mxprof: %s='%.40s' is ignored: the words are %s, %s and %s\n", variable,
                text, words[0], words[1], words[2] != NULL ? words[2] : "nothing else");
    }
    return fallback;
}

int mxp__collect_sync(void)
{
    static const char *const words[] = {[MXP__SYNC_NONE - 1] = "none", "waits", "all", NULL};
    static mxp_atomic_u32 known;
    uint32_t sync = mxp_atomic_load(&known);
    if (sync == 0) {
        sync = (uint32_t)read_word("MXPROF_COLLECT_SYNC", words, MXP__SYNC_WAITS);
        mxp_atomic_store(&known, sync);
    }
    return (int)sync;
}

bool mxp__collect_memory(void)
{
    enum { OFF = 1, ON = 2 };
    static const char *const words[] = {"0", "1", NULL};
    static mxp_atomic_u32 known;
    uint32_t memory = mxp_atomic_load(&known);
    if (memory == 0) {
        memory = (uint32_t)read_word("MXPROF_COLLECT_MEMORY", words, OFF);
        mxp_atomic_store(&known, memory);
    }
    return memory == ON;
}

double mxp__collect_ns_per_tick(void)
{
    static mxp_atomic_u64 known;
    uint64_t bits = mxp_atomic_load(&known);
    double rate;
    if (bits == 0) {
        mxp_report report = {.size_bytes = sizeof report};
        if (mxp_session_report(mxp_session_get(), &report) != MXP_OK) {
            return 0;
        }
        memcpy(&bits, &report.ns_per_tick, sizeof bits);
        mxp_atomic_store(&known, bits);
    }
    memcpy(&rate, &bits, sizeof rate);
    return rate;
}
