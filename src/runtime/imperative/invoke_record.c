// SPDX-License-Identifier: Apache-2.0
// Texts of records are interned under a lock, so each thread keeps the ids of those it has met: a
// program runs the same shapes over and over.
#include "runtime/imperative/invoke_record.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/name_once.h"
#include "base/strbuf.h"
#include "base/thread_slot.h"

// ---- names of outputs -------------------------------------------------------------------------
static MXP_ATOMIC(mxp_atomic_u32 *) output_names;  // by index of the operator; null without memory
static pthread_once_t output_names_once = PTHREAD_ONCE_INIT;

static void output_names_make(void)
{
    const mxn_op *ops = NULL;
    // Pairs with the load in mxn__output_name.
    mxp_atomic_store_release(&output_names, mxp__alloc(mxn_op_list(&ops) * sizeof(mxp_atomic_u32)));
}

mxp_name mxn__output_name(const mxn_op *op)
{
    mxp_atomic_u32 *names = mxp_atomic_load_acquire(&output_names);
    if (names == NULL) {
        pthread_once(&output_names_once, output_names_make);
        names = mxp_atomic_own(&output_names);
    }
    if (names == NULL) {
        return mxp_string(op->name);
    }
    return mxp__string_once(&names[op->index], op->name);
}

// ---- shapes -----------------------------------------------------------------------------------
enum { CACHE_SIZE = 256, CACHE_MASK = CACHE_SIZE - 1 };

// A hash of 64 bits stands for the shapes: two that share it would have to meet first.
typedef struct cached_shape {
    uint64_t hash;
    uint32_t name;
} cached_shape;

static _Thread_local cached_shape *cache __attribute__((tls_model("initial-exec")));

static void cache_free(void *pointer)
{
    mxp__free(pointer, CACHE_SIZE * sizeof(cached_shape));
    cache = NULL;
}

static mxp_thread_slot cache_slot = MXP__THREAD_SLOT_INIT(cache_free);

static cached_shape *cache_get(void)
{
    if (cache == NULL) {
        cache = mxp__thread_slot_new(&cache_slot, CACHE_SIZE * sizeof(cached_shape));
    }
    return cache;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_operands(uint64_t hash, const mxn_operand *operands, uint32_t count)
{
    hash = mix(hash, count);
    for (uint32_t i = 0; i < count; i++) {
        const mxn_shape *shape = operands[i].shape;
        hash = mix(hash, (uint64_t)(uint32_t)operands[i].dtype << 32 | (uint32_t)shape->ndim);
        for (int32_t d = 0; d < shape->ndim; d++) {
            hash = mix(hash, (uint64_t)shape->dims[d]);
        }
    }
    return hash;
}

static void append_operands(mxp_strbuf *text, const mxn_operand *operands, uint32_t count)
{
    char shape[MXN_SHAPE_TEXT];
    for (uint32_t i = 0; i < count; i++) {
        mxp__strbuf_puts(text, i == 0 ? "" : ",");
        mxp__strbuf_puts(text, mxn_dtype_name(operands[i].dtype));
        mxp__strbuf_puts(text, mxn_shape_text(operands[i].shape, shape));
    }
}

static uint32_t intern_shapes(const mxn_job *job)
{
    mxp_strbuf text = {0};
    append_operands(&text, job->inputs, job->params->input_count);
    mxp__strbuf_puts(&text, "->");
    append_operands(&text, job->outputs, job->params->visible_count);
    uint32_t name = text.failed ? MXP_NAME_NONE : mxp_string(mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    return name;
}

uint32_t mxn__shape_string(const mxn_job *job)
{
    uint64_t hash = hash_operands(1, job->inputs, job->params->input_count);
    hash = hash_operands(hash, job->outputs, job->params->visible_count);
    cached_shape *all = cache_get();
    if (all == NULL) {
        return intern_shapes(job);
    }
    cached_shape *entry = &all[hash >> 32 & CACHE_MASK];
    if (entry->hash != hash || entry->name == MXP_NAME_NONE) {
        entry->name = intern_shapes(job);
        entry->hash = hash;
    }
    return entry->name;
}
