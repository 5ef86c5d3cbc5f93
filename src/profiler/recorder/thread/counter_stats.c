// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/thread/counter_stats.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "profiler/recorder/state.h"
#include "profiler/spin.h"

enum { SLOTS = 1024 };

// Times are ticks, of which those count in which recording was on.
typedef struct counter_row {
    uint32_t name, type;
    uint64_t count, last, least, most;
    double first, integral;  // of what the value was above `first`, over ticks
    uint64_t first_active, last_active;
} counter_row;

static struct {
    mxp_spin lock;
    uint32_t count;
    uint16_t slots[SLOTS];  // by hash of the name: index + 1
    counter_row rows[MXP__COUNTER_STATS_MAX];
    mxp_atomic_u64 left_out;
} table;

static double to_double(uint64_t bits, uint32_t type)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return type == MXP_ARG_F64 ? value : type == MXP_ARG_I64 ? (double)(int64_t)bits : (double)bits;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool is_less(uint64_t a, uint64_t b, uint32_t type)
{
    return type == MXP_ARG_F64   ? to_double(a, type) < to_double(b, type)
           : type == MXP_ARG_I64 ? (int64_t)a < (int64_t)b
                                 : a < b;
}

// One that is sampled with two types continues in the only one that takes both.
static uint64_t of_one_type(counter_row *row, uint32_t type, uint64_t bits)
{
    if (type == row->type) {
        return bits;
    }
    row->last = to_bits(to_double(row->last, row->type));
    row->least = to_bits(to_double(row->least, row->type));
    row->most = to_bits(to_double(row->most, row->type));
    row->type = MXP_ARG_F64;
    return to_bits(to_double(bits, type));
}

static void sample(counter_row *row, uint32_t type, uint64_t bits, uint64_t active)
{
    if (row->count == 0) {
        *row = (counter_row){.name = row->name,
                             .type = type,
                             .last = bits,
                             .least = bits,
                             .most = bits,
                             .first = to_double(bits, type),
                             .first_active = active,
                             .last_active = active};
    }
    bits = of_one_type(row, type, bits);
    row->least = is_less(bits, row->least, row->type) ? bits : row->least;
    row->most = is_less(row->most, bits, row->type) ? bits : row->most;
    row->count++;
    if (active < row->last_active) {
        return;  // another thread was faster
    }
    double above = to_double(row->last, row->type) - row->first;
    row->integral += above * (double)(active - row->last_active);
    row->last = bits;
    row->last_active = active;
}

static counter_row *row_of(uint32_t name)
{
    uint32_t i = (uint32_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;
    while (table.slots[i] != 0 && table.rows[table.slots[i] - 1].name != name) {
        i = (i + 1) % SLOTS;
    }
    if (table.slots[i] == 0) {
        if (table.count == MXP__COUNTER_STATS_MAX) {
            return NULL;
        }
        table.slots[i] = (uint16_t)++table.count;
        table.rows[table.count - 1].name = name;
    }
    return &table.rows[table.slots[i] - 1];
}

static uint64_t active_at(uint64_t ticks)
{
    return ticks - mxp_atomic_load(&mxp__rec.inactive_ticks);
}

bool mxp__counter_stats_add(uint32_t name, uint32_t type, uint64_t bits, uint64_t now)
{
    if (!mxp__spin_lock(&table.lock)) {
        return false;
    }
    counter_row *row = row_of(name);
    if (row != NULL) {
        sample(row, type, bits, active_at(now));
    }
    mxp__spin_unlock(&table.lock);
    return row != NULL;
}

static mxp_counter_view view_of(const counter_row *row, uint64_t now, double ns_per_tick)
{
    return (mxp_counter_view){
        .name = row->name,
        .type = row->type,
        .count = row->count,
        .last = row->last,
        .least = row->least,
        .most = row->most,
        .first = row->first,
        .integral = row->integral * ns_per_tick,
        .first_age_ns = (int64_t)((double)(int64_t)(now - row->first_active) * ns_per_tick),
        .last_age_ns = (int64_t)((double)(int64_t)(now - row->last_active) * ns_per_tick)};
}

// Only grows while counters are recorded: memory for so many rows is got without the lock.
static size_t count_of_rows(void)
{
    size_t count = 0;
    if (mxp__spin_lock(&table.lock)) {
        count = table.count;
        mxp__spin_unlock(&table.lock);
    }
    return count;
}

int mxp__counter_stats_take(mxp_counter_view **views, size_t *count, size_t *bytes)
{
    size_t most = count_of_rows();
    *count = 0;
    *bytes = most * sizeof **views;
    *views = mxp__alloc(*bytes);
    if (most == 0 || *views == NULL) {
        return most == 0 ? MXP_OK : MXP_ENOMEM;
    }
    double ns_per_tick = mxp__timebase_ns_per_tick(mxp__recorder_timebase(0));
    if (!mxp__spin_lock(&table.lock)) {
        return MXP_OK;
    }
    uint64_t now = active_at(mxp__recorder_is_on() ? mxp_ticks() : mxp__recorder_off_ticks());
    for (size_t i = 0; i < most; i++) {
        counter_row *row = &table.rows[i];
        if (row->count > 0) {
            (*views)[(*count)++] = view_of(row, now, ns_per_tick);
            row->count = 0;
        }
    }
    mxp__spin_unlock(&table.lock);
    return MXP_OK;
}

void mxp__counter_stats_forget(void)
{
    memset(&table, 0, sizeof table);
}

void mxp__statistics_leave_out(uint64_t count)
{
    mxp_atomic_add(&table.left_out, count);
}

uint64_t mxp__statistics_left_out(void)
{
    return mxp_atomic_load(&table.left_out);
}
