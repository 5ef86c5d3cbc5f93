// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/standing_values.h"

#include "base/atomic.h"

enum { SLOTS = 1024 };

// The slot of `name`, or the free one where it belongs: there are twice as many as names.
static uint16_t *slot_of(mxp_standing *standing, uint32_t name)
{
    uint32_t i = (uint32_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;
    while (standing->slots[i] != 0 && standing->values[standing->slots[i] - 1].name != name) {
        i = (i + 1) % SLOTS;
    }
    return &standing->slots[i];
}

int mxp__standing_put(mxp_standing *standing, const mxp_standing_value *value)
{
    uint16_t *slot = slot_of(standing, value->name);
    if (*slot == 0) {
        if (standing->count == MXP__STANDING_MAX) {
            standing->left_out++;
            return -1;
        }
        *slot = (uint16_t)++standing->count;
    } else if (value->ticks < standing->values[*slot - 1].ticks) {
        return -1;
    }
    standing->values[*slot - 1] = *value;
    return *slot - 1;
}

static uint64_t widen(uint64_t stamp, uint64_t base_ticks)
{
    const unsigned unused = 64 - MXP_STAMP_BITS;
    return base_ticks + (uint64_t)((int64_t)((stamp - base_ticks) << unused) >> unused);
}

void mxp__standing_each(const mxp_chunk_header *chunk, const uint64_t *from, const uint64_t *to,
                        void (*put)(void *context, const mxp_standing_value *value), void *context)
{
    while (to - from >= 2) {
        uint64_t units = *from >> 8 & 0xff;
        if (units == 0 || 2 * units > (uint64_t)(to - from)) {
            return;
        }
        if ((*from & 0xff) == MXP_KIND_COUNTER && units >= 2) {
            mxp_standing_value value = {.name = (uint32_t)from[1],
                                        .type = (uint32_t)(from[1] >> 32 & 0xff),
                                        .value = from[2],
                                        .ticks = widen(from[0] >> 16, chunk->base_ticks),
                                        .thread = chunk->thread};
            put(context, &value);
        }
        from += 2 * units;
    }
}

void mxp__standing_stamp(uint64_t *words, uint64_t ticks)
{
    uint64_t word = MXP_KIND_COUNTER | UINT64_C(2) << 8 | ticks << 16;
    mxp_word_store(words, word);
}

void mxp__standing_write(uint64_t *words, const mxp_standing_value *value, uint64_t ticks)
{
    const uint64_t type_and_flags = value->type | MXP_COUNTER_STANDING << 8;
    mxp__standing_stamp(words, ticks);
    words[1] = value->name | type_and_flags << 32;
    words[2] = value->value;
    words[3] = value->ticks;
}
