// SPDX-License-Identifier: Apache-2.0
// Observers of dumps. They are only ever added, under the session's lock; calling them takes none,
// so that they may lock what they like.
#include "profiler/session/observe.h"

#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/session/output/output_name.h"
#include "profiler/session/session.h"

enum { OBSERVERS_MAX = 8 };

typedef struct observer_entry {
    mxp_observer call;
    void *context;
} observer_entry;

static observer_entry observers[OBSERVERS_MAX];
static mxp_atomic_u32 observer_count;  // release, pairs with mxp__observers_call

static int add_locked(mxp_observer observer, void *context)
{
    for (uint32_t i = 0; i < mxp_atomic_own(&observer_count); i++) {
        if (observers[i].call == observer && observers[i].context == context) {
            return MXP_OK;
        }
    }
    if (mxp_atomic_own(&observer_count) == OBSERVERS_MAX) {
        return mxp__fail(MXP_ESTATE, "there are %d observers of dumps already", OBSERVERS_MAX);
    }
    observers[mxp_atomic_own(&observer_count)] = (observer_entry){observer, context};
    mxp_atomic_store_release(&observer_count, mxp_atomic_own(&observer_count) + 1);
    return MXP_OK;
}

int mxp_session_observe(mxp_session *session, mxp_observer observer, void *context)
{
    int error = mxp__session_check(session);
    if (error != MXP_OK) {
        return error;
    }
    if (observer == NULL) {
        return mxp__fail(MXP_EINVAL, "the observer of dumps is null");
    }
    mxp__lock(&session->lock);
    error = add_locked(observer, context);
    mxp__unlock(&session->lock);
    return error;
}

// The configuration may be replaced while observers read it, so they get a copy, with names in the
// place of patterns. Without memory for its strings they see none.
void mxp__observers_call(mxp_session *session)
{
    uint32_t count = mxp_atomic_load_acquire(&observer_count);
    if (count == 0) {
        return;
    }
    mxp__lock(&session->lock);
    mxp_config config = session->config;
    if (mxp__config_own_strings(&config, mxp__output_expanded) != MXP_OK) {
        config.filename = config.native_filename = config.memory_csv_prefix = NULL;
        config.snapshot_filename = config.snapshot_counter = NULL;
    }
    mxp__unlock(&session->lock);
    for (uint32_t i = 0; i < count; i++) {
        observers[i].call(observers[i].context, &config);
    }
    mxp__config_free_strings(&config);
}
