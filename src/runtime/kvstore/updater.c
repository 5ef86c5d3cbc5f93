// SPDX-License-Identifier: Apache-2.0
// An update: its number and rates, the operator that the optimizer's rule says, and the push. What
// was prepared for a key is used again as long as no parameter changes.
#include "runtime/kvstore/updater.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/layered_rates.h"
#include "runtime/kvstore/saved_states.h"
#include "runtime/kvstore/update_states.h"

struct mxn_kv_updater {
    mxn_kv_optimizer *optimizer;
    mxn_kv_states states;
    uint64_t updates;  // the most of any key
    mxn_kv_layered_rates layered;  // LARS
    mxn_kv_saved_list loaded;  // of whole weights; a key's first update takes its part
};

int mxn__kv_updater_new(mxn_kv_optimizer *optimizer, mxn_kv_updater **made)
{
    *made = mxp__alloc(sizeof **made);
    if (*made == NULL) {
        mxn__kv_optimizer_free(optimizer);
        return mxp__fail_memory("an updater");
    }
    (*made)->optimizer = optimizer;
    (*made)->updates = (uint64_t)optimizer->settings.begin_num_update;
    return MXP_OK;
}

void mxn__kv_updater_free(mxn_kv_updater *updater)
{
    if (updater != NULL) {
        mxn__kv_states_fini(&updater->states);
        mxn__kv_saved_fini(&updater->loaded);
        mxn__kv_optimizer_free(updater->optimizer);
        mxp__free(updater, sizeof *updater);
    }
}

int mxn__kv_updater_set(mxn_kv_updater *updater, const char *text, size_t length)
{
    int error = mxn__kv_optimizer_set(updater->optimizer, text, length);
    for (mxn_kv_state *at = updater->states.newest; error == MXP_OK && at != NULL; at = at->next) {
        at->of = mxn__kv_optimizer_of_key(updater->optimizer, at->key);
    }
    return error;
}

// ---- states ------------------------------------------------------------------------------------
static int make_arrays(const mxn_kv_optimizer *optimizer, mxn_kv_state *state, mxn_array *weight)
{
    const bool takes_copy = state->is_mixed && optimizer->rule->knows_copies;
    const int dtype = state->is_mixed ? MXN_FLOAT32 : weight->dtype;
    const uint32_t count = optimizer->rule->states(&optimizer->settings);
    assert(count + takes_copy <= MXN_KV_STATES);
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < count; i++) {
        error = mxn__kv_state_zeros(weight, dtype, &state->arrays[i]);
    }
    if (error == MXP_OK && state->is_mixed) {
        mxn_array **exact = takes_copy ? &state->arrays[count] : &state->exact;
        error = mxn__kv_state_zeros(weight, dtype, exact);
        error = error == MXP_OK ? mxn_array_copy(weight, *exact, NULL) : error;
    }
    if (error == MXP_OK && state->is_mixed && !takes_copy) {
        error = mxn__kv_state_zeros(weight, dtype, &state->gradient);
    }
    state->count = count + takes_copy;
    return error;
}

// The arrays as files have them. Returns how many.
static uint32_t in_file_order(const mxn_kv_rule *rule, const mxn_kv_state *state,
                              mxn_array *arrays[MXN_KV_STATES + 1])
{
    const bool moves = state->is_mixed && !rule->copy_last;
    const uint32_t own = state->count - (moves && rule->knows_copies);
    uint32_t count = 0;
    if (moves) {
        arrays[count++] = rule->knows_copies ? state->arrays[own] : state->exact;
    }
    for (uint32_t i = 0; i < own; i++) {
        arrays[count++] = state->arrays[i];
    }
    return count;
}

// Copies elements from `first` on to all of `to`.
static int copy_run(mxn_array *from, uint64_t first, mxn_array *to, const char *key)
{
    const uint64_t all = mxn_array_size(from), count = mxn_array_size(to);
    const mxn_shape whole = {.ndim = 1, .dims = {(int64_t)all}};
    const mxn_shape run = {.ndim = 1, .dims = {(int64_t)count}};
    mxn_array *flat = NULL, *part = NULL, *flat_to = NULL;
    if (first > all || count > all - first) {
        return mxp__fail(MXP_EFORMAT, "key %s: its loaded states are of another weight", key);
    }
    int error = mxn_array_view(from, &whole, from->dtype, &flat);
    error = error == MXP_OK ? mxn_array_slice(flat, first, first + count, &part) : error;
    error = error == MXP_OK ? mxn_array_view(to, &run, to->dtype, &flat_to) : error;
    error = error == MXP_OK ? mxn_array_copy(part, flat_to, NULL) : error;
    mxn_array_release(flat);
    mxn_array_release(part);
    mxn_array_release(flat_to);
    return error;
}

static int take_loaded(mxn_kv_updater *updater, mxn_kv_state *state)
{
    mxn_array *arrays[MXN_KV_STATES + 1];
    const uint32_t count = in_file_order(updater->optimizer->rule, state, arrays);
    const mxn_kv_saved *saved = NULL;
    for (uint32_t i = 0; saved == NULL && i < updater->loaded.count; i++) {
        saved = strcmp(updater->loaded.items[i].key, state->key) == 0 ? &updater->loaded.items[i]
                                                                      : NULL;
    }
    if (saved == NULL) {
        return MXP_OK;
    }
    int error =
        saved->count == count
            ? MXP_OK
            : mxp__fail(MXP_EFORMAT, "key %s: its loaded states are %u arrays; those of %s are %u",
                        state->key, saved->count, updater->optimizer->rule->name, count);
    for (uint32_t i = 0; error == MXP_OK && i < count; i++) {
        error = copy_run(saved->arrays[i], state->first, arrays[i], state->key);
    }
    state->updates = saved->updates;
    return error;
}

static int get_state(mxn_kv_updater *updater, const mxn_kv_weight *of, mxn_array *weight,
                     mxn_kv_state **found)
{
    const mxn_kv_optimizer *optimizer = updater->optimizer;
    mxn_kv_state *state = mxn__kv_state_find(&updater->states, of->key);
    int error = MXP_OK;
    if (state == NULL) {
        error = mxn__kv_state_add(&updater->states, of->key, &state);
    }
    if (error == MXP_OK && !state->is_made) {
        state->of = mxn__kv_optimizer_of_key(optimizer, of->key);
        state->updates = (uint32_t)optimizer->settings.begin_num_update;
        state->first = of->first;
        state->is_mixed = optimizer->settings.multi_precision != 0 && weight->dtype == MXN_FLOAT16;
        error = make_arrays(optimizer, state, weight);
        error = error == MXP_OK ? take_loaded(updater, state) : error;
        state->is_made = error == MXP_OK;
    }
    *found = state;
    return error;
}

// ---- one operator ------------------------------------------------------------------------------
static bool is_same(const mxn_kv_operation *a, const mxn_kv_operation *b)
{
    bool same = a->name == b->name && a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        same = strcmp(a->values[i], b->values[i]) == 0;
    }
    return same;
}

static int prepare(mxn_kv_state *state, const mxn_kv_operation *operation, uint32_t count,
                   mxn_array *const *inputs)
{
    mxn_params_release(state->params);
    mxn_prepared_release(state->prepared);
    state->params = NULL;
    state->prepared = NULL;
    state->operation.name = NULL;
    const char *values[MXN_KV_PAIRS];
    for (uint32_t i = 0; i < operation->count; i++) {
        values[i] = operation->values[i];
    }
    const mxn_op *op = NULL;
    int error = mxn_op_require(operation->name, &op);
    error = error == MXP_OK ? mxn_params_parse(op, operation->count, operation->keys, values, count,
                                               true, &state->params)
                            : error;
    if (error != MXP_OK) {
        return error;
    }
    mxn_tensor_type types[MXN_KV_STATES + 4];
    for (uint32_t i = 0; i < count; i++) {
        types[i] = (mxn_tensor_type){&inputs[i]->shape, inputs[i]->dtype};
    }
    const mxn_signature signature = {
        .params = state->params, .inputs = types, .context = mxn_array_context(inputs[0])};
    error = mxn_prepare(&signature, &state->prepared);
    if (error == MXP_OK) {
        state->operation = *operation;
    }
    return error;
}

static int run(mxn_kv_state *state, const mxn_kv_operation *operation, uint32_t count,
               mxn_array *const *inputs)
{
    mxn_bound *bound = NULL;
    int error = state->prepared != NULL && is_same(&state->operation, operation)
                    ? MXP_OK
                    : prepare(state, operation, count, inputs);
    if (error == MXP_OK) {
        const mxn_binding binding = {.inputs = inputs, .outputs = &inputs[0]};
        error = mxn_bind(state->prepared, &binding, &bound);
    }
    return error == MXP_OK ? mxn_bound_push(bound, 0) : error;
}

// ---- an update ---------------------------------------------------------------------------------
static mxn_kv_step next_step(mxn_kv_updater *updater, mxn_kv_state *state)
{
    const mxn_kv_optimizer *optimizer = updater->optimizer;
    state->updates++;
    updater->updates = state->updates > updater->updates ? state->updates : updater->updates;
    const double rate = optimizer->schedule.kind == MXN_KV_NO_SCHEDULE
                            ? optimizer->settings.lr
                            : mxn__kv_schedule_rate(&optimizer->schedule, updater->updates);
    mxn_kv_step step = {.lr = rate * state->of.lr_mult,
                        .wd = optimizer->settings.wd * state->of.wd_mult,
                        .momentum = optimizer->settings.momentum,
                        .count = state->updates,
                        .mixed = state->is_mixed && optimizer->rule->knows_copies};
    if (optimizer->rule->is_lars) {
        step.momentum = mxn__kv_layered_momentum(&updater->layered, &optimizer->settings, rate,
                                                 updater->updates);
    }
    return step;
}

static int update(mxn_kv_updater *updater, mxn_kv_state *state, mxn_array *gradient,
                  mxn_array *weight)
{
    const mxn_kv_step step = next_step(updater, state);
    mxn_array *inputs[MXN_KV_STATES + 4] = {weight, gradient};
    uint32_t count = 2;
    for (uint32_t i = 0; i < state->count; i++) {
        inputs[count++] = state->arrays[i];
    }
    mxn_kv_operation operation;
    updater->optimizer->rule->describe(&updater->optimizer->settings, &step, &operation);
    if (!updater->optimizer->rule->is_lars) {
        return run(state, &operation, count, inputs);
    }
    mxn_array **rates = &inputs[count], **decays = &inputs[count + 1];
    int error =
        mxn__kv_layered_rates_make(&updater->optimizer->settings, &step, state->of.follows_norms,
                                   gradient, weight, rates, decays);
    error = error == MXP_OK ? run(state, &operation, count + 2, inputs) : error;
    mxn_array_release(*rates);
    mxn_array_release(*decays);
    return error;
}

int mxn__kv_updater_update(mxn_kv_updater *updater, const mxn_kv_weight *weight)
{
    mxn_kv_state *state = NULL;
    int error = get_state(updater, weight, weight->weight, &state);
    if (error != MXP_OK || state->exact == NULL) {
        return error != MXP_OK ? error : update(updater, state, weight->gradient, weight->weight);
    }
    error = mxn_array_copy(weight->gradient, state->gradient, NULL);
    error = error == MXP_OK ? update(updater, state, state->gradient, state->exact) : error;
    return error == MXP_OK ? mxn_array_copy(state->exact, weight->weight, NULL) : error;
}

// ---- states as bytes ---------------------------------------------------------------------------
static int save_state(const mxn_kv_updater *updater, const mxn_kv_state *state, mxp_strbuf *bytes)
{
    const mxn_kv_rule *rule = updater->optimizer->rule;
    mxn_kv_saved saved = {.key = state->key,
                          .updates = state->updates,
                          .copy_first = state->is_mixed && !rule->copy_last,
                          .first = state->first};
    static_assert((int)MXN_KV_SAVED_ARRAYS > (int)MXN_KV_STATES, "a state and its copy fit");
    saved.count = in_file_order(rule, state, saved.arrays);
    return mxn__kv_saved_write(&saved, bytes);
}

int mxn__kv_updater_save(mxn_kv_updater *updater, mxp_strbuf *bytes)
{
    int error = MXP_OK;
    for (const mxn_kv_state *at = updater->states.newest; error == MXP_OK && at != NULL;
         at = at->next) {
        error = at->is_made ? save_state(updater, at, bytes) : MXP_OK;
    }
    for (uint32_t i = 0; error == MXP_OK && i < updater->loaded.count; i++) {
        mxn_kv_saved *loaded = &updater->loaded.items[i];
        loaded->is_unused = mxn__kv_state_find(&updater->states, loaded->key) == NULL;
        error = loaded->is_unused ? mxn__kv_saved_write(loaded, bytes) : MXP_OK;
    }
    return error;
}

int mxn__kv_updater_load(mxn_kv_updater *updater, const void *bytes, size_t length)
{
    mxn_kv_saved_list loaded = {0};
    int error = mxn__kv_saved_read(bytes, length, &loaded);
    if (error == MXP_OK) {
        mxn__kv_states_fini(&updater->states);
        mxn__kv_saved_fini(&updater->loaded);
        updater->loaded = loaded;
        updater->updates = (uint64_t)updater->optimizer->settings.begin_num_update;
        for (uint32_t i = 0; i < loaded.count; i++) {
            const uint64_t updates = loaded.items[i].updates;
            updater->updates = updates > updater->updates ? updates : updater->updates;
        }
    }
    return error;
}
