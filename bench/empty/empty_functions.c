// SPDX-License-Identifier: Apache-2.0
// Lives in a shared library of its own, so that calls go through the procedure linkage table.
#include "empty/empty_functions.h"

uint64_t bench_empty_begin(uint32_t classes, uint32_t name)
{
    (void)classes;
    (void)name;
    return 0;
}

void bench_empty_end(uint32_t name, uint64_t token)
{
    (void)name;
    (void)token;
}
