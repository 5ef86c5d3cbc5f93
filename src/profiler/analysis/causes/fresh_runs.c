// SPDX-License-Identifier: Apache-2.0
// See fresh_runs.h.
#include "profiler/analysis/causes/fresh_runs.h"

#include "base/alloc.h"
#include "base/fail.h"

typedef struct pool_rate {
    uint64_t key;  // name
    double ns, bytes;
} pool_rate;

typedef struct fresh_run {
    uint64_t key;
    uint64_t bytes;
} fresh_run;

static const char memory_for[] = "operators on fresh memory";

// Operators that share an id began at other times: 2^32 operators lie between them.
static uint64_t key_of(uint32_t id, int64_t start_ns)
{
    return ((uint64_t)id << 32 | ((uint64_t)start_ns >> 20 & 0xffffffff)) + 1;
}

static void add_block(mxp_fresh_thread *thread, const mxp_event *event)
{
    mxp_memory_view view;
    if ((event->flags & MXP_MEM_FREE) != 0) {
        return;
    }
    mxp__event_memory(event, &view);
    if (thread->fresh_bytes + thread->reused_bytes == 0) {
        thread->first_ns = event->begin_ns;
    }
    if ((event->flags & MXP_MEM_REUSED) != 0) {
        thread->reused_bytes += view.requested_bytes;
    } else {
        thread->fresh_bytes += view.requested_bytes;
    }
}

static int add_rate(mxp_fresh_runs *runs, uint32_t name, double ns, double bytes)
{
    if (runs->rates.entry_bytes == 0) {
        runs->rates.entry_bytes = sizeof(pool_rate);
    }
    pool_rate *rate = mxp__id_map_add(&runs->rates, (uint64_t)name + 1);
    if (rate == NULL) {
        return mxp__fail_memory(memory_for);
    }
    rate->ns += ns;
    rate->bytes += bytes;
    return MXP_OK;
}

static int add_run(mxp_fresh_runs *runs, const mxp_event *event, uint64_t bytes)
{
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    if (runs->runs.entry_bytes == 0) {
        runs->runs.entry_bytes = sizeof(fresh_run);
    }
    fresh_run *run = mxp__id_map_add(&runs->runs, key_of(view.id, event->begin_ns));
    if (run == NULL) {
        return mxp__fail_memory(memory_for);
    }
    run->bytes = bytes;
    return MXP_OK;
}

int mxp__fresh_runs_add(mxp_fresh_runs *runs, const mxp_event *event, size_t thread_count)
{
    if (runs->threads == NULL && thread_count > 0) {
        runs->threads = mxp__alloc(thread_count * sizeof *runs->threads);
        if (runs->threads == NULL) {
            return mxp__fail_memory(memory_for);
        }
        runs->thread_count = thread_count;
    }
    if (event->thread >= runs->thread_count) {
        return MXP_OK;
    }
    mxp_fresh_thread *thread = &runs->threads[event->thread];
    if (event->kind == MXP_KIND_MEMORY) {
        add_block(thread, event);
        return MXP_OK;
    }
    if (event->kind != MXP_KIND_OPERATOR || (event->flags & MXP_OP_BULK_PARENT) != 0) {
        return MXP_OK;
    }
    const mxp_fresh_thread taken = *thread;
    *thread = (mxp_fresh_thread){0};
    if (taken.first_ns < event->begin_ns || taken.fresh_bytes + taken.reused_bytes == 0) {
        return MXP_OK;  // they were made before it
    }
    return taken.fresh_bytes > 0
               ? add_run(runs, event, taken.fresh_bytes)
               : add_rate(runs, event->name, (double)(event->end_ns - event->begin_ns),
                          (double)taken.reused_bytes);
}

void mxp__fresh_runs_fini(mxp_fresh_runs *runs)
{
    mxp__free(runs->threads, runs->thread_count * sizeof *runs->threads);
    mxp__id_map_fini(&runs->rates);
    mxp__id_map_fini(&runs->runs);
    *runs = (mxp_fresh_runs){0};
}

int64_t mxp__fresh_excess_ns(const mxp_fresh_runs *runs, uint32_t id, uint32_t name,
                             int64_t start_ns, int64_t took_ns)
{
    if (runs->runs.count == 0 || runs->rates.count == 0) {
        return 0;
    }
    const fresh_run *run = mxp__id_map_find(&runs->runs, key_of(id, start_ns));
    const pool_rate *rate = run == NULL ? NULL : mxp__id_map_find(&runs->rates, (uint64_t)name + 1);
    if (rate == NULL || rate->bytes <= 0) {
        return 0;
    }
    const double usual_ns = (double)run->bytes * rate->ns / rate->bytes;
    return usual_ns < (double)took_ns ? took_ns - (int64_t)usual_ns : 0;
}
