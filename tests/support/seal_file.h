// SPDX-License-Identifier: Apache-2.0
// For fuzzers of native files: what stands between the bytes and what is tried on them.
#ifndef SEAL_FILE_H
#define SEAL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "profiler/trace/source.h"

// Makes the checksums right, as far as the sections can be followed.
void seal_file(uint8_t *data, size_t size);

// Calls `use` with such a copy of the bytes; not, if there are none.
void use_sealed_copy(const uint8_t *data, size_t size, void (*use)(const void *data, size_t size));

// Calls `use` with each process of the native file; not, if it cannot be opened.
void use_processes(const void *data, size_t size, void (*use)(mxp_source *process));

#endif
