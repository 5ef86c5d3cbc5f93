// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/key_sums.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/reduce.h"

static int new_sum(const mxn_kv_entry *entry, mxn_array **sum)
{
    const mxn_tag tag = {
        .name = mxp_string("sum"), .scope = mxp_scope_current(), .category = MXN_MEMORY_KVSTORE};
    return mxn_array_new(&entry->stored->shape, entry->stored->dtype,
                         (mxn_context){MXN_CPU_PINNED, 0}, &tag, true, sum);
}

// Memory for sums: where the first value goes, and a place for each of the others. One that has
// become the stored array is not written to while an updater needs both.
static int prepare_sum(mxn_kv_entry *entry, uint32_t values, bool keeps_stored)
{
    const uint32_t copies = values - 1;
    if (entry->copy_count != copies || entry->merged == NULL ||
        entry->merged->dtype != entry->stored->dtype ||
        (keeps_stored && mxn_array_shares(entry->merged, entry->stored))) {
        mxn__kv_drop_sums(entry);
    }
    int error = entry->merged == NULL ? new_sum(entry, &entry->merged) : MXP_OK;
    if (error == MXP_OK && entry->copies == NULL && copies > 0) {
        entry->copies = mxp__alloc(copies * sizeof *entry->copies);
        entry->copy_count = entry->copies == NULL ? 0 : copies;
        error = entry->copies == NULL ? mxp__fail_memory("copies of values") : MXP_OK;
    }
    for (uint32_t i = 0; error == MXP_OK && i < copies; i++) {
        if (entry->copies[i] == NULL) {
            error = new_sum(entry, &entry->copies[i]);
        }
    }
    return error;
}

int mxn__kv_merge(const mxn_kv_groups *groups, uint32_t at, mxn_array *const *values,
                  const mxn_push_options *options, bool keeps_stored, mxn_array **merged)
{
    mxn_kv_entry *entry = groups->entries[at];
    uint32_t value = groups->first[at];
    if (groups->values[at] == 1 && values[value]->dtype == entry->stored->dtype) {
        return mxn_array_detach(values[value], merged);
    }
    int error = prepare_sum(entry, groups->values[at], keeps_stored);
    if (error == MXP_OK) {
        error = mxn_array_copy(values[value], entry->merged, options);
    }
    for (uint32_t i = 0; error == MXP_OK && i < entry->copy_count; i++) {
        value = groups->next[value];
        error = mxn_array_copy(values[value], entry->copies[i], options);
    }
    if (error == MXP_OK && entry->copy_count > 0) {
        error = mxn__kv_reduce(entry->merged, entry->copy_count, entry->copies, options->priority);
    }
    return error == MXP_OK ? mxn_array_detach(entry->merged, merged) : error;
}
