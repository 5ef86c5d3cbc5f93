// SPDX-License-Identifier: Apache-2.0
// A file in memory (tmpfs) that a bench writes again and again.
#ifndef BENCH_SCRATCH_H
#define BENCH_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>

// Whether there is a tmpfs to write to.
bool bench_scratch_exists(void);
// Its path with `extension`; one a process and extension. Static until the next call.
const char *bench_scratch_path(const char *extension);
// Removes the file. Both sides of a comparison write to a new one.
void bench_scratch_remove(const char *extension);
uint64_t bench_scratch_bytes(const char *extension);

#endif
