// SPDX-License-Identifier: Apache-2.0
// See deflate_runs.h. What is written is a row of tokens: a byte, or so many more of the byte
// before. Tokens are found and counted once; then each is looked up with all its bits.
#include "compression/deflate_runs.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "compression/prefix_code.h"

enum {
    BLOCK_TOKENS = 1 << 15,
    RUN_LEAST = 3,
    RUN_MOST = 258,
    TOKENS = 256 + RUN_MOST - RUN_LEAST + 1,  // a byte, or 256 and what a run is longer than 3
    END_SYMBOL = 256,
    SYMBOLS = 286,
    STORED_BYTES_MAX = 65535,
    STORED_BITS = 40,  // that a block as it is takes besides
    SAME = 16,
    FEW_ZEROS,
    MANY_ZEROS,
    TOLD_SYMBOLS
};

typedef struct token_bits {
    uint32_t bits;
    uint32_t count;
} token_bits;

// How codes are told: lengths by a code of their own, zeros and equal ones by how many there are.
typedef struct told_lengths {
    uint8_t symbols[SYMBOLS + 1], extras[SYMBOLS + 1];
    size_t count;
    uint8_t lengths[TOLD_SYMBOLS];
    uint16_t codes[TOLD_SYMBOLS];
} told_lengths;

typedef struct block {
    uint16_t tokens[BLOCK_TOKENS];
    size_t count;
    size_t size_bytes;  // that they stand for
    uint32_t counts[TOKENS];  // by token
    uint8_t lengths[SYMBOLS + 1];  // of symbols, and of the one distance
    uint16_t codes[SYMBOLS];
    token_bits of[TOKENS];
    told_lengths told;
} block;

// ---- bits --------------------------------------------------------------------------------------
static void flush(mxp_deflate_bits *out)
{
    for (unsigned i = 0; i < 8; i++) {
        out->to[i] = (uint8_t)(out->bits >> (8 * i));
    }
    out->to += out->count >> 3;
    out->bits >>= out->count & ~7u;
    out->count &= 7;
}

// At most 32 bits.
static void put(mxp_deflate_bits *out, uint32_t bits, unsigned count)
{
    out->bits |= (uint64_t)bits << out->count;
    out->count += count;
    flush(out);
}

void mxp__deflate_align(mxp_deflate_bits *out)
{
    put(out, 0, 3);  // a block as it is, not the last
    put(out, 0, out->count > 0 ? 8 - out->count : 0);
    put(out, 0xffff0000u, 32);  // of no bytes
}

void mxp__deflate_end(mxp_deflate_bits *out)
{
    put(out, 3, 10);  // the last, with the usual codes, and its end
    put(out, 0, out->count > 0 ? 8 - out->count : 0);
}

// ---- tokens ------------------------------------------------------------------------------------
// How many bytes from there on are equal, at most as many as a run has: eight at a time.
static size_t run_at(const uint8_t *at, const uint8_t *end, uint8_t byte)
{
    const uint8_t *const most = end - at < RUN_MOST ? end : at + RUN_MOST;
    const uint64_t equal = byte * UINT64_C(0x0101010101010101);
    const uint8_t *next = at;
    uint64_t eight = equal;
    while (most - next >= 8 && (memcpy(&eight, next, 8), eight == equal)) {
        next += 8;
    }
    while (next < most && *next == byte) {
        next++;
    }
    return (size_t)(next - at);
}

// Finds tokens until the block is full, and counts them.
static void take_tokens(block *self, const uint8_t *data, size_t size_bytes)
{
    const uint8_t *at = data, *const end = data + size_bytes;
    size_t count = 0;
    memset(self->counts, 0, sizeof self->counts);
    while (at < end && count + 1 < BLOCK_TOKENS) {
        const uint8_t byte = *at++;
        self->tokens[count++] = byte;
        self->counts[byte]++;
        if (end - at >= RUN_LEAST && at[0] == byte && at[1] == byte && at[2] == byte) {
            const size_t run = run_at(at, end, byte);
            const uint16_t token = (uint16_t)(256 + run - RUN_LEAST);
            self->tokens[count++] = token;
            self->counts[token]++;
            at += run;
        }
    }
    self->count = count;
    self->size_bytes = (size_t)(at - data);
}

// The symbol of a token, and what is written behind it.
static unsigned symbol_of(unsigned token, unsigned *extra, unsigned *extra_bits)
{
    const unsigned longer = token - 256;
    *extra = *extra_bits = 0;
    if (token < 256) {
        return token;
    }
    if (longer == RUN_MOST - RUN_LEAST) {
        return SYMBOLS - 1;
    }
    if (longer < 8) {
        return END_SYMBOL + 1 + longer;
    }
    while (longer >> (*extra_bits + 3) != 0) {
        ++*extra_bits;
    }
    *extra = longer & ((1u << *extra_bits) - 1);
    return END_SYMBOL + 1 + 4 * (*extra_bits + 1) + (longer >> *extra_bits & 3);
}

// ---- codes -------------------------------------------------------------------------------------
// How many bits all tokens take, with their end.
static uint64_t make_codes(block *self)
{
    uint32_t counts[SYMBOLS] = {[END_SYMBOL] = 1};
    unsigned extra, extra_bits;
    for (unsigned token = 0; token < TOKENS; token++) {
        if (self->counts[token] > 0) {
            counts[symbol_of(token, &extra, &extra_bits)] += self->counts[token];
        }
    }
    mxp__prefix_lengths(counts, SYMBOLS, MXP_PREFIX_BITS_MAX, self->lengths);
    mxp__prefix_codes(self->lengths, SYMBOLS, self->codes);
    self->lengths[SYMBOLS] = 1;  // of the distance 1, which is its symbol 0
    uint64_t bits = self->lengths[END_SYMBOL];
    for (unsigned token = 0; token < TOKENS; token++) {
        const unsigned symbol = symbol_of(token, &extra, &extra_bits);
        const unsigned length = self->lengths[symbol];
        self->of[token] = (token_bits){.bits = self->codes[symbol] | extra << length,
                                       .count = length + extra_bits + (token >= 256)};
        bits += (uint64_t)self->counts[token] * self->of[token].count;
    }
    return bits;
}

static void tell(told_lengths *told, unsigned symbol, size_t extra)
{
    told->symbols[told->count] = (uint8_t)symbol;
    told->extras[told->count++] = (uint8_t)extra;
}

// Tells `run` lengths that are equal; the first one stands for itself unless it is 0.
static void tell_run(told_lengths *told, uint8_t length, size_t run)
{
    while (length == 0 && run >= 3) {
        const size_t part = run < 138 ? run : 138;
        tell(told, part < 11 ? FEW_ZEROS : MANY_ZEROS, part - (part < 11 ? 3 : 11));
        run -= part;
    }
    for (bool is_first = true; run > 0; is_first = false) {
        const size_t part = length == 0 || is_first || run < 3 ? 1 : run < 6 ? run : 6;
        tell(told, part == 1 ? length : SAME, part == 1 ? 0 : part - 3);
        run -= part;
    }
}

static unsigned extra_bits_of(unsigned symbol)
{
    return symbol == SAME ? 2 : symbol == FEW_ZEROS ? 3 : symbol == MANY_ZEROS ? 7 : 0;
}

// How many bits that takes.
static uint64_t tell_lengths(block *self)
{
    enum { BEFORE = 3 + 5 + 5 + 4 + 3 * TOLD_SYMBOLS };
    told_lengths *told = &self->told;
    uint64_t bits = BEFORE;
    uint32_t counts[TOLD_SYMBOLS] = {0};
    told->count = 0;
    for (size_t first = 0, end; first <= SYMBOLS; first = end) {
        for (end = first + 1; end <= SYMBOLS && self->lengths[end] == self->lengths[first]; end++) {
        }
        tell_run(told, self->lengths[first], end - first);
    }
    for (size_t i = 0; i < told->count; i++) {
        counts[told->symbols[i]]++;
    }
    mxp__prefix_lengths(counts, TOLD_SYMBOLS, 7, told->lengths);
    mxp__prefix_codes(told->lengths, TOLD_SYMBOLS, told->codes);
    for (unsigned symbol = 0; symbol < TOLD_SYMBOLS; symbol++) {
        bits += (uint64_t)counts[symbol] * (told->lengths[symbol] + extra_bits_of(symbol));
    }
    return bits;
}

static void put_lengths(mxp_deflate_bits *out, const told_lengths *told)
{
    static const uint8_t order[TOLD_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    put(out, SYMBOLS - 257, 5);
    put(out, 0, 5);  // one distance
    put(out, TOLD_SYMBOLS - 4, 4);
    for (size_t i = 0; i < TOLD_SYMBOLS; i++) {
        put(out, told->lengths[order[i]], 3);
    }
    for (size_t i = 0; i < told->count; i++) {
        const unsigned symbol = told->symbols[i];
        put(out, told->codes[symbol], told->lengths[symbol]);
        put(out, told->extras[i], extra_bits_of(symbol));
    }
}

// ---- blocks ------------------------------------------------------------------------------------
static void put_coded(mxp_deflate_bits *out, const block *self)
{
    mxp_deflate_bits at = *out;
    put(&at, 4, 3);  // not the last, with codes of its own
    put_lengths(&at, &self->told);
    for (size_t i = 0; i < self->count; i++) {
        const token_bits token = self->of[self->tokens[i]];
        at.bits |= (uint64_t)token.bits << at.count;
        at.count += token.count;
        if (at.count > 32) {
            flush(&at);
        }
    }
    flush(&at);
    put(&at, self->codes[END_SYMBOL], self->lengths[END_SYMBOL]);
    *out = at;
}

static void put_stored(mxp_deflate_bits *out, const uint8_t *data, size_t size_bytes)
{
    assert(size_bytes <= STORED_BYTES_MAX);
    put(out, 0, 3);
    put(out, 0, out->count > 0 ? 8 - out->count : 0);
    put(out, (uint32_t)size_bytes | ~(uint32_t)size_bytes << 16, 32);
    memcpy(out->to, data, size_bytes);
    out->to += size_bytes;
}

void mxp__deflate_runs(mxp_deflate_bits *out, const uint8_t *data, size_t size_bytes)
{
    block self;
    while (size_bytes > 0) {
        take_tokens(&self, data, size_bytes);
        const uint64_t bits = make_codes(&self) + tell_lengths(&self);
        if (bits >= 8 * self.size_bytes + STORED_BITS && self.size_bytes <= STORED_BYTES_MAX) {
            put_stored(out, data, self.size_bytes);
        } else {
            put_coded(out, &self);
        }
        data += self.size_bytes;
        size_bytes -= self.size_bytes;
    }
}
