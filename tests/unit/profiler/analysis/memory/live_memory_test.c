// SPDX-License-Identifier: Apache-2.0
// Who held the memory: the peak, the least of each step, a moment and the end against a plain list
// of all states of random programs, to the byte; what was there before recording; what is lost.
#include "profiler/analysis/memory/live_memory.h"

#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "fake_source.h"
#include "random.h"

static const mxp_live_memory_options everything = {
    .from_ns = INT64_MIN, .until_ns = INT64_MAX, .at_ns = INT64_MAX};

static mxp_live_memory made(mxp_source *source, const mxp_live_memory_options *options)
{
    mxp_live_memory memory;
    assert_int_equal(mxp__live_memory_make(source, options, &memory), MXP_OK);
    return memory;
}

// ---- random programs ---------------------------------------------------------------------------
enum { OWNERS = 12, BLOCKS = 40, EVENTS = 400, STEPS = 25 };

// All states of one device: what each owner has after each record. Owner 0: not recorded.
typedef struct history {
    int64_t at_ns[EVENTS + 1];
    uint64_t bytes[EVENTS + 1][OWNERS + 1], total[EVENTS + 1];
    size_t count;  // of records; state 0 is before the first one
} history;

typedef struct program {
    mxp_source *source;
    uint64_t random;
    uint32_t thread[2], scope[OWNERS], name[OWNERS];
    struct {
        uint64_t bytes;
        size_t owner;
        bool live;
    } blocks[BLOCKS];
    history history;
    int64_t bounds[STEPS + 1];
} program;

static void keep(program *p, uint64_t ticks, size_t owner, uint64_t more, uint64_t less)
{
    history *h = &p->history;
    size_t i = ++h->count;
    memcpy(h->bytes[i], h->bytes[i - 1], sizeof h->bytes[i]);
    h->at_ns[i] = (int64_t)ticks;
    h->bytes[i][owner] += more - less;
    h->total[i] = h->total[i - 1] + more - less;
}

static void step_program(program *p, uint64_t ticks)
{
    size_t block = random_below(&p->random, BLOCKS);
    uint64_t bytes = 1 + random_below(&p->random, 5000);
    bool frees = p->blocks[block].live;
    if (!frees) {
        p->blocks[block].live = true;
        p->blocks[block].bytes = bytes;
        p->blocks[block].owner = 1 + random_below(&p->random, OWNERS);
    }
    size_t owner = p->blocks[block].owner;
    bytes = p->blocks[block].bytes;
    keep(p, ticks, owner, frees ? 0 : bytes, frees ? bytes : 0);
    p->blocks[block].live = !frees;
    // A block that was there before recording has no name in its record: owner 0.
    fake_memory(p->source, p->thread[random_below(&p->random, 2)], ticks,
                &(mxp_memory){.name = owner == 0 ? 0 : p->name[owner - 1],
                              .scope = owner == 0 ? 0 : p->scope[owner - 1],
                              .category = (uint32_t)owner,
                              .block = 64 * (block + 1),
                              .device = 3,
                              .flags = frees ? MXP_MEM_FREE : 0,
                              .requested_bytes = bytes,
                              .rounded_bytes = (bytes + 63) / 64 * 64,
                              .live_bytes = p->history.total[p->history.count]});
}

static void begin_program(program *p, uint64_t seed)
{
    *p = (program){.source = fake_source_create(), .random = seed};
    p->thread[0] = fake_thread(p->source, "main");
    p->thread[1] = fake_thread(p->source, "worker");
    for (size_t i = 0; i < OWNERS; i++) {
        char text[16];
        snprintf(text, sizeof text, "layer%zu", i % 5);
        p->scope[i] = fake_scope(p->source, 0, text);
        snprintf(text, sizeof text, "array%zu", i);
        p->name[i] = fake_string(p->source, text);
    }
    for (size_t i = 0; i < BLOCKS / 4; i++) {  // there before recording
        p->blocks[i].live = true;
        p->blocks[i].bytes = 100 + i;
        p->history.bytes[0][0] += 100 + i;
    }
    p->history.total[0] = p->history.bytes[0][0];
    uint64_t ticks = 1000;
    for (size_t i = 0; i < EVENTS; i++) {
        ticks += 1 + random_below(&p->random, 100);
        step_program(p, ticks);
    }
    for (size_t i = 0; i <= STEPS; i++) {
        p->bounds[i] = 1500 + (int64_t)(i * (ticks - 3000) / STEPS);
    }
}

static size_t place_of(const program *p, const mxp_memory_owners *owners, uint32_t i)
{
    const mxp_owner *owner = &owners->owners[i];
    if (i == MXP__OWNER_NOT_RECORDED) {
        return 0;
    }
    assert_int_equal(p->scope[owner->category - 1], owner->scope);
    assert_int_equal(p->name[owner->category - 1], owner->name);
    return owner->category;
}

// What the table says of a moment is state `i` of the list.
static void assert_state(const program *p, const mxp_memory_owners *owners, int moment, size_t i)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < owners->count; k++) {
        uint64_t bytes = mxp__owners_at(owners, k, moment).bytes;
        sum += bytes;
        if (k != MXP__OWNER_OTHERS) {
            assert_int_equal(bytes, p->history.bytes[i][place_of(p, owners, k)]);
        }
    }
    assert_int_equal(sum, p->history.total[i]);
}

// The last state at `ns`, or before it.
static size_t state_at(const history *h, int64_t ns)
{
    size_t i = 0;
    while (i < h->count && h->at_ns[i + 1] <= ns) {
        i++;
    }
    return i;
}

static void check_steps(const program *p, const mxp_memory_device *device)
{
    const history *h = &p->history;
    const mxp_memory_growth *growth = &device->growth;
    assert_int_equal(growth->count, STEPS);
    for (size_t step = 0; step < STEPS; step++) {
        size_t lowest = state_at(h, p->bounds[step] - 1);
        for (size_t i = lowest; i <= h->count && h->at_ns[i] < p->bounds[step + 1]; i++) {
            lowest = h->total[i] < h->total[lowest] ? i : lowest;
        }
        assert_int_equal(growth->columns[step].least_bytes, h->total[lowest]);
        for (uint32_t k = 0; k < device->owners.count; k++) {
            const uint64_t *least = device->owners.owners[k].least_bytes;
            if (k != MXP__OWNER_OTHERS) {
                assert_int_equal(least == NULL ? 0 : least[step],
                                 h->bytes[lowest][place_of(p, &device->owners, k)]);
            }
        }
    }
}

static void check_program(uint64_t seed)
{
    program *p = malloc(sizeof *p);
    begin_program(p, seed);
    const history *h = &p->history;
    size_t middle = 1 + random_below(&p->random, EVENTS);
    mxp_live_memory_options options = everything;
    options.bounds = p->bounds;
    options.step_count = STEPS;
    options.at_ns = h->at_ns[middle];
    mxp_live_memory memory = made(p->source, &options);
    assert_int_equal(memory.count, 1);
    const mxp_memory_device *device = memory.devices[0];
    size_t highest = 0;
    for (size_t i = 1; i <= h->count; i++) {
        highest = h->total[i] > h->total[highest] ? i : highest;
    }
    assert_int_equal(device->device, 3);
    assert_int_equal(device->peak.bytes, h->total[highest]);
    assert_int_equal(device->peak.at_ns, h->at_ns[highest == 0 ? 1 : highest]);
    assert_state(p, &device->owners, MXP__MOMENT_PEAK, highest);
    assert_int_equal(device->time_bytes, h->total[middle]);
    assert_state(p, &device->owners, MXP__MOMENT_TIME, middle);
    assert_int_equal(device->live_bytes, h->total[h->count]);
    assert_state(p, &device->owners, MXP__MOMENT_NOW, h->count);
    assert_int_equal(device->gaps, 0);
    assert_int_equal(device->resets, 0);
    check_steps(p, device);
    mxp__live_memory_fini(&memory);
    mxp__source_close(p->source);
    free(p);
}

static void random_programs_are_told_to_the_byte(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        check_program(seed);
    }
}

// ---- one by one --------------------------------------------------------------------------------
typedef struct trace {
    mxp_source *source;
    uint32_t main, worker, scope, name;
    uint64_t live;
} trace;

static trace begin_trace(void)
{
    trace t = {.source = fake_source_create()};
    t.main = fake_thread(t.source, "main");
    t.worker = fake_thread(t.source, "worker");
    t.scope = fake_scope(t.source, 0, "conv0");
    t.name = fake_string(t.source, "weight");
    return t;
}

static void allocate(trace *t, uint32_t thread, uint64_t ticks, uint64_t block, uint64_t bytes,
                     uint32_t flags)
{
    t->live += bytes;
    fake_memory(t->source, thread, ticks,
                &(mxp_memory){.name = t->name,
                              .scope = t->scope,
                              .block = block,
                              .category = 1,
                              .flags = flags,
                              .requested_bytes = bytes,
                              .rounded_bytes = bytes + 8,
                              .live_bytes = t->live});
}

static void release(trace *t, uint32_t thread, uint64_t ticks, uint64_t block, uint64_t bytes)
{
    t->live -= bytes;
    fake_memory(t->source, thread, ticks,
                &(mxp_memory){.name = t->name,
                              .block = block,
                              .flags = MXP_MEM_FREE,
                              .requested_bytes = bytes,
                              .rounded_bytes = bytes + 8,
                              .live_bytes = t->live});
}

static void census(trace *t, uint64_t ticks, uint64_t block, uint64_t bytes)
{
    fake_census(t->source, t->main, ticks,
                &(mxp_memory){.name = t->name,
                              .scope = t->scope,
                              .block = block,
                              .category = 1,
                              .requested_bytes = bytes,
                              .rounded_bytes = bytes + 8});
}

static uint64_t bytes_of(const mxp_memory_device *device, uint32_t owner, int moment)
{
    return owner < device->owners.count ? mxp__owners_at(&device->owners, owner, moment).bytes : 0;
}

static void census_gives_earlier_blocks_their_owners(void **state)
{
    (void)state;
    trace t = begin_trace();
    census(&t, 10, 0x1000, 500);
    census(&t, 11, 0x2000, 300);
    census(&t, 12, 0, 200);  // the rest of them
    t.live = 1000;
    allocate(&t, t.main, 20, 0x3000, 50, 0);
    release(&t, t.main, 30, 0x1000, 500);
    release(&t, t.main, 40, 0x4000, 150);  // one of the rest
    mxp_live_memory memory = made(t.source, &everything);
    const mxp_memory_device *device = memory.devices[0];
    assert_int_equal(device->census_blocks, 2);
    assert_int_equal(device->peak.bytes, 1050);
    assert_int_equal(bytes_of(device, MXP__OWNER_FIRST, MXP__MOMENT_PEAK), 850);
    assert_int_equal(bytes_of(device, MXP__OWNER_NOT_RECORDED, MXP__MOMENT_PEAK), 200);
    assert_int_equal(bytes_of(device, MXP__OWNER_FIRST, MXP__MOMENT_NOW), 350);
    assert_int_equal(bytes_of(device, MXP__OWNER_NOT_RECORDED, MXP__MOMENT_NOW), 50);
    assert_int_equal(
        mxp__owners_at(&device->owners, MXP__OWNER_FIRST, MXP__MOMENT_PEAK).rounding_bytes, 24);
    assert_int_equal(device->gaps, 0);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

// Its records come one after the other, and are about one moment.
static void census_is_no_growth_from_nothing(void **state)
{
    (void)state;
    trace t = begin_trace();
    const int64_t bounds[] = {5, 300, 500};
    census(&t, 10, 0x1000, 500);
    census(&t, 11, 0x2000, 300);
    t.live = 800;
    allocate(&t, t.main, 20, 0x3000, 50, 0);
    fake_meta(t.source, t.main, MXP_META_STATE, 0, 200, 2);
    fake_meta(t.source, t.main, MXP_META_STATE, 0, 310, 3);
    census(&t, 320, 0x3000, 50);
    census(&t, 321, 0x4000, 900);  // made in the pause; the others were freed
    t.live = 950;
    allocate(&t, t.main, 400, 0x5000, 10, 0);
    mxp_live_memory_options options = everything;
    options.bounds = bounds;
    options.step_count = 2;
    mxp_live_memory memory = made(t.source, &options);
    const mxp_memory_device *device = memory.devices[0];
    assert_int_equal(device->growth.count, 2);
    assert_int_equal(device->growth.columns[0].least_bytes, 800);
    assert_int_equal(device->growth.columns[1].least_bytes, 850);
    assert_int_equal(device->growth.columns[1].most_bytes, 960);
    assert_int_equal(device->peak.bytes, 960);
    assert_int_equal(bytes_of(device, MXP__OWNER_FIRST, MXP__MOMENT_PEAK), 960);
    assert_int_equal(device->gaps, 0);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

static void census_alone_is_a_moment(void **state)
{
    (void)state;
    trace t = begin_trace();
    census(&t, 10, 0x1000, 500);
    census(&t, 11, 0, 300);
    mxp_live_memory memory = made(t.source, &everything);
    const mxp_memory_device *device = memory.devices[0];
    assert_int_equal(device->live_bytes, 800);
    assert_int_equal(device->peak.bytes, 800);
    assert_false(device->peak.has_block);
    assert_int_equal(bytes_of(device, MXP__OWNER_FIRST, MXP__MOMENT_PEAK), 500);
    assert_int_equal(bytes_of(device, MXP__OWNER_NOT_RECORDED, MXP__MOMENT_NOW), 300);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

static void peak_names_block_and_operator(void **state)
{
    (void)state;
    trace t = begin_trace();
    uint32_t relu = fake_span_name(t.source, "operator", "relu");
    uint32_t other = fake_span_name(t.source, "operator", "other");
    uint32_t bulk = fake_span_name(t.source, "operator", "bulk");
    allocate(&t, t.main, 100, 0x1000, 500, 0);
    allocate(&t, t.worker, 150, 0x2000, 70, 0);
    release(&t, t.main, 600, 0x1000, 500);
    fake_operator(t.source, t.worker,
                  &(mxp_operator){.name = other, .id = 1, .start_ticks = 20, .end_ticks = 140});
    fake_operator(t.source, t.worker,
                  &(mxp_operator){.name = relu,
                                  .id = 2,
                                  .start_ticks = 140,
                                  .end_ticks = 200,
                                  .scope = t.scope,
                                  .flags = MXP_PHASE_BACKWARD});
    fake_operator(t.source, t.worker,
                  &(mxp_operator){.name = bulk,
                                  .id = 3,
                                  .start_ticks = 20,
                                  .end_ticks = 300,
                                  .flags = MXP_OP_BULK_PARENT});
    fake_operator(t.source, t.main,
                  &(mxp_operator){.name = other, .id = 4, .start_ticks = 620, .end_ticks = 640});
    mxp_live_memory memory = made(t.source, &everything);
    const mxp_memory_peak *peak = &memory.devices[0]->peak;
    assert_int_equal(peak->at_ns, 150);
    assert_int_equal(peak->bytes, 570);
    assert_true(peak->has_block);
    assert_int_equal(peak->block_bytes, 70);
    assert_int_equal(peak->thread, t.worker);
    assert_true(peak->ran.is_known);
    assert_int_equal(peak->ran.name, relu);
    assert_int_equal(peak->ran.scope, t.scope);
    assert_int_equal(peak->ran.phase, MXP_PHASE_BACKWARD);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

// Between the pause and what is recorded after it blocks were freed and made.
static void what_happens_in_a_pause_is_nobodys(void **state)
{
    (void)state;
    trace t = begin_trace();
    fake_meta(t.source, t.main, MXP_META_STATE, 0, 1, 1);
    allocate(&t, t.main, 100, 0x1000, 500, 0);
    fake_meta(t.source, t.main, MXP_META_STATE, 0, 200, 2);
    fake_meta(t.source, t.main, MXP_META_STATE, 0, 300, 3);
    t.live = 40;
    allocate(&t, t.main, 400, 0x2000, 60, 0);
    mxp_live_memory memory = made(t.source, &everything);
    const mxp_memory_device *device = memory.devices[0];
    assert_int_equal(device->gaps, 0);
    assert_int_equal(device->resets, 0);
    assert_int_equal(bytes_of(device, MXP__OWNER_FIRST, MXP__MOMENT_NOW), 60);
    assert_int_equal(bytes_of(device, MXP__OWNER_NOT_RECORDED, MXP__MOMENT_NOW), 40);
    assert_int_equal(bytes_of(device, MXP__OWNER_FIRST, MXP__MOMENT_PEAK), 500);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

static void lost_records_are_counted_and_sums_stay(void **state)
{
    (void)state;
    trace t = begin_trace();
    allocate(&t, t.main, 100, 0x1000, 500, 0);
    t.live -= 500;  // its release is lost
    allocate(&t, t.main, 200, 0x2000, 100, 0);
    t.live += 30;  // an allocation is lost
    release(&t, t.main, 300, 0x2000, 100);
    mxp_live_memory memory = made(t.source, &everything);
    const mxp_memory_device *device = memory.devices[0];
    assert_int_equal(device->gaps, 2);
    assert_int_equal(device->gap_bytes, 530);
    assert_int_equal(device->last_gap_ns, 300);
    assert_int_equal(device->resets, 1);
    assert_int_equal(bytes_of(device, MXP__OWNER_NOT_RECORDED, MXP__MOMENT_NOW), 30);
    assert_int_equal(bytes_of(device, MXP__OWNER_FIRST, MXP__MOMENT_NOW), 0);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

static void address_used_again_frees_what_was_there(void **state)
{
    (void)state;
    trace t = begin_trace();
    t.live = 10000;
    allocate(&t, t.main, 100, 0x1000, 500, 0);
    t.live -= 500;
    allocate(&t, t.main, 200, 0x1000, 700, 0);
    mxp_live_memory memory = made(t.source, &everything);
    const mxp_memory_device *device = memory.devices[0];
    assert_int_equal(bytes_of(device, MXP__OWNER_FIRST, MXP__MOMENT_NOW), 700);
    assert_int_equal(bytes_of(device, MXP__OWNER_NOT_RECORDED, MXP__MOMENT_NOW), 10000);
    assert_int_equal(device->gaps, 1);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

static void peak_of_a_window_begins_with_what_was_there(void **state)
{
    (void)state;
    trace t = begin_trace();
    allocate(&t, t.main, 100, 0x1000, 500, 0);
    release(&t, t.main, 300, 0x1000, 500);
    allocate(&t, t.main, 400, 0x2000, 400, 0);
    allocate(&t, t.main, 600, 0x3000, 4000, 0);
    mxp_live_memory_options options = everything;
    options.from_ns = 200;
    options.until_ns = 600;
    mxp_live_memory memory = made(t.source, &options);
    assert_int_equal(memory.devices[0]->peak.bytes, 500);
    assert_int_equal(memory.devices[0]->peak.at_ns, 200);
    assert_false(memory.devices[0]->peak.has_block);
    mxp__live_memory_fini(&memory);
    options.from_ns = 350;
    memory = made(t.source, &options);
    assert_int_equal(memory.devices[0]->peak.bytes, 400);
    assert_int_equal(memory.devices[0]->peak.at_ns, 400);
    assert_true(memory.devices[0]->peak.has_block);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

static void fresh_blocks_are_counted_by_step(void **state)
{
    (void)state;
    trace t = begin_trace();
    const int64_t bounds[] = {100, 200, 300, 400};
    allocate(&t, t.main, 50, 0x1000, 1, 0);  // before the steps
    allocate(&t, t.main, 110, 0x2000, 10, 0);
    allocate(&t, t.main, 120, 0x3000, 20, MXP_MEM_REUSED);
    allocate(&t, t.main, 200, 0x4000, 30, 0);
    allocate(&t, t.main, 210, 0x5000, 40, 0);
    mxp_live_memory_options options = everything;
    options.bounds = bounds;
    options.step_count = 3;
    mxp_live_memory memory = made(t.source, &options);
    const mxp_memory_device *device = memory.devices[0];
    assert_int_equal(device->growth.count, 3);
    assert_int_equal(device->growth.columns[0].fresh_blocks, 1);
    assert_int_equal(device->growth.columns[1].fresh_bytes, 70);
    assert_int_equal(device->growth.columns[2].fresh_blocks, 0);
    const mxp_owner *owner = &device->owners.owners[MXP__OWNER_FIRST];
    assert_int_equal(owner->fresh_blocks, 3);
    assert_int_equal(owner->fresh_bytes, 80);
    assert_int_equal(owner->fresh_steps, 2);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

static void calls_of_the_system_are_added_up(void **state)
{
    (void)state;
    trace t = begin_trace();
    fake_span(t.source, t.worker, fake_span_name(t.source, "memory", "from system"), 100, 130);
    allocate(&t, t.worker, 135, 0x1000, 1, 0);
    fake_span(t.source, t.worker, fake_span_name(t.source, "memory", "to system"), 140, 145);
    fake_span(t.source, t.worker, fake_span_name(t.source, "app", "from system"), 150, 190);
    mxp_live_memory memory = made(t.source, &everything);
    assert_int_equal(memory.system_calls, 2);
    assert_int_equal(memory.system_ns, 35);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

// 3,000 steps that each leave 7 bytes: four are a column, whose least is that of its first.
static void long_runs_keep_every_columns_least(void **state)
{
    (void)state;
    enum { COUNT = 3000, LEFT = 7 };
    trace t = begin_trace();
    int64_t *bounds = calloc(COUNT + 1, sizeof *bounds);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t at = 1000 + 100 * i;
        bounds[i] = (int64_t)at;
        allocate(&t, t.main, at + 10, 64 * (i + 2), LEFT, 0);
        allocate(&t, t.main, at + 20, 64, 5000, 0);
        release(&t, t.main, at + 30, 64, 5000);
    }
    bounds[COUNT] = 1000 + 100 * COUNT;
    mxp_live_memory_options options = everything;
    options.bounds = bounds;
    options.step_count = COUNT;
    mxp_live_memory memory = made(t.source, &options);
    const mxp_memory_growth *growth = &memory.devices[0]->growth;
    assert_int_equal(growth->stride, 4);
    assert_int_equal(growth->count, COUNT / 4);
    const uint64_t *least = memory.devices[0]->owners.owners[MXP__OWNER_FIRST].least_bytes;
    for (size_t i = 0; i < growth->count; i++) {
        assert_int_equal(growth->columns[i].least_bytes, 4 * LEFT * i);
        assert_int_equal(growth->columns[i].most_bytes, 4 * LEFT * (i + 1) + 5000);
        assert_int_equal(growth->columns[i].fresh_blocks, 8);
        assert_int_equal(growth->columns[i].fresh_steps, 4);
        assert_int_equal(least[i], 4 * LEFT * i);
    }
    mxp__live_memory_fini(&memory);
    free(bounds);
    mxp__source_close(t.source);
}

static void owners_beyond_the_table_are_one_row(void **state)
{
    (void)state;
    enum { MORE = 5 };
    trace t = begin_trace();
    for (uint64_t i = 0; i < MXP__OWNERS_MAX + MORE; i++) {
        char text[16];
        snprintf(text, sizeof text, "n%llu", (unsigned long long)i);
        t.name = fake_name_bytes(t.source, 0, text, strlen(text), MXP_STYLE_NONE, 0);
        allocate(&t, t.main, 100 + i, 64 * (i + 1), 10, 0);
    }
    mxp_live_memory memory = made(t.source, &everything);
    const mxp_memory_device *device = memory.devices[0];
    assert_int_equal(device->owners.count, MXP__OWNERS_MAX + MXP__OWNER_FIRST);
    assert_int_equal(bytes_of(device, MXP__OWNER_OTHERS, MXP__MOMENT_NOW), 10 * MORE);
    assert_int_equal(device->peak.bytes, 10 * (MXP__OWNERS_MAX + MORE));
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

static void ids_that_the_trace_does_not_have_are_one_owner(void **state)
{
    (void)state;
    trace t = begin_trace();
    t.name = 0xfffffff0u;
    t.scope = 0xffffffffu;
    allocate(&t, t.main, 100, 64, 10, 0);
    t.name = 0x7fffffffu;
    allocate(&t, t.main, 200, 128, 10, 0);
    mxp_live_memory memory = made(t.source, &everything);
    const mxp_memory_owners *owners = &memory.devices[0]->owners;
    assert_int_equal(owners->count, MXP__OWNER_FIRST + 1);
    assert_int_equal(owners->owners[MXP__OWNER_FIRST].name, t.source->name_count);
    mxp__live_memory_fini(&memory);
    mxp__source_close(t.source);
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    program *p = malloc(sizeof *p);
    begin_program(p, 1);
    mxp_live_memory_options options = everything;
    options.bounds = p->bounds;
    options.step_count = STEPS;
    int error = MXP_ENOMEM;
    for (size_t fails_at = 0; error != MXP_OK; fails_at++) {
        mxp_live_memory memory;
        size_t held = fake_alloc_held_blocks();
        fake_alloc_fail_after(fails_at);
        error = mxp__live_memory_make(p->source, &options, &memory);
        bool failed = fake_alloc_failed() > 0;
        fake_alloc_fail_never();
        assert_int_equal(error, failed ? MXP_ENOMEM : MXP_OK);
        mxp__live_memory_fini(&memory);
        assert_int_equal(fake_alloc_held_blocks(), held);
    }
    mxp__source_close(p->source);
    free(p);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_are_told_to_the_byte),
        cmocka_unit_test(census_gives_earlier_blocks_their_owners),
        cmocka_unit_test(census_is_no_growth_from_nothing),
        cmocka_unit_test(census_alone_is_a_moment),
        cmocka_unit_test(peak_names_block_and_operator),
        cmocka_unit_test(what_happens_in_a_pause_is_nobodys),
        cmocka_unit_test(lost_records_are_counted_and_sums_stay),
        cmocka_unit_test(address_used_again_frees_what_was_there),
        cmocka_unit_test(peak_of_a_window_begins_with_what_was_there),
        cmocka_unit_test(fresh_blocks_are_counted_by_step),
        cmocka_unit_test(calls_of_the_system_are_added_up),
        cmocka_unit_test(long_runs_keep_every_columns_least),
        cmocka_unit_test(owners_beyond_the_table_are_one_row),
        cmocka_unit_test(ids_that_the_trace_does_not_have_are_one_owner),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
