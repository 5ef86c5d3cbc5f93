// SPDX-License-Identifier: Apache-2.0
// Counters. A handle has the layout of the interface's, because macros of the program read it.
#include <mxprof/record.h>
#include <string.h>

#include "base/atomic.h"
#include "profiler/collect/arena.h"
#include "profiler/collect/itt/handles.h"
#include "profiler/collect/itt/marks.h"
#include "profiler/collect/itt/values.h"
#include "profiler/spin.h"

typedef struct itt_counter {
    const char *name;
    void *wide_name;
    const char *domain;
    void *wide_domain;
    int type;
    long index;
    mxp_atomic_u32 id;  // extra1: the name
    mxp_atomic_u64 total;  // extra2: what increments add up to
    struct itt_counter *next;
} itt_counter;

static struct {
    mxp_spin lock;
    itt_counter *first;
} counters;

static itt_counter *find(mxp_name id, int type)
{
    itt_counter *at = counters.first;
    while (at != NULL && (mxp_atomic_load(&at->id) != id || at->type != type)) {
        at = at->next;
    }
    return at;
}

// The same counter for the same name, domain and type.
static void *find_or_make(mxp_name category, const char *name, int type)
{
    const char *text = name != NULL ? name : "(null)";
    mxp_name id = mxp_intern_in(category, text, strlen(text), MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    if (!mxp__spin_lock(&counters.lock)) {
        return NULL;
    }
    itt_counter *counter = find(id, type);
    if (counter == NULL && (counter = mxp__arena_take(sizeof *counter)) != NULL) {
        counter->name = mxp_name_text(id);
        counter->domain = mxp_name_text(category);
        counter->type = type;
        mxp_atomic_store(&counter->id, id);
        counter->next = counters.first;
        counters.first = counter;
    }
    mxp__spin_unlock(&counters.lock);
    return counter;
}

void *mxp__itt_counter_create_typed(const char *name, const char *domain, int type)
{
    return find_or_make(mxp_string(domain != NULL ? domain : "ITT"), name, type);
}

void *mxp__itt_counter_create(const char *name, const char *domain)
{
    return mxp__itt_counter_create_typed(name, domain, ITT_U64);
}

void *mxp__itt_counter_create_v3(itt_domain *domain, const char *name, int type)
{
    return find_or_make(mxp__itt_category(domain), name, type);
}

static void add(itt_counter *counter, uint64_t by)
{
    if (counter != NULL) {
        uint64_t total = mxp_atomic_add(&counter->total, by) + by;
        mxp_counter_i64(MXP_CLASS_USER, mxp_atomic_load(&counter->id), (int64_t)total);
    }
}

void mxp__itt_counter_inc(void *counter)
{
    add(counter, 1);
}

void mxp__itt_counter_dec(void *counter)
{
    add(counter, UINT64_MAX);
}

void mxp__itt_counter_inc_delta(void *counter, unsigned long long by)
{
    add(counter, by);
}

void mxp__itt_counter_dec_delta(void *counter, unsigned long long by)
{
    add(counter, 0 - (uint64_t)by);
}

void mxp__itt_counter_set_value(void *handle, void *value)
{
    itt_counter *counter = handle;
    mxp_arg number;
    if (counter == NULL || value == NULL ||
        !mxp__itt_value(value, 0, counter->type, MXP_NAME_NONE, &number)) {
        return;
    }
    mxp_name id = mxp_atomic_load(&counter->id);
    if (number.type == MXP_ARG_F64) {
        mxp_counter_f64(MXP_CLASS_USER, id, number.value.f64);
    } else if (number.type == MXP_ARG_I64) {
        mxp_atomic_store(&counter->total, (uint64_t)number.value.i64);
        mxp_counter_i64(MXP_CLASS_USER, id, number.value.i64);
    } else {
        mxp_atomic_store(&counter->total, number.value.u64);
        mxp_counter_u64(MXP_CLASS_USER, id, number.value.u64);
    }
}
