// SPDX-License-Identifier: Apache-2.0
// The cache is a list searched by hash: a few hundred entries at most, of which the one unused for
// longest makes room. A problem the library cannot do is an entry too, without a primitive.
#include "runtime/op/backend/dnnl/dnnl_primitive.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/lock.h"
#include "runtime/op/backend/dnnl/dnnl_weight_cache.h"
#include "runtime/parallel/thread_pool.h"

typedef struct argument {  // with its way into the library's layout and back
    mxn_problem_argument given;
    dnnl_primitive_t reorder;  // null: the library takes it as it lies
    dnnl_memory_t plain, inner;  // inner: in the library's layout, if it is reordered
    uint64_t inner_bytes;
} argument;

typedef struct mxn_problem {
    mxn_problem_key key;
    dnnl_primitive_t primitive;  // null: the library cannot do it
    dnnl_memory_t scratch;
    uint64_t scratch_bytes;
    argument arguments[MXN_PROBLEM_ARGUMENTS];
    int count;
    uint64_t serial;  // never the same twice
} mxn_problem;

static struct {
    mxp_lock lock;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_attr_t attributes;
    uint64_t hashes[MXN_PROBLEMS_MAX], used[MXN_PROBLEMS_MAX];
    mxn_problem *problems[MXN_PROBLEMS_MAX];
    uint32_t count;
    uint64_t clock;
    mxn_problem_counts counts;
} cache = {.lock = MXP__LOCK_INIT};

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 63) & ~UINT64_C(63);
}

static bool start_locked(void)
{
    if (cache.stream != NULL) {
        return true;
    }
    return (cache.engine != NULL ||
            dnnl_engine_create(&cache.engine, dnnl_cpu, 0) == dnnl_success) &&
           (cache.attributes != NULL ||
            (dnnl_primitive_attr_create(&cache.attributes) == dnnl_success &&
             dnnl_primitive_attr_set_scratchpad_mode(cache.attributes, dnnl_scratchpad_mode_user) ==
                 dnnl_success)) &&
           dnnl_stream_create(&cache.stream, cache.engine, dnnl_stream_default_flags) ==
               dnnl_success;
}

// ---- making -----------------------------------------------------------------------------------

static void clear(mxn_problem *p)
{
    for (int i = 0; i < p->count; i++) {
        dnnl_primitive_destroy(p->arguments[i].reorder);
        dnnl_memory_destroy(p->arguments[i].plain);
        dnnl_memory_destroy(p->arguments[i].inner);
    }
    dnnl_memory_destroy(p->scratch);
    dnnl_primitive_destroy(p->primitive);
    p->primitive = NULL;
    p->scratch = NULL;
    p->count = 0;
}

static bool make_reorder(argument *g, const dnnl_memory_desc_t *inner)
{
    const dnnl_memory_desc_t *plain = &g->given.plain;
    const dnnl_memory_desc_t *from = g->given.written ? inner : plain;
    const dnnl_memory_desc_t *to = g->given.written ? plain : inner;
    dnnl_primitive_desc_t description;
    if (dnnl_reorder_primitive_desc_create(&description, from, cache.engine, to, cache.engine,
                                           NULL) != dnnl_success) {
        return false;
    }
    bool made = dnnl_primitive_create(&g->reorder, description) == dnnl_success;
    dnnl_primitive_desc_destroy(description);
    g->inner_bytes = dnnl_memory_desc_get_size(inner);
    return made &&
           dnnl_memory_create(&g->inner, inner, cache.engine, DNNL_MEMORY_NONE) == dnnl_success;
}

static bool make_argument(argument *g, const_dnnl_primitive_desc_t description)
{
    const dnnl_memory_desc_t *inner =
        dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, g->given.what);
    return dnnl_memory_create(&g->plain, &g->given.plain, cache.engine, DNNL_MEMORY_NONE) ==
               dnnl_success &&
           inner != NULL &&
           (dnnl_memory_desc_equal(inner, &g->given.plain) || make_reorder(g, inner));
}

static bool is_fast(const_dnnl_primitive_desc_t description)
{
    const char *name = NULL;
    bool known = dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0,
                                           (void *)&name) == dnnl_success;
    snprintf(cache.counts.implementation, sizeof cache.counts.implementation, "%s",
             known ? name : "");
    return known && strncmp(name, "ref", 3) != 0 && strstr(name, ":ref") == NULL;
}

static bool make_parts(mxn_problem *p, const mxn_problem_plan *plan)
{
    const dnnl_memory_desc_t *scratch =
        dnnl_primitive_desc_query_md(plan->primitive, dnnl_query_scratchpad_md, 0);
    bool made =
        is_fast(plan->primitive) && scratch != NULL &&
        dnnl_primitive_create(&p->primitive, plan->primitive) == dnnl_success &&
        dnnl_memory_create(&p->scratch, scratch, cache.engine, DNNL_MEMORY_NONE) == dnnl_success;
    p->scratch_bytes = made ? dnnl_memory_desc_get_size(scratch) : 0;
    for (int i = 0; made && i < plan->count; i++) {
        p->arguments[i].given = plan->arguments[i];
        p->count = i + 1;
        made = make_argument(&p->arguments[i], plan->primitive);
    }
    return made;
}

static void make_problem(mxn_problem *p, mxn_problem_maker make)
{
    mxn_problem_plan plan = {0};
    if (make(&p->key, cache.engine, cache.attributes, &plan) != dnnl_success) {
        return;
    }
    if (make_parts(p, &plan)) {
        cache.counts.made++;
    } else {
        clear(p);
    }
    dnnl_primitive_desc_destroy(plan.primitive);
}

// ---- finding ----------------------------------------------------------------------------------

static uint64_t hash_of(const mxn_problem_key *key)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    const int64_t *numbers = &key->kind;
    for (size_t i = 0; i < sizeof *key / sizeof *numbers; i++) {
        hash = (hash ^ (uint64_t)numbers[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

static uint32_t oldest_locked(void)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < cache.count; i++) {
        oldest = cache.used[i] < cache.used[oldest] ? i : oldest;
    }
    return oldest;
}

static mxn_problem *add_locked(const mxn_problem_key *key, uint64_t hash, mxn_problem_maker make)
{
    mxn_problem *added = mxp__alloc(sizeof *added);
    if (added == NULL || !start_locked()) {
        mxp__free(added, sizeof *added);
        return NULL;
    }
    uint32_t at = cache.count < MXN_PROBLEMS_MAX ? cache.count++ : oldest_locked();
    if (cache.problems[at] != NULL) {
        clear(cache.problems[at]);
        mxp__free(cache.problems[at], sizeof *added);
    }
    added->key = *key;
    added->serial = ++cache.clock;
    make_problem(added, make);
    cache.problems[at] = added;
    cache.hashes[at] = hash;
    cache.used[at] = cache.clock;
    return added;
}

static mxn_problem *find_locked(mxn_problem_key *key, mxn_problem_maker make)
{
    key->threads = mxn__threads_for_library();
    uint64_t hash = hash_of(key);
    for (uint32_t i = 0; i < cache.count; i++) {
        if (cache.hashes[i] == hash && memcmp(&cache.problems[i]->key, key, sizeof *key) == 0) {
            cache.used[i] = ++cache.clock;
            return cache.problems[i];
        }
    }
    return add_locked(key, hash, make);
}

static uint64_t workspace_locked(const mxn_problem *problem)
{
    uint64_t bytes = rounded(problem->scratch_bytes);
    for (int i = 0; i < problem->count; i++) {
        bytes += rounded(problem->arguments[i].inner_bytes);
    }
    return bytes;
}

bool mxn__problem_find(mxn_problem_key *key, mxn_problem_maker make, uint64_t *bytes)
{
    mxp__lock(&cache.lock);
    const mxn_problem *found = find_locked(key, make);
    const bool able = found != NULL && found->primitive != NULL;
    if (able && bytes != NULL) {
        *bytes = workspace_locked(found);
    }
    mxp__unlock(&cache.lock);
    return able;
}

// ---- running ----------------------------------------------------------------------------------

static dnnl_status_t reorder_locked(const argument *g)
{
    const bool out = g->given.written;
    const dnnl_exec_arg_t from_to[] = {{DNNL_ARG_FROM, out ? g->inner : g->plain},
                                       {DNNL_ARG_TO, out ? g->plain : g->inner}};
    return dnnl_primitive_execute(g->reorder, cache.stream, 2, from_to);
}

// A weight in the library's layout: the cached copy if it is of this version.
static dnnl_status_t bring_weight_locked(const mxn_problem *p, argument *g,
                                         const mxn_buffer_ref *ref)
{
    void *cached;
    bool valid;
    if (!mxn__cached_weight_find(ref, p->serial, g->inner_bytes, &cached, &valid)) {
        return reorder_locked(g);  // cannot be cached: to the workspace
    }
    dnnl_memory_set_data_handle(g->inner, cached);
    if (valid) {
        cache.counts.weights_cached++;
        return dnnl_success;
    }
    cache.counts.weights_reordered++;
    return reorder_locked(g);
}

static dnnl_status_t execute_locked(mxn_problem *p, const mxn_problem_run *run)
{
    dnnl_exec_arg_t handed[MXN_PROBLEM_ARGUMENTS + 1];
    char *space = run->workspace;
    dnnl_status_t status = dnnl_memory_set_data_handle(p->scratch, space);
    space += rounded(p->scratch_bytes);
    for (int i = 0; i < p->count && status == dnnl_success; i++) {
        argument *g = &p->arguments[i];
        dnnl_memory_set_data_handle(g->plain, run->data[i]);
        handed[i] = (dnnl_exec_arg_t){g->given.what, g->reorder ? g->inner : g->plain};
        if (g->reorder == NULL) {
            continue;
        }
        dnnl_memory_set_data_handle(g->inner, space);
        space += rounded(g->inner_bytes);
        if (run->weight != NULL && run->weight_index == i) {
            status = bring_weight_locked(p, g, run->weight);
        } else if (!g->given.written) {
            status = reorder_locked(g);
        }
    }
    handed[p->count] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, p->scratch};
    if (status == dnnl_success) {
        status = dnnl_primitive_execute(p->primitive, cache.stream, p->count + 1, handed);
    }
    for (int i = 0; i < p->count && status == dnnl_success; i++) {
        if (p->arguments[i].reorder != NULL && p->arguments[i].given.written) {
            status = reorder_locked(&p->arguments[i]);
        }
    }
    dnnl_stream_wait(cache.stream);
    return status;
}

int mxn__problem_run(mxn_problem_key *key, mxn_problem_maker make, const mxn_problem_run *run)
{
    mxp__lock(&cache.lock);
    mxn_problem *problem = find_locked(key, make);
    dnnl_status_t status = dnnl_out_of_memory;
    if (problem != NULL && problem->primitive != NULL) {
        status = execute_locked(problem, run);
        cache.counts.executed++;
    }
    mxp__unlock(&cache.lock);
    return status == dnnl_success
               ? 0
               : mxp__fail(MXP_ENOMEM, "oneDNN: a primitive fails with status %d", (int)status);
}

void mxn__problem_counts_get(mxn_problem_counts *counts)
{
    mxp__lock(&cache.lock);
    *counts = cache.counts;
    mxp__unlock(&cache.lock);
}
