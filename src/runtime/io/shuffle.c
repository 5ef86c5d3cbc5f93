// SPDX-License-Identifier: Apache-2.0
#include "runtime/io/shuffle.h"

// ---- MT19937 ----------------------------------------------------------------------------------
enum { STATE_WORDS = 624, MIDDLE = 397 };

typedef struct generator {
    uint32_t state[STATE_WORDS];
    int next;
} generator;

static void seed_with(generator *g, uint32_t seed)
{
    g->state[0] = seed;
    for (uint32_t i = 1; i < STATE_WORDS; i++) {
        const uint32_t before = g->state[i - 1];
        g->state[i] = 1812433253u * (before ^ before >> 30) + i;
    }
    g->next = STATE_WORDS;
}

static void advance(generator *g)
{
    for (int i = 0; i < STATE_WORDS; i++) {
        const uint32_t high = g->state[i] & 0x80000000u;
        const uint32_t low = g->state[(i + 1) % STATE_WORDS] & 0x7fffffffu;
        const uint32_t mixed = (high | low) >> 1 ^ ((low & 1) != 0 ? 0x9908b0dfu : 0);
        g->state[i] = g->state[(i + MIDDLE) % STATE_WORDS] ^ mixed;
    }
    g->next = 0;
}

static uint32_t draw(generator *g)
{
    if (g->next == STATE_WORDS) {
        advance(g);
    }
    uint32_t y = g->state[g->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

// ---- numbers from 0 to `most` -----------------------------------------------------------------
// As compilers before g++ 11 do it, which both lines were built with.
static uint64_t draw_scaled(generator *g, uint64_t most)
{
    const uint64_t scale = UINT32_MAX / (most + 1), past = (most + 1) * scale;
    uint64_t number;
    do {
        number = draw(g);
    } while (number >= past);
    return number / scale;
}

// ---- shuffles ---------------------------------------------------------------------------------
static void swap(uint64_t *list, uint64_t a, uint64_t b)
{
    const uint64_t kept = list[a];
    list[a] = list[b];
    list[b] = kept;
}

// One draw for two swaps.
static void shuffle_in_pairs(generator *g, uint64_t *list, uint64_t count)
{
    uint64_t at = 1;
    if (count % 2 == 0) {
        swap(list, at++, draw_scaled(g, 1));
    }
    for (; at < count; at += 2) {
        const uint64_t size = at + 1;
        const uint64_t both = draw_scaled(g, size * (size + 1) - 1);
        swap(list, at, both / (size + 1));
        swap(list, at + 1, both % (size + 1));
    }
}

void mxn__shuffle(uint64_t *list, uint64_t count, uint32_t seed, int order)
{
    generator g;
    seed_with(&g, seed);
    if (count < 2) {
        return;
    }
    if (order == MXN_ORDER_2_0 && UINT32_MAX / count >= count) {
        shuffle_in_pairs(&g, list, count);
        return;
    }
    for (uint64_t i = 1; i < count; i++) {
        swap(list, i, draw_scaled(&g, i));
    }
}
