// SPDX-License-Identifier: Apache-2.0
// An execution of a fusion has a workspace:
//
//   | addresses of values | a kernel's workspace | memory of each thread ... | copies of inputs |
//
// and in it each thread
//
//   | jobs | their operands | their shapes | pieces of inner values |     each 64-byte aligned
//
// Pointwise fusions are shared out among threads piece by piece, with kernels of one thread; others
// go through their pieces on one thread, with kernels that share out each piece.
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/name_once.h"
#include "runtime/op/execute/fused_plan.h"
#include "runtime/op/execute/kernel_choice.h"
#include "runtime/parallel/thread_pool.h"

// ---- one piece --------------------------------------------------------------------------------
typedef struct execution {
    const mxn_fused *fused;
    const mxn_buffer_ref *memory_of;  // of each value
    char **values;  // addresses
    char *kernel_memory;
    uint64_t kernel_bytes;
    char *memory;  // of all threads
    mxp_atomic_u32 failed;  // a part has, in this thread or in another
} execution;

static void place(const mxn_fused_worker *w, const execution *e, int64_t piece)
{
    for (uint32_t i = 0; i < w->fused->operand_count; i++) {
        const uint32_t id = w->fused->operands[i];
        if (id == MXN_FUSED_NONE) {
            continue;
        }
        const mxn_cut_value *value = &w->fused->values[id];
        const uint64_t offset = (uint64_t)(piece * w->fused->piece) * value->unit_bytes;
        mxn_operand *operand = &w->operands[i];
        if (value->kind == MXN_FUSED_INNER) {
            operand->data = w->inner + value->inner_at;
        } else {
            operand->data = e->values[id] + offset;
            operand->memory = e->memory_of[id];
            operand->memory.offset_bytes += offset;
        }
    }
}

// One that was not foreseen, because the number of threads is another now, is allocated.
static int run_kernel(const execution *e, mxn_job *job, const mxn_kernel_choice *kernel)
{
    const uint64_t bytes = kernel->workspace_bytes;
    void *own = bytes > e->kernel_bytes ? mxp__alloc(bytes) : NULL;
    if (bytes > e->kernel_bytes && own == NULL) {
        return mxp__fail_memory("a fused operator");
    }
    job->workspace = own != NULL ? own : e->kernel_memory;
    int error = kernel->run(job);
    mxp__free(own, bytes);
    return error;
}

static int run_call(const execution *e, mxn_job *job, const mxn_kernel_choice *chosen)
{
    mxn_kernel_choice kernel = *chosen;
    int error = MXP_OK;
    if (kernel.run == NULL || (kernel.threads != 0 && kernel.threads != mxn__threads_most())) {
        error = mxn__kernel_choose(job, &kernel);
    }
    return error == MXP_OK ? run_kernel(e, job, &kernel) : error;
}

static int run_piece(const execution *e, mxn_fused_worker *w, int64_t piece)
{
    static const mxn_kernel_choice none;
    const mxn_fused *f = w->fused;
    const int64_t left = f->units - piece * f->piece, units = left < f->piece ? left : f->piece;
    int error = MXP_OK;
    mxn__fused_worker_units(w, units);
    place(w, e, piece);
    for (uint32_t i = 0; i < f->call_count && error == MXP_OK; i++) {
        error = run_call(e, &w->jobs[i], units == f->piece ? &f->calls[i].kernel : &none);
    }
    return error;
}

static int run_pieces(execution *e, int index, int threads, bool parallel)
{
    const mxn_fused *f = e->fused;
    mxn_fused_worker w;
    mxn__fused_worker_init(&w, f, e->memory + (uint64_t)index * f->thread_bytes);
    for (uint32_t i = 0; i < f->call_count; i++) {
        w.jobs[i].parallel = parallel;
    }
    const int64_t end = mxn__part_begin(f->pieces, index + 1, threads);
    int error = MXP_OK;
    for (int64_t i = mxn__part_begin(f->pieces, index, threads); i < end && error == MXP_OK; i++) {
        error = run_piece(e, &w, i);
    }
    return error;
}

static void run_part(void *argument, int index, int threads)
{
    execution *e = argument;
    mxn__threads_enter(false);
    if (run_pieces(e, index, threads, false) != MXP_OK) {
        mxp_atomic_store(&e->failed, 1u);
    }
}

// ---- an execution -----------------------------------------------------------------------------
static uint64_t kernel_bytes(const mxn_fused *f)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < f->call_count; i++) {
        const uint64_t bytes = f->calls[i].kernel.workspace_bytes;
        most = bytes > most ? bytes : most;
    }
    return mxn__fused_aligned(most);
}

static int threads_for(const mxn_fused *f)
{
    if (!f->is_pointwise || kernel_bytes(f) != 0) {
        return 1;
    }
    const int threads = mxn__threads_for((double)f->units * f->call_count);
    return threads < f->pieces ? threads : (int)f->pieces;
}

static int run_all(execution *e, int threads, const mxn_run *run)
{
    if (threads <= 1) {
        return run_pieces(e, 0, 1, run->parallel);
    }
    mxn__parallel_run(threads, run_part, e);
    mxn__threads_enter(run->parallel);
    return mxp_atomic_load(&e->failed) == 0
               ? MXP_OK
               : mxp__fail(MXP_EINVAL, "a fused operator has failed on one of its threads");
}

static uint64_t copied_bytes(const mxn_fused_job *job, uint32_t id)
{
    const mxn_cut_value *value = &job->fused->values[id];
    return job->copies && value->kind != MXN_FUSED_INNER && !value->is_written
               ? mxn__fused_aligned(value->bytes)
               : 0;
}

static uint64_t all_bytes(const mxn_fused_job *job, int threads)
{
    const mxn_fused *f = job->fused;
    uint64_t bytes = mxn__fused_aligned(f->value_count * sizeof(char *)) + kernel_bytes(f) +
                     (uint64_t)threads * f->thread_bytes;
    for (uint32_t i = 0; i < f->value_count; i++) {
        bytes += copied_bytes(job, i);
    }
    return bytes;
}

static int find_addresses(const mxn_fused_job *job, char **values, char *copies)
{
    int error = MXP_OK;
    for (uint32_t i = 0; i < job->fused->value_count && error == MXP_OK; i++) {
        void *data = NULL;
        if (job->fused->values[i].kind != MXN_FUSED_INNER) {
            error = mxn_buffer_data(&job->values[i], &data);
        }
        values[i] = data;
        const uint64_t copied = copied_bytes(job, i);
        if (copied != 0 && error == MXP_OK) {
            values[i] = memcpy(copies, data, job->fused->values[i].bytes);
            copies += copied;
        }
    }
    return error;
}

static int execute(const mxn_fused_job *job, const mxn_run *run, execution *e, int threads)
{
    static mxp_atomic_u32 cache;
    const mxn_fused *f = job->fused;
    void *memory;
    int error =
        mxn_workspace_take(job->workspace, all_bytes(job, threads),
                           mxp__string_once(&cache, "temp_space (fused operators)"), &memory);
    if (error != MXP_OK) {
        return error;
    }
    e->values = memory;
    e->kernel_memory = (char *)memory + mxn__fused_aligned(f->value_count * sizeof *e->values);
    e->kernel_bytes = kernel_bytes(f);
    e->memory = e->kernel_memory + e->kernel_bytes;
    error = find_addresses(job, e->values, e->memory + (uint64_t)threads * f->thread_bytes);
    return error != MXP_OK ? error : run_all(e, threads, run);
}

int mxn_fused_execute(const mxn_fused_job *job, const mxn_run *run)
{
    if (job->fused->units <= 0) {
        return MXP_OK;
    }
    mxn__threads_enter(run->parallel);
    execution e = {.fused = job->fused, .memory_of = job->values};
    return execute(job, run, &e, threads_for(job->fused));
}
