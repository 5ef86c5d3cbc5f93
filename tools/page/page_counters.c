// SPDX-License-Identifier: Apache-2.0
// See page_counters.h.
#include "page/page_counters.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "page/columns.h"

static const char memory_for[] = "the counters of the page";

static double value_of(const mxp_event *event)
{
    return event->phase == MXP_ARG_F64   ? event->value.f64
           : event->phase == MXP_ARG_I64 ? (double)event->value.i64
                                         : (double)event->value.u64;
}

static mxp_page_counter *find(mxp_page_counters *counters, uint32_t process, uint32_t name)
{
    for (size_t i = counters->count; i-- > 0;) {
        if (counters->all[i].name == name && counters->all[i].process == process) {
            return &counters->all[i];
        }
    }
    return NULL;
}

static mxp_page_counter *make(mxp_page_counters *counters, uint32_t process, uint32_t name)
{
    mxp_counter_bin *bins = mxp__alloc(MXP_COUNTER_BINS * sizeof *bins);
    if (bins == NULL || mxp__grow(&counters->all, &counters->capacity, counters->count + 1,
                                  sizeof *counters->all) != MXP_OK) {
        mxp__free(bins, MXP_COUNTER_BINS * sizeof *bins);
        mxp__fail_memory(memory_for);
        return NULL;
    }
    mxp_page_counter *counter = &counters->all[counters->count++];
    *counter = (mxp_page_counter){.process = process, .name = name, .bins = bins};
    return counter;
}

static uint64_t bin_width_ns(const mxp_page_counters *counters)
{
    return (uint64_t)(counters->end_ns - counters->begin_ns) / MXP_COUNTER_BINS + 1;
}

static size_t bin_at(const mxp_page_counters *counters, int64_t ns)
{
    const uint64_t since_ns = ns > counters->begin_ns ? (uint64_t)(ns - counters->begin_ns) : 0;
    const uint64_t bin = since_ns / bin_width_ns(counters);
    return bin < MXP_COUNTER_BINS ? bin : MXP_COUNTER_BINS - 1;
}

int mxp__page_counters_add(mxp_page_counters *counters, uint32_t process, const mxp_event *event)
{
    mxp_page_counter *counter = find(counters, process, event->name);
    if (counter == NULL && counters->count == MXP_PAGE_COUNTERS_MAX) {
        counters->left_out++;
        return MXP_OK;
    }
    if (counter == NULL && (counter = make(counters, process, event->name)) == NULL) {
        return MXP_ENOMEM;
    }
    mxp_counter_bin *bin = &counter->bins[bin_at(counters, event->begin_ns)];
    const double value = value_of(event);
    if (bin->samples++ == 0) {
        *bin = (mxp_counter_bin){value, value, value, 1, event->begin_ns};
        return MXP_OK;
    }
    bin->least = value < bin->least ? value : bin->least;
    bin->largest = value > bin->largest ? value : bin->largest;
    if (event->begin_ns > bin->last_ns) {
        bin->last = value;
        bin->last_ns = event->begin_ns;
    }
    return MXP_OK;
}

// Bins from `at` on as one; without samples where they have none.
static mxp_counter_bin joined(const mxp_page_counter *counter, size_t at, size_t join)
{
    mxp_counter_bin all = {0};
    for (size_t i = at; i < at + join; i++) {
        const mxp_counter_bin *bin = &counter->bins[i];
        if (bin->samples > 0) {
            all.least = all.samples == 0 || bin->least < all.least ? bin->least : all.least;
            all.largest =
                all.samples == 0 || bin->largest > all.largest ? bin->largest : all.largest;
            all.last = bin->last;  // of the latest bin
            all.samples += bin->samples;
        }
    }
    return all;
}

int mxp__page_counter_pack(mxp_page_counters *counters, size_t number, size_t join,
                           mxp_page_spool *spool, mxp_spooled_section *section)
{
    enum { TIME, LEAST, LARGEST, LAST, COLUMNS };
    assert(MXP_COUNTER_BINS % join == 0);
    mxp_page_counter *counter = &counters->all[number];
    mxp_strbuf columns[COLUMNS] = {{0}};
    uint64_t before_ns = 0;
    counter->shown = 0;
    counter->width_ns = join * bin_width_ns(counters);
    for (size_t i = 0; i < MXP_COUNTER_BINS; i += join) {
        const mxp_counter_bin bin = joined(counter, i, join);
        const uint64_t at_ns = i * bin_width_ns(counters);
        if (bin.samples == 0) {
            continue;
        }
        mxp__column_put(&columns[TIME], at_ns - before_ns);
        mxp__column_put_f64(&columns[LEAST], bin.least);
        mxp__column_put_f64(&columns[LARGEST], bin.largest);
        mxp__column_put_f64(&columns[LAST], bin.last);
        before_ns = at_ns;
        counter->shown++;
    }
    const int error = mxp__page_spool_columns(spool, columns, COLUMNS, counter->shown, section);
    for (size_t i = 0; i < COLUMNS; i++) {
        mxp__strbuf_fini(&columns[i]);
    }
    return error;
}

void mxp__page_counters_fini(mxp_page_counters *counters)
{
    for (size_t i = 0; i < counters->count; i++) {
        mxp__free(counters->all[i].bins, MXP_COUNTER_BINS * sizeof(mxp_counter_bin));
    }
    mxp__free(counters->all, counters->capacity * sizeof *counters->all);
    *counters = (mxp_page_counters){0};
}
