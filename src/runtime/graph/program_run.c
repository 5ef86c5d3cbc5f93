// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/program_run.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/strbuf.h"

// ---- memory -----------------------------------------------------------------------------------
// Memory is called after who has it first.
static mxn_tag tag_of(const mxn_program *p, uint32_t slot)
{
    mxn_tag tag = {mxp_string("planned"), mxp_scope_current(), MXN_MEMORY_OUTPUT};
    for (size_t i = 0; i < p->step_count; i++) {
        for (uint32_t k = 0; k < p->steps[i].params->output_count; k++) {
            const uint32_t id = mxn__step_outputs(p, i)[k];
            if (id != MXN_NO_VALUE && p->values[id].kind == MXN_VALUE_OWN &&
                p->tenants[p->values[id].tenant].slot == slot) {
                tag.name = mxp_string(p->steps[i].params->op->name);
                return tag;
            }
        }
    }
    return tag;
}

static int make_slot(const mxn_program *p, mxn_context context, uint32_t slot, mxn_array **made)
{
    const mxn_tag tag = tag_of(p, slot);
    mxn_shape shape = {.ndim = 1};
    shape.dims[0] = (int64_t)p->slots.bytes[slot];
    return mxn_array_new(&shape, MXN_UINT8, context, &tag, true, made);
}

static int make_slots(mxn_program_run *run, mxn_context context, const mxn_program_run *below)
{
    const mxn_program *p = run->program;
    int error = MXP_OK;
    for (uint32_t i = 0; i < p->slots.count && error == MXP_OK; i++) {
        if (below != NULL && i < below->program->slots.count) {
            run->slots[i] = below->slots[i];
            mxn_array_retain(run->slots[i]);
        } else {
            error = make_slot(p, context, i, &run->slots[i]);
        }
    }
    return error;
}

static int make_values(mxn_program_run *run)
{
    const mxn_program *p = run->program;
    int error = MXP_OK;
    for (size_t i = 0; i < p->value_count && error == MXP_OK; i++) {
        const mxn_program_value *value = &p->values[i];
        run->is_still[i] = true;
        if (value->kind == MXN_VALUE_OWN) {
            mxn_array *slot = run->slots[p->tenants[value->tenant].slot];
            error = mxn_array_view(slot, &value->shape, value->dtype, &run->values[i]);
        }
    }
    return error;
}

int mxn__program_run_init(const mxn_program *program, mxn_context context,
                          const mxn_program_run *below, mxn_program_run *run)
{
    *run = (mxn_program_run){.program = program};
    run->slots = mxp__alloc(program->slots.count * sizeof *run->slots + 1);
    run->values = mxp__alloc(program->value_count * sizeof *run->values + 1);
    run->is_still = mxp__alloc(program->value_count + 1);
    int error = run->slots != NULL && run->values != NULL && run->is_still != NULL
                    ? make_slots(run, context, below)
                    : mxp__fail_memory("a prepared graph");
    if (error == MXP_OK) {
        error = make_values(run);
    }
    if (error != MXP_OK) {
        mxn__program_run_fini(run);
    }
    return error;
}

static void drop_segments(mxn_program_run *run)
{
    for (size_t i = 0; i < run->segment_count; i++) {
        mxn_bulk_template_free(run->segments[i].bulk);
    }
    run->segment_count = 0;
    run->thread = 0;
}

void mxn__program_run_fini(mxn_program_run *run)
{
    const mxn_program *p = run->program;
    if (p == NULL) {
        return;
    }
    drop_segments(run);
    for (size_t i = 0; run->values != NULL && i < p->value_count; i++) {
        mxn_array_release(run->values[i]);
    }
    for (size_t i = 0; run->slots != NULL && i < p->slots.count; i++) {
        mxn_array_release(run->slots[i]);
    }
    mxp__free(run->values, p->value_count * sizeof *run->values + 1);
    mxp__free(run->slots, p->slots.count * sizeof *run->slots + 1);
    mxp__free(run->is_still, p->value_count + 1);
    mxp__free(run->segments, run->segment_capacity * sizeof *run->segments);
    *run = (mxn_program_run){0};
}

// ---- bound values -----------------------------------------------------------------------------
static bool is_same_memory(const mxn_array *a, const mxn_array *b)
{
    return a != NULL && a->buffer == b->buffer && a->offset_bytes == b->offset_bytes;
}

int mxn__program_run_give(mxn_program_run *run, uint32_t value, mxn_array *array, bool is_still)
{
    mxn_array **held = &run->values[value];
    if (is_same_memory(*held, array)) {
        return MXP_OK;
    }
    // Once it has moved it may move again.
    if (run->is_still[value] && (!is_still || *held != NULL)) {
        run->is_still[value] = false;
        drop_segments(run);
    }
    mxn_array_release(*held);
    *held = NULL;
    return mxn_array_detach(array, held);
}

void mxn__program_run_let_go(mxn_program_run *run, bool keeps)
{
    const mxn_program *p = run->program;
    for (size_t i = 0; i < p->value_count; i++) {
        if (!run->is_still[i] && !(keeps && p->values[i].is_kept)) {
            mxn_array_release(run->values[i]);
            run->values[i] = NULL;
        }
    }
}

// ---- one step ---------------------------------------------------------------------------------
// `arrays`: space for the operands.
static int bind_with(const mxn_program_run *run, size_t step, mxn_array **arrays, mxn_bound **bound)
{
    const mxn_program_step *s = &run->program->steps[step];
    const uint32_t *operands = mxn__step_inputs(run->program, step);
    const uint32_t inputs = s->params->input_count, all = inputs + s->params->output_count;
    for (uint32_t i = 0; i < all; i++) {
        arrays[i] = operands[i] == MXN_NO_VALUE ? NULL : run->values[operands[i]];
        assert((i >= inputs || arrays[i] != NULL) && "a value is there before it is taken");
    }
    const mxn_binding binding = {
        .inputs = arrays, .outputs = arrays + inputs, .scope = s->scope, .node = s->name};
    int error = mxn_bind(s->call, &binding, bound);
    return error != MXP_OK && s->node != NULL ? mxn__graph_node_fail(s->node, error) : error;
}

static int bind_fusion(const mxn_program_run *run, const mxn_program_step *step, mxn_work *work,
                       bool is_static)
{
    const mxn_program *p = run->program;
    mxn_array **arrays = mxp__alloc(step->fused_count * sizeof *arrays);
    if (arrays == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    for (uint32_t i = 0; i < step->fused_count; i++) {
        arrays[i] = run->values[p->fused[step->first_fused + i]];
    }
    int error = mxn_fusion_bind(step->fusion, arrays, work);
    mxp__free(arrays, step->fused_count * sizeof *arrays);
    if (error == MXP_OK) {
        work->flags |= is_static ? MXN_WORK_SYMBOLIC : 0;
    }
    return error;
}

// Whether one of the steps that run with `step` takes values of the array's memory.
static bool is_taken(const mxn_program_run *run, size_t step, const mxn_array *array)
{
    const mxn_program *p = run->program;
    bool taken = false;
    for (size_t k = step; k < step + p->steps[step].run_count; k++) {
        const uint32_t *inputs = mxn__step_inputs(p, k);
        for (uint32_t i = 0; i < p->steps[k].params->input_count && !taken; i++) {
            taken = inputs[i] != MXN_NO_VALUE && run->values[inputs[i]] != NULL &&
                    mxn_array_shares(run->values[inputs[i]], array);
        }
    }
    return taken;
}

// Whether `step`, or one that runs with it, writes this value wholly, and nothing of what was in
// its memory is taken.
static bool is_overwritten(const mxn_program_run *run, size_t step, size_t writer, uint32_t id)
{
    const mxn_program *p = run->program;
    if (id == MXN_NO_VALUE || p->values[id].kind != MXN_VALUE_GRADIENT) {
        return id != MXN_NO_VALUE && p->values[id].is_first;
    }
    return !mxn_prepared_adds(p->steps[writer].call) && mxn_array_is_whole(run->values[id]) &&
           !is_taken(run, step, run->values[id]);
}

// Slots are used again by the next step and the next call, and gradients by the next backward: an
// error of who had one before is not theirs. See mxn_work.
static uint64_t overwrites_of(const mxn_program_run *run, size_t step, const mxn_work *work)
{
    enum { BITS = 64 };
    const mxn_program *p = run->program;
    uint64_t found = 0;
    for (size_t k = step; k < step + p->steps[step].run_count; k++) {
        for (uint32_t i = 0; i < p->steps[k].params->output_count; i++) {
            const uint32_t id = mxn__step_outputs(p, k)[i];
            const bool is_new = is_overwritten(run, step, k, id);
            const mxn_var *var = is_new ? mxn_array_var(run->values[id]) : NULL;
            for (uint32_t w = 0; var != NULL && w < work->write_count && w < BITS; w++) {
                found |= (uint64_t)(work->writes[w] == var) << w;
            }
        }
    }
    return found;
}

static int bind_alone(const mxn_program_run *run, size_t step, mxn_work *work, bool is_static)
{
    if (run->program->steps[step].fusion != NULL) {
        return bind_fusion(run, &run->program->steps[step], work, is_static);
    }
    enum { FEW = 16 };
    const mxn_params *params = run->program->steps[step].params;
    const size_t count = (size_t)params->input_count + params->output_count;
    mxn_array *few[FEW];
    mxn_array **arrays = count <= FEW ? few : mxp__alloc(count * sizeof *arrays);
    if (arrays == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    mxn_bound *bound = NULL;
    int error = bind_with(run, step, arrays, &bound);
    if (arrays != few) {
        mxp__free(arrays, count * sizeof *arrays);
    }
    if (error == MXP_OK) {
        mxn_bound_work(bound, work);
        work->flags |= is_static ? MXN_WORK_SYMBOLIC : 0;
    }
    return error;
}

static int bind_step(const mxn_program_run *run, size_t step, mxn_work *work, bool is_static)
{
    int error = bind_alone(run, step, work, is_static);
    if (error == MXP_OK) {
        work->overwrites = overwrites_of(run, step, work);
    }
    return error;
}

static int push_step(const mxn_program_run *run, const mxn_segment *segment,
                     const mxn_program_push *push)
{
    mxn_work work;
    int error = bind_step(run, segment->first, &work, segment->is_still);
    work.push_ticks = push->push_ticks;
    return error != MXP_OK ? error : mxn_push(&work);
}

// ---- segments ---------------------------------------------------------------------------------
// Of a step and those that run with it.
static bool step_is_still(const mxn_program_run *run, size_t step)
{
    const mxn_program *p = run->program;
    bool is_still = true;
    for (size_t k = step; k < step + p->steps[step].run_count; k++) {
        const mxn_params *params = p->steps[k].params;
        const uint32_t *operands = mxn__step_inputs(p, k);
        for (uint32_t i = 0; i < params->input_count + params->output_count; i++) {
            is_still = is_still && (operands[i] == MXN_NO_VALUE || run->is_still[operands[i]]);
        }
    }
    return is_still;
}

// "[FullyConnected{name=fc1},Activation{name=relu1}]": what the record of the bulk is called.
static mxp_name name_of(const mxn_program *p, const mxn_segment *segment)
{
    mxp_strbuf text = {0};
    for (uint32_t i = 0; i < segment->count; i++) {
        const mxn_program_step *step = &p->steps[segment->first + i];
        mxp__strbuf_printf(&text, "%s%s", i == 0 ? "[" : ",", step->params->op->name);
        if (step->node != NULL) {
            mxp__strbuf_printf(&text, "{name=%s}", step->node->name);
        }
    }
    mxp__strbuf_printf(&text, "]");
    const mxp_name name = mxp_span_name("operator", mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    return name;
}

static int make_template(const mxn_program_run *run, mxn_segment *segment)
{
    mxn_work *works = mxp__alloc(segment->count * sizeof *works);
    if (works == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    int error = MXP_OK;
    uint32_t made = 0;
    for (uint32_t step = 0; step < segment->count && error == MXP_OK; made++) {
        error = bind_step(run, segment->first + step, &works[made], true);
        step += run->program->steps[segment->first + step].run_count;
    }
    if (error == MXP_OK) {
        error = mxn_bulk_template_make(works, made, &segment->bulk);
    } else {
        for (uint32_t i = 0; i + 1 < made; i++) {
            works[i].deleter(works[i].argument);
        }
    }
    if (error == MXP_OK) {
        mxn_bulk_template_name(segment->bulk, name_of(run->program, segment));
    }
    mxp__free(works, segment->count * sizeof *works);
    return error;
}

static int add_segment(mxn_program_run *run, mxn_segment segment, bool as_template)
{
    if (run->segment_count == run->segment_capacity &&
        mxp__grow(&run->segments, &run->segment_capacity, run->segment_count + 1,
                  sizeof *run->segments) != MXP_OK) {
        return mxp__fail_memory("a prepared graph");
    }
    int error = as_template ? make_template(run, &segment) : MXP_OK;
    if (error == MXP_OK) {
        run->segments[run->segment_count++] = segment;
    }
    return error;
}

// Steps in a row on still memory, up to the size of a bulk, are one segment.
static int make_segments(mxn_program_run *run, const mxn_program_push *push)
{
    const mxn_program_step *of = run->program->steps;
    const uint32_t steps = (uint32_t)run->program->step_count;
    const bool templates = push->segment_size > 0;
    int error = MXP_OK;
    for (uint32_t first = 0, end; first < steps && error == MXP_OK; first = end) {
        const bool is_still = push->is_static && step_is_still(run, first);
        end = first + of[first].run_count;
        while (is_still && end < steps && end - first < push->segment_size &&
               step_is_still(run, end)) {
            end += of[end].run_count;
        }
        error = add_segment(
            run, (mxn_segment){.first = first, .count = end - first, .is_still = is_still},
            is_still && templates);
    }
    return error;
}

// Never 0, and never that of another thread.
static uint64_t this_thread(void)
{
    static mxp_atomic_u64 last;
    static _Thread_local uint64_t mine;
    if (mine == 0) {
        mine = mxp_atomic_add(&last, 1) + 1;
    }
    return mine;
}

static int update_segments(mxn_program_run *run, const mxn_program_push *push)
{
    const uint64_t thread = this_thread();
    if (run->thread == thread && run->segment_size == push->segment_size) {
        return MXP_OK;
    }
    drop_segments(run);
    int error = make_segments(run, push);
    if (error != MXP_OK) {
        drop_segments(run);
        return error;
    }
    run->thread = thread;
    run->segment_size = push->segment_size;
    return MXP_OK;
}

int mxn__program_run_push(mxn_program_run *run, const mxn_program_push *push)
{
    int error = update_segments(run, push);
    for (size_t i = 0; i < run->segment_count && error == MXP_OK; i++) {
        const mxn_segment *segment = &run->segments[i];
        error = segment->bulk != NULL ? mxn_bulk_template_push(segment->bulk, NULL, NULL, NULL)
                                      : push_step(run, segment, push);
    }
    return error;
}
