// SPDX-License-Identifier: Apache-2.0
// The choice of kernels by MXNET_CPU_KERNELS. The plain C reference is in the operator's
// declaration and always there.
#include "op/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static const char *const words[] = {"ref", "own", "dnnl", "auto", NULL};
enum { AUTO = MXN_KERNEL_KINDS, NOT_READ = -1, BAD_VALUE = -2, NOT_BUILT = -3 };

static int choice = NOT_READ;  // atomic; the answer is the same whoever reads it first

static int read_choice(void)
{
    const char *text = getenv("MXNET_CPU_KERNELS");
    if (text == NULL || *text == '\0') {
        return AUTO;
    }
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            return i == MXN_KERNEL_OWN || i == MXN_KERNEL_DNNL ? NOT_BUILT : i;
        }
    }
    return BAD_VALUE;
}

int mxn_kernels_check(void)
{
    int chosen = __atomic_load_n(&choice, __ATOMIC_RELAXED);
    if (chosen == NOT_READ) {
        chosen = read_choice();
        __atomic_store_n(&choice, chosen, __ATOMIC_RELAXED);
    }
    if (chosen >= 0) {
        return 0;
    }
    const char *text = getenv("MXNET_CPU_KERNELS");
    if (chosen == NOT_BUILT) {
        return mxp__fail(MXP_EVALUE,
                         "MXNET_CPU_KERNELS=%s: this build has no such kernels; use auto or ref",
                         text == NULL ? "" : text);
    }
    return mxp__fail(MXP_EVALUE, "MXNET_CPU_KERNELS=%s: use auto, dnnl, own or ref",
                     text == NULL ? "" : text);
}

int mxn__kernel_run(mxn_job *job)
{
    int error = mxn_kernels_check();
    return error != 0 ? error : job->params->op->def->forward(job);
}
