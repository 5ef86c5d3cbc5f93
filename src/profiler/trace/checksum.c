// SPDX-License-Identifier: Apache-2.0
// The checksum of file sections. It finds damage, not malice. The algorithm (all arithmetic modulo
// 2^64, rotl = rotate left, words = 8 bytes read as little-endian numbers on every machine):
//
//   K0 = 0x9e3779b97f4a7c15   K1 = 0xd1b54a32d192ed03
//   1. lane[i] = K0 * (i + 1) for i = 0..3.
//   2. The data is taken in stripes of 32 bytes, the last one filled up with zeros.
//      For word i = 0..3 of each stripe:  lane[i] = rotl(lane[i] ^ word * K0, 29) * K1.
//   3. h = (length of the data in bytes, without the filling) * K0.
//      For i = 0..3:    h = rotl(h ^ (lane[i] ^ lane[i] >> 32) * K0, 27) * K1.
//   4. h = (h ^ h >> 32) * K0;  the checksum is h ^ h >> 29.
//
// Each step is one-to-one in the lane and in the word, so damage within a single word of the data
// is always found, and any other is missed about once in 2^64. The word is multiplied before it
// meets the lane: otherwise a flipped bit 34 would leave a difference in bit 63 alone, which
// another flipped bit of the next stripe takes back. The four lanes do not wait for one another:
// about 8 cycles a stripe.
#include "profiler/trace/checksum.h"

#include <assert.h>
#include <string.h>

enum { STRIPE_BYTES = 32 };

static const uint64_t k0 = UINT64_C(0x9e3779b97f4a7c15);
static const uint64_t k1 = UINT64_C(0xd1b54a32d192ed03);

static inline uint64_t rotl(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static inline uint64_t read_word(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

static inline uint64_t mix(uint64_t lane, uint64_t word)
{
    return rotl(lane ^ word * k0, 29) * k1;
}

static void add_stripes(uint64_t lane[4], const unsigned char *at, size_t stripes)
{
    uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];
    for (; stripes > 0; stripes--, at += STRIPE_BYTES) {
        a = mix(a, read_word(at));
        b = mix(b, read_word(at + 8));
        c = mix(c, read_word(at + 16));
        d = mix(d, read_word(at + 24));
    }
    lane[0] = a;
    lane[1] = b;
    lane[2] = c;
    lane[3] = d;
}

void mxp__checksum_init(mxp_checksum *state)
{
    for (unsigned i = 0; i < 4; i++) {
        state->lane[i] = k0 * (i + 1);
    }
    state->length_bytes = 0;
}

void mxp__checksum_add(mxp_checksum *state, const void *data, size_t size_bytes)
{
    assert(size_bytes == 0 || state->length_bytes % STRIPE_BYTES == 0);
    const unsigned char *bytes = data;
    size_t rest = size_bytes % STRIPE_BYTES;
    add_stripes(state->lane, bytes, size_bytes / STRIPE_BYTES);
    if (rest != 0) {
        unsigned char last[STRIPE_BYTES] = {0};
        memcpy(last, bytes + (size_bytes - rest), rest);
        add_stripes(state->lane, last, 1);
    }
    state->length_bytes += size_bytes;
}

uint64_t mxp__checksum_end(const mxp_checksum *state)
{
    uint64_t h = state->length_bytes * k0;
    for (int i = 0; i < 4; i++) {
        uint64_t lane = state->lane[i];
        h = rotl(h ^ (lane ^ lane >> 32) * k0, 27) * k1;
    }
    h = (h ^ h >> 32) * k0;
    return h ^ h >> 29;
}

uint64_t mxp__checksum(const void *data, size_t size_bytes)
{
    mxp_checksum state;
    mxp__checksum_init(&state);
    mxp__checksum_add(&state, data, size_bytes);
    return mxp__checksum_end(&state);
}
