// SPDX-License-Identifier: Apache-2.0
// The names of devices in profiles: the one place that spells them.
#ifndef MXP_BASE_DEVICE_NAME_H
#define MXP_BASE_DEVICE_NAME_H

#include <stddef.h>
#include <stdint.h>

enum { MXP__DEVICE_NAME_CHARS = 24 };

// Writes the name of a record's device number: "cpu/0", "gpu/0", "cpu pinned/", "cpu shared/", or
// "device/N" for an unknown number. At most `size` bytes with the zero.
void mxp__device_name(uint32_t device, char *buffer, size_t size);

#endif
