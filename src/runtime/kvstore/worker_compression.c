// SPDX-License-Identifier: Apache-2.0
// A key has one array of words, which the next push overwrites when the node has sent it: the
// engine sees to that, as it orders what the residual goes through.
#include "runtime/kvstore/worker_compression.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/name_once.h"

typedef struct compression {
    mxn_dist *dist;
    uint16_t store;
    uint32_t key;
    float threshold;
    bool is_first;  // of the key: nothing is left of earlier ones
    mxn_array *gradient, *residual, *words;
} compression;

static void free_compression(void *argument)
{
    compression *of = argument;
    mxn_array_release(of->gradient);
    mxn_array_release(of->residual);
    mxn_array_release(of->words);
    mxp__free(of, sizeof *of);
}

static int run(const mxn_run *run, void *argument)
{
    (void)run;
    const compression *of = argument;
    void *gradient = NULL, *residual = NULL, *words = NULL;
    int error = mxn_array_data(of->gradient, &gradient);
    error = error == MXP_OK ? mxn_array_data(of->residual, &residual) : error;
    error = error == MXP_OK ? mxn_array_data(of->words, &words) : error;
    const uint64_t count = mxn_array_size(of->residual);
    if (error != MXP_OK || count == 0) {
        return error;
    }
    if (of->is_first) {
        memset(residual, 0, count * sizeof(float));
    }
    mxn_dist_compress(of->dist, of->store, of->key, of->threshold, gradient, residual, words);
    return MXP_OK;
}

// ---- arrays of a key ---------------------------------------------------------------------------
static int new_array(const char *name, const mxn_shape *shape, int dtype, mxn_array **made)
{
    const mxn_tag tag = {
        .name = mxp_string(name), .scope = mxp_scope_current(), .category = MXN_MEMORY_KVSTORE};
    return mxn_array_new(shape, dtype, (mxn_context){MXN_CPU_PINNED, 0}, &tag, true, made);
}

static int prepare(mxn_kv_entry *entry, uint64_t words_bytes)
{
    const mxn_shape shape = {.ndim = 1, .dims = {(int64_t)(words_bytes / sizeof(int32_t))}};
    int error = entry->residual == NULL
                    ? new_array("residual", &entry->stored->shape, MXN_FLOAT32, &entry->residual)
                    : MXP_OK;
    return error == MXP_OK && entry->words == NULL
               ? new_array("compressed", &shape, MXN_INT32, &entry->words)
               : error;
}

// ---- the operation -----------------------------------------------------------------------------
static int push(compression *of, int priority)
{
    static mxp_atomic_u32 name;
    mxn_var *reads[] = {mxn_array_var(of->gradient)};
    mxn_var *writes[] = {mxn_array_var(of->residual), mxn_array_var(of->words)};
    const float count = (float)mxn_array_size(of->residual);
    const mxn_work work = {
        .function.sync = run,
        .form = MXN_SYNC,
        .property = MXN_CPU_PRIORITIZED,
        .argument = of,
        .deleter = free_compression,
        .reads = reads,
        .writes = writes,
        .read_count = 1,
        .write_count = 2,
        .priority = priority,
        .flags = MXP_PHASE_COMMUNICATION,
        .name = mxp__span_name_once(&name, "operator", "QuantizeCPU"),
        .flops = 2 * count,
        .bytes = 3 * count * (float)sizeof(float) + count / 4,
    };
    return mxn_push(&work);
}

int mxn__worker_compress(mxn_dist *dist, uint16_t store, mxn_kv_entry *entry, float threshold,
                         mxn_array *gradient, int priority, mxn_array **words)
{
    const bool is_first = entry->residual == NULL || entry->words == NULL;
    int error = prepare(entry, mxn_dist_compressed_bytes(dist, store, entry->place));
    compression *of = error == MXP_OK ? mxp__alloc(sizeof *of) : NULL;
    if (of == NULL) {
        return error == MXP_OK ? mxp__fail_memory("a compressed gradient") : error;
    }
    *of = (compression){.dist = dist,
                        .store = store,
                        .key = entry->place,
                        .threshold = threshold,
                        .is_first = is_first,
                        .gradient = gradient,
                        .residual = entry->residual,
                        .words = entry->words};
    mxn_array_retain(gradient);
    mxn_array_retain(entry->residual);
    mxn_array_retain(entry->words);
    *words = entry->words;
    mxn_array_retain(*words);
    error = push(of, priority);
    if (error != MXP_OK) {
        mxn_array_release(*words);
    }
    return error;
}
