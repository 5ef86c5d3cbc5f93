// SPDX-License-Identifier: Apache-2.0
// The choice of kernels by MXNET_CPU_KERNELS.
#include "runtime/op/execute/kernel_choice.h"

#include <mxprof/foreign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "runtime/op/registry/operator_state.h"
#include "runtime/parallel/thread_pool.h"

#ifdef MXN_WITH_DNNL
static const mxn_kernel_table *const tables[MXN_KERNEL_KINDS] = {
    [MXN_KERNEL_OWN] = &mxn__kernels_own, [MXN_KERNEL_DNNL] = &mxn__kernels_dnnl};
#else
static const mxn_kernel_table *const tables[MXN_KERNEL_KINDS] = {[MXN_KERNEL_OWN] =
                                                                     &mxn__kernels_own};
#endif

static const char *const words[] = {"ref", "own", "dnnl", "auto", NULL};
enum {
    AUTO = MXN_KERNEL_KINDS,
    CHOICES,
    NOT_READ = -1,
    BAD_VALUE = -2,
    NOT_BUILT = -3,
    BAD_THREADS = -4
};

// Kinds in the order in which they are asked; the reference ends each list.
static const uint8_t orders[CHOICES][MXN_KERNEL_KINDS] = {
    [MXN_KERNEL_REF] = {MXN_KERNEL_REF},
    [MXN_KERNEL_OWN] = {MXN_KERNEL_OWN, MXN_KERNEL_REF},
    [MXN_KERNEL_DNNL] = {MXN_KERNEL_DNNL, MXN_KERNEL_OWN, MXN_KERNEL_REF},
    [AUTO] = {MXN_KERNEL_OWN, MXN_KERNEL_DNNL, MXN_KERNEL_REF},
};

static MXP_ATOMIC(int) choice = {NOT_READ};  // the answer is the same whoever reads it first

const mxn_kernel_entry *mxn__kernel_find(int kind, const char *op)
{
    const mxn_kernel_table *table = tables[kind];
    for (uint32_t i = 0; table != NULL && i < table->count; i++) {
        if (strcmp(table->entries[i].op, op) == 0) {
            return &table->entries[i];
        }
    }
    return NULL;
}

const mxn_kernel_table *mxn__kernel_table(int kind)
{
    return tables[kind];
}

static bool is_on(const char *variable)
{
    const char *text = getenv(variable);
    return text != NULL && *text != '\0' && strcmp(text, "0") != 0;
}

// Who asks for the library's log wants to see the library at work.
static int read_auto(void)
{
    bool logs = is_on("ONEDNN_VERBOSE") || is_on("DNNL_VERBOSE");
    return logs && tables[MXN_KERNEL_DNNL] != NULL ? MXN_KERNEL_DNNL : AUTO;
}

static int read_choice(void)
{
    const char *text = getenv("MXNET_CPU_KERNELS");
    if (text == NULL || *text == '\0') {
        return read_auto();
    }
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            bool built = i == AUTO || i == MXN_KERNEL_REF || tables[i] != NULL;
            return i == AUTO ? read_auto() : built ? i : NOT_BUILT;
        }
    }
    return BAD_VALUE;
}

// For outputs of the profiler, by which runs are compared: those that are asked, in that order.
static void note(int chosen)
{
    static const char *const names[MXN_KERNEL_KINDS] = {
        [MXN_KERNEL_REF] = "reference", [MXN_KERNEL_OWN] = "own", [MXN_KERNEL_DNNL] = "oneDNN"};
    char text[64];
    size_t length = 0;
    for (const uint8_t *kind = orders[chosen]; *kind != MXN_KERNEL_REF; kind++) {
        if (tables[*kind] != NULL) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s, ", names[*kind]);
        }
    }
    snprintf(text + length, sizeof text - length, "%s", names[MXN_KERNEL_REF]);
    (void)mxp_info("kernels", text);  // without memory the line is missing
}

static int choice_now(void)
{
    int chosen = mxp_atomic_load(&choice);
    if (chosen == NOT_READ) {
        chosen = mxn_thread_pool_check() == 0 ? read_choice() : BAD_THREADS;
        mxp_atomic_store(&choice, chosen);
        if (chosen >= 0) {
            note(chosen);
        }
    }
    return chosen;
}

int mxn_kernels_check(void)
{
    int chosen = choice_now();
    if (chosen >= 0) {
        return 0;
    }
    if (chosen == BAD_THREADS) {
        return mxn_thread_pool_check();
    }
    const char *text = getenv("MXNET_CPU_KERNELS");
    return mxp__fail(MXP_EVALUE, "MXNET_CPU_KERNELS=%.40s: %s", text == NULL ? "" : text,
                     chosen == NOT_BUILT ? "this build has no such kernels; use auto, own or ref"
                                         : "use auto, dnnl, own or ref");
}

bool mxn__kernel_library_follows(const mxn_job *job)
{
    const mxn_kernel_entry *entry = job->params->op->state->kernels[MXN_KERNEL_DNNL];
    return choice_now() == AUTO && entry != NULL && entry->takes(job);
}

// As records call them.
static const uint8_t families[MXN_KERNEL_KINDS] = {[MXN_KERNEL_REF] = MXP_KERNEL_REFERENCE,
                                                   [MXN_KERNEL_OWN] = MXP_KERNEL_OWN,
                                                   [MXN_KERNEL_DNNL] = MXP_KERNEL_ONEDNN};

int mxn__kernel_choose(const mxn_job *job, mxn_kernel_choice *chosen)
{
    int error = mxn_kernels_check();
    if (error != 0) {
        return error;
    }
    const mxn_op *op = job->params->op;
    chosen->threads = (op->flags & MXN_OP_PARALLEL) != 0 ? mxn__threads_most() : 0;
    for (const uint8_t *kind = orders[choice_now()]; *kind != MXN_KERNEL_REF; kind++) {
        const mxn_kernel_entry *entry = op->state->kernels[*kind];
        if (entry != NULL && entry->takes(job)) {
            if (*kind == MXN_KERNEL_DNNL) {
                chosen->threads = mxn__threads_most();
            }
            chosen->run = entry->run;
            chosen->family = families[*kind];
            chosen->workspace_bytes = entry->workspace != NULL ? entry->workspace(job) : 0;
            return 0;
        }
    }
    chosen->run = op->def->forward;
    chosen->family = MXP_KERNEL_REFERENCE;
    chosen->workspace_bytes = op->def->workspace != NULL ? op->def->workspace(job) : 0;
    return 0;
}

bool mxn__kernels_want_workspace(const mxn_op *op)
{
    int chosen = choice_now();
    for (const uint8_t *kind = orders[chosen < 0 ? MXN_KERNEL_REF : chosen];
         *kind != MXN_KERNEL_REF; kind++) {
        const mxn_kernel_entry *entry = op->state->kernels[*kind];
        if (entry != NULL && entry->workspace != NULL) {
            return true;
        }
    }
    return op->def->workspace != NULL;
}
