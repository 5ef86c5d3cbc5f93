// SPDX-License-Identifier: Apache-2.0
// The start's probe: what rate it finds, who takes part, and that nothing depends on it.
#include "runtime/kvstore/dist_probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os/os.h"
#include "cmocka_all.h"
#include "dist_world.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "runtime/kvstore/clock_cuts.h"
#include "runtime/kvstore/record_detail.h"

enum { PIECES = 24, PIECE_BYTES = 512 << 10, COUNT = 1000 };

static float values[3][COUNT], outs[3][COUNT];
static dist_outcome done[3];

// ---- the rate ----------------------------------------------------------------------------------
// Pieces of a megabyte, one a millisecond: 1 GB/s.
static void a_steady_way_has_its_rate(void **state)
{
    (void)state;
    uint64_t done_ns[64];
    for (uint64_t i = 0; i < 64; i++) {
        done_ns[i] = 5000000 + i * 1000000;
    }
    for (uint32_t count = 2; count <= 64; count++) {
        const mxn_probe_rate rate = mxn__probe_rate(done_ns, count, 1000000);
        assert_int_equal(rate.bytes_per_s, 1000000000);
        assert_int_equal(rate.least, 1000000000);
        assert_int_equal(rate.most, 1000000000);
    }
    assert_int_equal(mxn__probe_rate(done_ns, 1, 1000000).bytes_per_s, 0);
    assert_int_equal(mxn__probe_rate(done_ns, 0, 1000000).bytes_per_s, 0);
}

// What fills the way first is no rate, and a pause in one place is a part's, not the whole's.
static void neither_the_first_pieces_nor_a_pause_count(void **state)
{
    (void)state;
    uint64_t done_ns[64], now_ns = 0;
    for (uint64_t i = 0; i < 64; i++) {
        now_ns += i < 8 ? 1000 : i == 30 ? 40000000 : 1000000;
        done_ns[i] = now_ns;
    }
    const mxn_probe_rate rate = mxn__probe_rate(done_ns, 64, 1000000);
    assert_int_equal(rate.bytes_per_s, 1000000000);
    assert_int_equal(rate.most, 1000000000);
    assert_in_range(rate.least, 8000000000 / 48, 8000000000 / 46);  // 8 pieces in 7 ms and 40
}

// Done in the same instant: a number all the same.
static void pieces_that_end_together_divide_by_nothing(void **state)
{
    (void)state;
    uint64_t done_ns[64] = {0};
    assert_true(mxn__probe_rate(done_ns, 64, 1000000).bytes_per_s > 0);
}

// ---- nodes -------------------------------------------------------------------------------------
static void open_world(dist_world *world, uint32_t workers, uint32_t servers, int detail)
{
    mxn_dist_config config = dist_world_config(true);
    config.probe_pieces = PIECES;
    config.piece_bytes = 4160;
    config.detail = detail;
    dist_world_open(world, workers, servers, &config, 0);
}

static void finish(dist_world *world, live_events *live)
{
    mxp__recorder_stop(1);
    *live = live_events_take(MXP__CONSUMER_FILE);
    dist_world_close(world);
}

static const char *peer_of(const live_events *live, const mxp_event *probe)
{
    return live->source->name(live->source, (uint32_t)live_events_number(live, probe, "peer")).text;
}

static void expect_probes(uint32_t workers, uint32_t servers, const char *const *peers)
{
    dist_world world;
    live_events live;
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    open_world(&world, workers, servers, MXN_DETAIL_STATISTICS);
    const uint64_t begin_ns = mxp__os_monotonic_ns();
    dist_world_run(&world);
    const uint64_t spent_ns = mxp__os_monotonic_ns() - begin_ns;
    finish(&world, &live);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStore probe"), workers);
    for (size_t i = 0; i < workers; i++) {
        const mxp_event *probe = live_events_find(&live, MXP_KIND_SPAN, "KVStore probe", i);
        const uint64_t rate = live_events_number(&live, probe, "bytes_per_s");
        const uint64_t bytes = live_events_number(&live, probe, "bytes");
        bool is_known = false;
        for (uint32_t j = 0; j < workers; j++) {
            is_known |= strcmp(peer_of(&live, probe), peers[j]) == 0;
        }
        assert_true(is_known);
        assert_int_equal(bytes, PIECES * PIECE_BYTES);
        assert_int_equal(live_events_number(&live, probe, "pieces"), PIECES);
        assert_int_equal(live_events_number(&live, probe, "elsewhere"), 0);
        assert_true(live_events_number(&live, probe, "least_bytes_per_s") <= rate);
        assert_true(live_events_number(&live, probe, "most_bytes_per_s") >= rate);
        // By this test's own clock: no slower than all that it saw.
        assert_true((double)live_events_number(&live, probe, "most_bytes_per_s") >=
                    (double)bytes / (double)spent_ns * 1e9);
    }
    live_events_free(&live);
}

static void each_worker_probes_the_way_to_the_next_process(void **state)
{
    (void)state;
    static const char *const inside[] = {"worker 1", "worker 2", "worker 0"};
    static const char *const apart[] = {"worker 1", "server 0"};  // servers come first
    expect_probes(3, 0, inside);
    expect_probes(2, 1, apart);
    expect_probes(1, 1, &apart[1]);
}

static void nobody_probes_without_a_profile_or_without_others(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    open_world(&world, 2, 0, MXN_DETAIL_ROUNDS);
    for (uint32_t i = 0; i < 2; i++) {
        assert_false(mxn__probe_holds(world.nodes[i]));
    }
    dist_world_run(&world);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    dist_world_run(&world);  // the start is over
    finish(&world, &live);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStore probe"), 0);
    live_events_free(&live);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    open_world(&world, 1, 0, MXN_DETAIL_ROUNDS);
    dist_world_init_all(&world, 0, 0, "alone", values[0], COUNT);
    finish(&world, &live);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStore probe"), 0);
    live_events_free(&live);
}

// Submitted before the probe has begun; done after it has ended, with the right sum.
static void operations_come_after_it_and_are_right(void **state)
{
    (void)state;
    dist_world world;
    live_events live;
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    open_world(&world, 3, 0, MXN_DETAIL_ROUNDS);
    for (uint32_t w = 0; w < 3; w++) {
        assert_true(mxn__probe_holds(dist_world_worker(&world, w)));
        for (uint32_t i = 0; i < COUNT; i++) {
            values[w][i] = (float)(w + i);
        }
    }
    dist_world_init_all(&world, 0, 0, "sum", values[0], COUNT);
    for (uint32_t w = 0; w < 3; w++) {
        assert_false(mxn__probe_holds(dist_world_worker(&world, w)));
        assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_PUSHPULL, 0, 0,
                                       values[w], outs[w], COUNT, &done[w]),
                         MXP_OK);
    }
    dist_world_run(&world);
    for (uint32_t w = 0; w < 3; w++) {
        assert_true(dist_outcome_is_good(&done[w]));
        assert_true(outs[w][COUNT - 1] == 3 * (COUNT - 1) + 3);
    }
    finish(&world, &live);
    // What the operations sent to others and got from them: all but what the own owner has.
    uint64_t out = 0, in = 0;
    for (size_t i = 0; i < 3; i++) {
        const mxp_event *push =
            live_events_find(&live, MXP_KIND_SPAN, "KVStoreDistDefaultStoragePushPull", i);
        out += live_events_number(&live, push, "bytes_out");
        in += live_events_number(&live, push, "bytes_in");
        assert_true(live_events_number(&live, push, "receive_ns") <=
                    (uint64_t)(push->end_ns - push->begin_ns));
    }
    assert_int_equal(out, 2 * COUNT * 4);
    assert_int_equal(in, 2 * COUNT * 4);
    const mxp_event *round = live_events_find(&live, MXP_KIND_SPAN, "KVStore round", 0);
    const uint64_t own_ns = live_events_number(&live, round, "own_ns");
    assert_true(own_ns + live_events_number(&live, round, "spread_ns") <=
                (uint64_t)(round->end_ns - round->begin_ns) + 10000);
    assert_true(live_events_number(&live, round, "add_ns") <=
                (uint64_t)(round->end_ns - round->begin_ns) + 10000);
    live_events_free(&live);
}

// Whether no piece is on its way, and none has been, while the clocks' stamps of the start are.
// `stalled`: the system let so long go by between two turns that the exchange was taken for over.
static bool stamps_come_first(bool *stalled)
{
    enum { EXCHANGES = 16, STALL_NS = 2500000 };
    mxn_dist_config config = dist_world_config(true);
    dist_world world;
    live_events live;
    size_t cuts = 0;
    bool are_first = true;
    config.probe_pieces = PIECES;
    config.exchanges_stamps = true;
    *stalled = false;
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    dist_world_open(&world, 2, 0, &config, 0);
    mxp__os_sleep_us(20000);  // whatever begins by the time may
    uint64_t turn_ns = mxp__os_monotonic_ns();
    mxn_clock_cuts_open(world.nodes[1]->clock);
    const uint64_t until_ns = turn_ns + UINT64_C(20000000000);
    while (mxn__probe_holds(world.nodes[0]) || mxn__probe_holds(world.nodes[1])) {
        for (size_t i = 2; i-- > 0;) {
            mxn__dist_turn(world.nodes[i]);
            mxn_clock_cuts_all(world.nodes[1]->clock, &cuts);
            // Worker 0 knows of them when it has been asked.
            if (cuts < EXCHANGES && (i == 1 || cuts > 1)) {
                are_first = are_first && mxn__probe_is_idle(world.nodes[i]) &&
                            mxn__probe_holds(world.nodes[i]);
            }
        }
        const uint64_t now_ns = mxp__os_monotonic_ns();
        *stalled = *stalled || (cuts < EXCHANGES && now_ns - turn_ns > STALL_NS);
        turn_ns = now_ns;
        assert_true(turn_ns < until_ns);
    }
    assert_int_equal(cuts, EXCHANGES);
    finish(&world, &live);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStore probe"), 2);
    live_events_free(&live);
    return are_first;
}

static void stamps_are_exchanged_before_it(void **state)
{
    (void)state;
    enum { TRIES = 20 };
    for (int i = 0; i < TRIES; i++) {
        bool stalled;
        if (stamps_come_first(&stalled)) {
            return;
        }
        assert_true(stalled);
    }
    skip();  // others have the machine
}

// ---- memory ------------------------------------------------------------------------------------
static mxp_atomic_u64 large_bytes, large_most;  // of what a piece and more was asked for

static void *reallocate(void *context, void *pointer, size_t old_bytes, size_t bytes)
{
    (void)context;
    if (old_bytes >= PIECE_BYTES) {
        mxp_atomic_sub(&large_bytes, (uint64_t)old_bytes);
    }
    if (bytes >= PIECE_BYTES) {
        const uint64_t now = mxp_atomic_add(&large_bytes, (uint64_t)bytes) + bytes;
        if (now > mxp_atomic_load(&large_most)) {
            mxp_atomic_store(&large_most, now);
        }
    }
    if (bytes == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, bytes);
}

// A window of pieces at each end, and when it is over nothing.
static void pieces_go_back(void **state)
{
    (void)state;
    enum { WINDOW = 8 };
    dist_world world;
    live_events live;
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    open_world(&world, 3, 0, MXN_DETAIL_ROUNDS);
    const uint64_t before = mxp_atomic_load(&large_bytes);
    mxp_atomic_store(&large_most, before);
    dist_world_run(&world);
    const uint64_t most = mxp_atomic_load(&large_most) - before;
    assert_true(most >= 3 * PIECE_BYTES && most <= 3 * 2 * WINDOW * (PIECE_BYTES + 4096));
    mxp__os_sleep_us(120000);
    dist_world_run(&world);
    assert_true(mxp_atomic_load(&large_bytes) <= before);
    finish(&world, &live);
    live_events_free(&live);
}

// ---- failure -----------------------------------------------------------------------------------
// Either end dies with pieces on their way: the others fail as they always do, and nothing waits.
static void a_death_in_it_ends_it(void **state)
{
    (void)state;
    for (int turns = 0; turns < 12; turns++) {
        dist_world world;
        live_events live;
        mxp__recorder_start(MXP_CLASS_ALL, 0);
        open_world(&world, 2, 0, MXN_DETAIL_ROUNDS);
        mxn_dist *left = world.nodes[turns % 2];
        assert_int_equal(dist_world_init(left, 0, 0, "w", values[0], COUNT, &done[0]), MXP_OK);
        for (int i = 0; i < turns; i++) {
            mxn__dist_turn(world.nodes[i % 2]);
        }
        mxn__threads_kill(world.world, (uint32_t)(1 - turns % 2));
        for (int i = 0; i < 100; i++) {
            mxn__dist_turn(left);
        }
        assert_non_null(mxn_dist_failure(left));
        assert_int_equal(mxp_atomic_load(&done[0].count), 1);
        assert_int_not_equal(done[0].error, MXP_OK);
        finish(&world, &live);
        live_events_free(&live);
    }
}

static void a_peer_that_probes_without_end_is_lost(void **state)
{
    (void)state;
    dist_world world;
    mxn_wire header = mxn__wire(MXN_WIRE_PROBE);
    header.bytes = PIECE_BYTES;
    open_world(&world, 2, 0, MXN_DETAIL_ROUNDS);
    for (int i = 0; i < MXN_PROBE_PIECES_MAX; i++) {
        mxn__dist_handle(world.nodes[0], 1, &header, NULL);
        assert_null(mxn_dist_failure(world.nodes[0]));
    }
    mxn__dist_handle(world.nodes[0], 1, &header, NULL);
    assert_non_null(
        strstr(mxn_dist_failure(world.nodes[0]), "probes the network more than it may"));
    dist_world_close(&world);
}

// ---- threads -----------------------------------------------------------------------------------
// Also beside the exchanges of clocks, which come first; and who ends at once ends.
static void nodes_with_threads_open_probe_and_close(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        mxn_dist_config config = dist_world_config(false);
        dist_world world;
        live_events live;
        config.probe_pieces = PIECES;
        config.exchanges_stamps = i % 2 == 0;
        mxp__recorder_start(MXP_CLASS_ALL, 0);
        dist_world_open(&world, 3, i / 2, &config, 0);
        for (uint32_t w = 0; w < 3; w++) {
            assert_int_equal(dist_world_do(dist_world_worker(&world, w), MXN_DIST_BARRIER, 0, 0,
                                           NULL, NULL, 0, &done[w]),
                             MXP_OK);
        }
        for (uint32_t w = 0; w < 3; w++) {
            dist_outcome_wait(&done[w]);
            assert_true(dist_outcome_is_good(&done[w]));
        }
        mxp__recorder_stop(1);
        live = live_events_take(MXP__CONSUMER_FILE);
        dist_world_close_threads(&world);
        assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "KVStore probe"), 3);
        live_events_free(&live);
    }
}

int main(void)
{
    const mxp_allocator hook = {.size_bytes = sizeof hook, .reallocate = reallocate};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_way_has_its_rate),
        cmocka_unit_test(neither_the_first_pieces_nor_a_pause_count),
        cmocka_unit_test(pieces_that_end_together_divide_by_nothing),
        cmocka_unit_test(each_worker_probes_the_way_to_the_next_process),
        cmocka_unit_test(nobody_probes_without_a_profile_or_without_others),
        cmocka_unit_test(operations_come_after_it_and_are_right),
        cmocka_unit_test(stamps_are_exchanged_before_it),
        cmocka_unit_test(pieces_go_back),
        cmocka_unit_test(a_death_in_it_ends_it),
        cmocka_unit_test(a_peer_that_probes_without_end_is_lost),
        cmocka_unit_test(nodes_with_threads_open_probe_and_close),
    };
    if (mxp_set_allocator(&hook) != MXP_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
