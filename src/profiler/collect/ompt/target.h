// SPDX-License-Identifier: Apache-2.0
// What is done on devices, as seen by the threads that ask for it: regions, copies, kernels handed
// over. Runtimes without a device tell nothing of it.
#ifndef MXP_COLLECT_OMPT_TARGET_H
#define MXP_COLLECT_OMPT_TARGET_H

#include <stddef.h>

#include "profiler/collect/ompt/ompt_abi.h"

void mxp__ompt_target(int kind, int endpoint, int device, ompt_data *task, ompt_data *target_task,
                      ompt_data *target, const void *return_address);
void mxp__ompt_target_data(int endpoint, ompt_data *target_task, ompt_data *target,
                           uint64_t *operation, int kind, void *from, int from_device, void *to,
                           int to_device, size_t size_bytes, const void *return_address);
void mxp__ompt_target_submit(int endpoint, ompt_data *target, uint64_t *operation, unsigned teams);

#endif
