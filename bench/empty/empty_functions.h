// SPDX-License-Identifier: Apache-2.0
// The cheapest exported functions there can be: what a call into a shared library costs.
#ifndef BENCH_EMPTY_FUNCTIONS_H
#define BENCH_EMPTY_FUNCTIONS_H

#include <stdint.h>

uint64_t bench_empty_begin(uint32_t classes, uint32_t name);
void bench_empty_end(uint32_t name, uint64_t token);

#endif
