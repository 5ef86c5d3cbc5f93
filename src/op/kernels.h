// SPDX-License-Identifier: Apache-2.0
// Runs the kernel that MXNET_CPU_KERNELS chooses. Private to op/. The plain C reference stands in
// the declaration of the operator; other kinds are asked first, in kernels.c, and may decline a
// job.
#ifndef MXN_OP_KERNELS_H
#define MXN_OP_KERNELS_H

#include "op/define.h"

int mxn__kernel_run(mxn_job *job);

#endif
