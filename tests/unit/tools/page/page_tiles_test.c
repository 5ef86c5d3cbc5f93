// SPDX-License-Identifier: Apache-2.0
#include "page/tiles.h"

#include <stdlib.h>

#include "cmocka_all.h"

enum { LENGTH_NS = 1 << 26, KINDS = 300, SPANS_MAX = 1 << 16 };

typedef struct drawn_span {
    uint64_t begin_ns, duration_ns;
    uint32_t kind;
} drawn_span;

static uint64_t draw(uint64_t *chance)
{
    *chance = *chance * 6364136223846793005u + 1442695040888963407u;
    return *chance >> 33;
}

// From the last to the first, apart from each other: phases of long and of short ones, in which now
// one kind and now many have most of the time.
static size_t draw_spans(drawn_span *spans)
{
    uint64_t chance = 7;
    int64_t end_ns = LENGTH_NS - 1;
    size_t count = 0;
    for (; count < SPANS_MAX; count++) {
        const uint64_t most_ns = UINT64_C(40) << (count / 512 % 6 * 2);
        const int64_t duration_ns = (int64_t)(draw(&chance) % most_ns);
        const int64_t begin_ns = end_ns - duration_ns;
        const bool is_usual = draw(&chance) % 4 != 0;
        if (begin_ns < 0) {
            break;
        }
        spans[count] = (drawn_span){.begin_ns = (uint64_t)begin_ns,
                                    .duration_ns = (uint64_t)duration_ns,
                                    .kind = is_usual ? (uint32_t)(count / 4096)
                                                     : (uint32_t)(draw(&chance) % KINDS)};
        end_ns = begin_ns - (int64_t)(draw(&chance) % 30);
    }
    return count;
}

typedef struct sums {
    uint64_t of_kind[KINDS], busy_ns;
    uint32_t spans;
} sums;

// All spans of a level's bin, counted one by one.
static sums sums_of(const mxp_page_levels *levels, size_t level, uint64_t index,
                    const drawn_span *spans, size_t *next, size_t count)
{
    sums of = {0};
    const uint64_t width_ns = levels->width_ns[level];
    for (; *next < count && spans[*next].begin_ns / width_ns >= index; ++*next) {
        const drawn_span *span = &spans[*next];
        if (mxp__page_class(levels, span->duration_ns) > level) {
            assert_int_equal(span->begin_ns / width_ns, index);
            of.of_kind[span->kind] += span->duration_ns;
            of.busy_ns += span->duration_ns;
            of.spans++;
        }
    }
    return of;
}

static void check_level(const mxp_tiles *tiles, size_t level, const drawn_span *spans, size_t count)
{
    const mxp_tile_row *row = &tiles->lanes[0]->rows[level];
    const uint64_t width_ns = tiles->levels.width_ns[level];
    size_t next = 0;
    for (size_t i = 0; i < row->count; i++) {
        const mxp_tile_bin *bin = &row->bins[i];
        const sums of = sums_of(&tiles->levels, level, bin->index, spans, &next, count);
        const uint64_t busy = of.busy_ns * 255 / width_ns;
        assert_int_equal(bin->spans, of.spans);
        assert_int_equal(bin->busy, busy < 255 ? busy : 255);
        for (size_t kind = 0; kind < KINDS; kind++) {
            assert_true(of.of_kind[kind] <= of.of_kind[bin->kind]);
        }
    }
    assert_int_equal(sums_of(&tiles->levels, level, 0, spans, &next, count).spans, 0);
}

static void bins_of_each_level_are_sums_of_its_spans(void **state)
{
    (void)state;
    drawn_span *spans = malloc(SPANS_MAX * sizeof *spans);
    const size_t count = draw_spans(spans);
    mxp_tiles tiles = {.levels = mxp__page_levels_of(LENGTH_NS)};
    mxp_tile_lane *lane = mxp__tiles_lane(&tiles, 0, 0);
    for (size_t i = 0; i < count; i++) {
        const unsigned class_of = mxp__page_class(&tiles.levels, spans[i].duration_ns);
        if (class_of > 0) {
            assert_int_equal(mxp__tiles_add(&tiles, lane, class_of, spans[i].begin_ns,
                                            spans[i].duration_ns, spans[i].kind),
                             0);
        }
    }
    assert_int_equal(mxp__tiles_end_lane(&tiles, lane), 0);
    assert_int_equal(tiles.given_up, 0);
    assert_true(tiles.levels.count > 4);
    for (size_t level = 0; level < tiles.levels.count; level++) {
        check_level(&tiles, level, spans, count);
    }
    mxp__tiles_fini(&tiles);
    free(spans);
}

// Spans of half a bin, one in each: that level is of no use, and finer ones, which are empty, are
// not either.
static void levels_that_do_not_pay_are_given_up_with_finer_ones(void **state)
{
    (void)state;
    enum { SPANS = 3 << 19 };
    mxp_tiles tiles = {.levels = mxp__page_levels_of(UINT64_C(1) << 32)};
    const size_t level = tiles.levels.count - 3;
    const uint64_t width_ns = tiles.levels.width_ns[level];
    mxp_tile_lane *lane = mxp__tiles_lane(&tiles, 0, 0);
    for (size_t i = SPANS; i-- > 0;) {
        assert_int_equal(mxp__page_class(&tiles.levels, width_ns / 2), level + 1);
        assert_int_equal(
            mxp__tiles_add(&tiles, lane, (unsigned)level + 1, i * width_ns, width_ns / 2, 1), 0);
    }
    assert_int_equal(mxp__tiles_end_lane(&tiles, lane), 0);
    assert_int_equal(tiles.given_up, 3);
    assert_int_equal(mxp__tiles_worth(&tiles), level);
    assert_int_equal(lane->rows[level - 1].count, SPANS / 4);
    for (size_t i = 0; i < lane->rows[level - 1].count; i++) {
        assert_int_equal(lane->rows[level - 1].bins[i].spans, 4);
    }
    mxp__tiles_fini(&tiles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_of_each_level_are_sums_of_its_spans),
        cmocka_unit_test(levels_that_do_not_pay_are_given_up_with_finer_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
