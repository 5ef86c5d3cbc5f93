// SPDX-License-Identifier: Apache-2.0
// Prefix codes as deflate has them (RFC 1951, 3.2.2): how many bits a symbol takes by how often it
// is there, and which bits.
#ifndef MXP_TOOLS_PREFIX_CODE_H
#define MXP_TOOLS_PREFIX_CODE_H

#include <stddef.h>
#include <stdint.h>

enum { MXP_PREFIX_SYMBOLS_MAX = 288, MXP_PREFIX_BITS_MAX = 15 };

// Sets the lengths of a code for symbols 0 to count - 1; 0 for those that are not there. None is
// longer than `limit` bits, which are enough for all symbols, as 15 are and 7 for 19 of them. Of
// several there are as many codes as their lengths allow; a single one has one bit. Each count is
// below 2^22.
void mxp__prefix_lengths(const uint32_t *counts, size_t count, unsigned limit, uint8_t *lengths);
// Sets the codes of these lengths, the first bit lowest, as they are written.
void mxp__prefix_codes(const uint8_t *lengths, size_t count, uint16_t *codes);

#endif
