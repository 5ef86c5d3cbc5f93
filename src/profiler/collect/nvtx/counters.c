// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/nvtx/counters.h"

#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "profiler/collect/arena.h"
#include "profiler/collect/nvtx/handles.h"
#include "profiler/collect/nvtx/payload.h"
#include "profiler/spin.h"

typedef struct counter {
    struct counter *next;
    const nvtx_domain *domain;
    uint64_t id, schema;
    mxp_name name;
} counter;

enum { BUCKETS = 64 };

static struct {
    mxp_spin lock;
    MXP_ATOMIC(counter *) buckets[BUCKETS];
} counters;

static const counter *find(const nvtx_domain *domain, uint64_t id)
{
    const counter *at = mxp_atomic_load_acquire(&counters.buckets[id % BUCKETS]);
    while (at != NULL && (at->id != id || at->domain != domain)) {
        at = at->next;
    }
    return at;
}

uint64_t mxp__nvtx_counter_register(void *handle, const nvtx_counter *given)
{
    static mxp_atomic_u64 last;
    nvtx_counter read = {0};
    counter *made = given != NULL ? mxp__arena_take(sizeof *made) : NULL;
    if (made == NULL) {
        return 0;
    }
    memcpy(&read, given, given->size_bytes < sizeof read ? given->size_bytes : sizeof read);
    made->domain = mxp__nvtx_domain(handle);
    made->id = read.id != 0 ? read.id : (UINT64_C(1) << 32) + mxp_atomic_add(&last, 1);
    made->schema = read.schema;
    made->name = mxp__nvtx_name(made->domain, read.name, MXP_STYLE_COUNTER);
    if (!mxp__spin_lock(&counters.lock)) {
        return 0;
    }
    made->next = mxp_atomic_load(&counters.buckets[made->id % BUCKETS]);
    mxp_atomic_store_release(&counters.buckets[made->id % BUCKETS], made);  // pairs with find
    mxp__spin_unlock(&counters.lock);
    return made->id;
}

void mxp__nvtx_counter_sample_i64(void *handle, uint64_t id, int64_t value)
{
    const counter *of = find(mxp__nvtx_domain(handle), id);
    if (of != NULL) {
        mxp_counter_i64(MXP_CLASS_USER, of->name, value);
    } else {
        mxp_lose_foreign(1);
    }
}

void mxp__nvtx_counter_sample_f64(void *handle, uint64_t id, double value)
{
    const counter *of = find(mxp__nvtx_domain(handle), id);
    if (of != NULL) {
        mxp_counter_f64(MXP_CLASS_USER, of->name, value);
    } else {
        mxp_lose_foreign(1);
    }
}

// A structure's numbers are counters of their own: "name.entry".
static mxp_name name_of(const counter *of, const mxp_arg *value, uint32_t count)
{
    char text[256];
    if (count == 1) {
        return of->name;
    }
    snprintf(text, sizeof text, "%.120s.%.120s", mxp_name_text(of->name),
             mxp_name_text(value->key));
    return mxp__nvtx_name(of->domain, text, MXP_STYLE_COUNTER);
}

void mxp__nvtx_counter_sample(void *handle, uint64_t id, const void *data, size_t size_bytes)
{
    const counter *of = find(mxp__nvtx_domain(handle), id);
    mxp_arg values[MXP__NVTX_PAYLOAD_ARGS];
    if (of == NULL) {
        mxp_lose_foreign(1);
        return;
    }
    const nvtx_payload payload = {of->schema, size_bytes, data};
    const uint32_t count = mxp__nvtx_payload_args(of->domain, &payload, 1, values, NULL);
    for (uint32_t i = 0; i < count; i++) {
        const mxp_name name = name_of(of, &values[i], count);
        if (values[i].type == MXP_ARG_F64) {
            mxp_counter_f64(MXP_CLASS_USER, name, values[i].value.f64);
        } else if (values[i].type == MXP_ARG_I64) {
            mxp_counter_i64(MXP_CLASS_USER, name, values[i].value.i64);
        } else if (values[i].type == MXP_ARG_U64) {
            mxp_counter_u64(MXP_CLASS_USER, name, values[i].value.u64);
        }
    }
}
