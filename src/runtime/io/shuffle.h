// SPDX-License-Identifier: Apache-2.0
// The orders in which MXNet's lines shuffle: std::shuffle of the compilers they were built with, by
// a Mersenne generator. Private to io/.
#ifndef MXN_IO_SHUFFLE_H
#define MXN_IO_SHUFFLE_H

#include <stdint.h>

enum { MXN_ORDER_1_9 = 0, MXN_ORDER_2_0 = 1 };

void mxn__shuffle(uint64_t *list, uint64_t count, uint32_t seed, int order);

#endif
