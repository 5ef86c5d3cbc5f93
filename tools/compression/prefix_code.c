// SPDX-License-Identifier: Apache-2.0
// See prefix_code.h. The two rarest become one, again and again (Huffman): symbols and joined ones
// are two queues, each from the rarest on. Lengths above the limit are cut, and others made longer
// by a bit until there are enough codes, as other writers of deflate do.
#include "compression/prefix_code.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

enum { NODES = 2 * MXP_PREFIX_SYMBOLS_MAX, SYMBOL_BITS = 9 };

typedef struct tree {
    uint32_t keys[MXP_PREFIX_SYMBOLS_MAX];  // count and symbol, the rarest first
    size_t used;
    uint32_t weights[NODES];  // of the symbols in this order, and of the joined ones
    uint16_t parents[NODES];
} tree;

static int ascending(const void *one, const void *other)
{
    const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

static void take_symbols(tree *self, const uint32_t *counts, size_t count)
{
    self->used = 0;
    for (size_t i = 0; i < count; i++) {
        if (counts[i] > 0) {
            assert(counts[i] < UINT32_C(1) << (32 - SYMBOL_BITS - 1));
            self->keys[self->used++] = counts[i] << SYMBOL_BITS | (uint32_t)i;
        }
    }
    qsort(self->keys, self->used, sizeof *self->keys, ascending);
    for (size_t i = 0; i < self->used; i++) {
        self->weights[i] = self->keys[i] >> SYMBOL_BITS;
    }
}

static void join_all(tree *self)
{
    size_t leaf = 0, joined = self->used;
    for (size_t made = self->used; made < 2 * self->used - 1; made++) {
        self->weights[made] = 0;
        for (int side = 0; side < 2; side++) {
            const bool takes_leaf =
                leaf < self->used &&
                (joined == made || self->weights[leaf] <= self->weights[joined]);
            const size_t rarest = takes_leaf ? leaf++ : joined++;
            self->weights[made] += self->weights[rarest];
            self->parents[rarest] = (uint16_t)made;
        }
    }
}

// How many symbols have each length; those above the limit count as it.
static void count_lengths(const tree *self, unsigned limit, uint32_t *of_length)
{
    uint8_t depths[NODES];
    const size_t root = 2 * self->used - 2;
    depths[root] = 0;
    for (size_t i = root; i-- > 0;) {
        const uint8_t depth = (uint8_t)(depths[self->parents[i]] + 1);
        depths[i] = depth;
        if (i < self->used) {
            of_length[depth < limit ? depth : limit]++;
        }
    }
}

// Until there are no more codes than bits have room for.
static void make_room(uint32_t *of_length, unsigned limit)
{
    uint32_t total = 0;
    for (unsigned i = 1; i <= limit; i++) {
        total += of_length[i] << (limit - i);
    }
    for (; total > UINT32_C(1) << limit; total--) {
        unsigned shorter = limit - 1;
        while (of_length[shorter] == 0) {
            shorter--;
        }
        of_length[shorter]--;
        of_length[shorter + 1] += 2;
        of_length[limit]--;
    }
}

void mxp__prefix_lengths(const uint32_t *counts, size_t count, unsigned limit, uint8_t *lengths)
{
    tree self;
    uint32_t of_length[MXP_PREFIX_BITS_MAX + 1] = {0};
    assert(count <= MXP_PREFIX_SYMBOLS_MAX && limit <= MXP_PREFIX_BITS_MAX);
    for (size_t i = 0; i < count; i++) {
        lengths[i] = 0;
    }
    take_symbols(&self, counts, count);
    if (self.used == 1) {
        of_length[1] = 1;
    } else if (self.used > 1) {
        join_all(&self);
        count_lengths(&self, limit, of_length);
        make_room(of_length, limit);
    }
    size_t next = 0;
    for (unsigned length = limit; length > 0; length--) {
        for (uint32_t i = 0; i < of_length[length]; i++) {
            const uint32_t symbol = self.keys[next++] & ((UINT32_C(1) << SYMBOL_BITS) - 1);
            lengths[symbol] = (uint8_t)length;
        }
    }
}

static uint16_t reversed(uint32_t code, unsigned length)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < length; i++) {
        bits |= (code >> i & 1) << (length - 1 - i);
    }
    return (uint16_t)bits;
}

void mxp__prefix_codes(const uint8_t *lengths, size_t count, uint16_t *codes)
{
    uint32_t next[MXP_PREFIX_BITS_MAX + 2] = {0}, of_length[MXP_PREFIX_BITS_MAX + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        of_length[lengths[i]]++;
    }
    of_length[0] = 0;
    for (unsigned length = 1; length <= MXP_PREFIX_BITS_MAX; length++) {
        next[length + 1] = (next[length] + of_length[length]) << 1;
    }
    for (size_t i = 0; i < count; i++) {
        codes[i] = lengths[i] > 0 ? reversed(next[lengths[i]]++, lengths[i]) : 0;
    }
}
