// SPDX-License-Identifier: Apache-2.0
// Counters. A handle has the layout of the interface's, because macros of the program read it.
#include <mxprof/record.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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
    mxp_name made_as;  // before it had a unit
} itt_counter;

static struct {
    mxp_spin lock;
    itt_counter *first;
} counters;

static itt_counter *find(mxp_name id, int type)
{
    itt_counter *at = counters.first;
    while (at != NULL && (at->made_as != id || at->type != type)) {
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
        counter->made_as = id;
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
    if (counter != NULL && !mxp__itt_is_detached()) {
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
    if (counter == NULL || value == NULL || mxp__itt_is_detached() ||
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

// The value counts from when it is told, because samples have no time of their own.
void mxp__itt_counter_set_value_ex(void *counter, itt_clock *clock, unsigned long long stamp,
                                   void *value)
{
    (void)clock, (void)stamp;
    mxp__itt_counter_set_value(counter, value);
}

// Others may have the same one.
void mxp__itt_counter_destroy(void *counter)
{
    (void)counter;
}

// A name keeps its unit, so a counter that learns of one gets another name.
void mxp__itt_bind_context_metadata_to_counter(void *handle, size_t count,
                                               itt_context_metadata *metadata)
{
    itt_counter *counter = handle;
    for (size_t i = 0; counter != NULL && metadata != NULL && i < count; i++) {
        const char *units = metadata[i].value;
        if (metadata[i].type == ITT_CONTEXT_UNITS && units != NULL) {
            char text[256];
            snprintf(text, sizeof text, "%.200s [%.40s]", counter->name, units);
            const bool is_bytes = strcasecmp(units, "bytes") == 0 || strcmp(units, "B") == 0;
            mxp_atomic_store(&counter->id, mxp_intern(counter->domain, text, MXP_STYLE_COUNTER,
                                                      is_bytes                   ? MXP_UNIT_BYTES
                                                      : strcmp(units, "ns") == 0 ? MXP_UNIT_NS
                                                      : strcmp(units, "%") == 0  ? MXP_UNIT_PERCENT
                                                                                 : MXP_UNIT_NONE));
        }
    }
}

static itt_counter *of_domain(itt_domain *domain, const itt_string *name)
{
    return find_or_make(mxp__itt_category(domain), name != NULL ? name->text : NULL, ITT_U64);
}

void mxp__itt_counter_inc_v3(itt_domain *domain, itt_string *name)
{
    add(of_domain(domain, name), 1);
}

void mxp__itt_counter_dec_v3(itt_domain *domain, itt_string *name)
{
    add(of_domain(domain, name), UINT64_MAX);
}

void mxp__itt_counter_inc_delta_v3(itt_domain *domain, itt_string *name, unsigned long long by)
{
    add(of_domain(domain, name), by);
}

void mxp__itt_counter_dec_delta_v3(itt_domain *domain, itt_string *name, unsigned long long by)
{
    add(of_domain(domain, name), 0 - (uint64_t)by);
}
