// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for the page's policy, which names the script and the style by it.
#ifndef MXP_TOOLS_SHA256_H
#define MXP_TOOLS_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { MXP_SHA256_BYTES = 32 };
void mxp__sha256(const void *data, size_t size_bytes, uint8_t digest[MXP_SHA256_BYTES]);

#endif
