// SPDX-License-Identifier: Apache-2.0
// For fuzzers: makes the checksums of a native file right, as far as its sections can be followed.
#ifndef SEAL_FILE_H
#define SEAL_FILE_H

#include <stddef.h>
#include <stdint.h>

void seal_file(uint8_t *data, size_t size);

#endif
