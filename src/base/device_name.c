// SPDX-License-Identifier: Apache-2.0
// Device numbers (mxprof/format.h) to text.
#include "base/device_name.h"

#include <mxprof/format.h>
#include <stdio.h>

enum { GPUS = 64 };

void mxp__device_name(uint32_t device, char *buffer, size_t size)
{
    if (device == MXP_DEVICE_CPU_PINNED || device == MXP_DEVICE_CPU_SHARED) {
        snprintf(buffer, size, device == MXP_DEVICE_CPU_PINNED ? "cpu pinned/" : "cpu shared/");
    } else if (device < MXP_DEVICE_GPU) {
        snprintf(buffer, size, "cpu/%u", (unsigned)device);
    } else if (device < MXP_DEVICE_GPU + GPUS) {
        snprintf(buffer, size, "gpu/%u", (unsigned)(device - MXP_DEVICE_GPU));
    } else {
        snprintf(buffer, size, "device/%u", (unsigned)device);
    }
}
