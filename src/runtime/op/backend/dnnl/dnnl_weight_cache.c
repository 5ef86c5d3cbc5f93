// SPDX-License-Identifier: Apache-2.0
// A list as long as a network has layers; the copy unused for longest makes room. A copy is an
// array like any other, so that its memory is seen.
#include "runtime/op/backend/dnnl/dnnl_weight_cache.h"

typedef struct copy {
    uint64_t problem, version, bytes, used;
    uint64_t offset_bytes;
    uint32_t var, host_writes;
    mxn_array *array;  // null: a free entry
    void *data;
} copy;

static copy copies[MXN_CACHED_WEIGHTS_MAX];
static uint64_t clock_now;

static bool is_of(const copy *c, const mxn_buffer_ref *ref, uint64_t problem)
{
    return c->array != NULL && c->problem == problem && c->var == mxn_var_id(ref->buffer->var) &&
           c->offset_bytes == ref->offset_bytes;
}

static copy *find(const mxn_buffer_ref *ref, uint64_t problem)
{
    copy *oldest = &copies[0];
    for (copy *c = copies; c < copies + MXN_CACHED_WEIGHTS_MAX; c++) {
        if (is_of(c, ref, problem)) {
            return c;
        }
        oldest = c->used < oldest->used ? c : oldest;
    }
    return oldest;
}

static bool take_memory(copy *c, mxn_context context, uint64_t bytes)
{
    mxn_array_release(c->array);
    c->array = NULL;
    const mxn_shape shape = {.ndim = 1, .dims = {(int64_t)bytes}};
    const mxn_tag tag = {.name = mxp_string("weight (oneDNN)"), .category = MXN_MEMORY_WORKSPACE};
    if (mxn_array_new(&shape, MXN_UINT8, context, &tag, false, &c->array) != 0) {
        return false;
    }
    c->bytes = bytes;
    return mxn_array_data(c->array, &c->data) == 0;
}

bool mxn__cached_weight_find(const mxn_buffer_ref *ref, uint64_t problem, uint64_t bytes,
                             void **data, bool *valid)
{
    uint32_t host_writes = mxn_buffer_host_writes(ref->buffer);
    if (host_writes == MXN_HOST_WRITES_ANY) {
        return false;
    }
    copy *c = find(ref, problem);
    uint64_t version = mxn_var_version(ref->buffer->var);
    bool same = is_of(c, ref, problem);
    if ((!same || c->bytes != bytes) && !take_memory(c, ref->buffer->context, bytes)) {
        return false;
    }
    *valid = same && c->version == version && c->host_writes == host_writes;
    *c = (copy){.problem = problem,
                .version = version,
                .bytes = bytes,
                .used = ++clock_now,
                .offset_bytes = ref->offset_bytes,
                .var = mxn_var_id(ref->buffer->var),
                .host_writes = host_writes,
                .array = c->array,
                .data = c->data};
    *data = c->data;
    return true;
}
