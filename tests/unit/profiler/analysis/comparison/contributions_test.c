// SPDX-License-Identifier: Apache-2.0
// What a difference consists of: rows add up to the means to the nanosecond, what is noise is not
// told, operators that got slower beside the path are.
#include "profiler/analysis/comparison/contributions.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "profiler/analysis/statistics/distribution.h"
#include "profiler/analysis/statistics/seeded.h"

static size_t path_row(mxp_comparison *comparison, const char *kind, const char *name)
{
    size_t place;
    const mxp_row_key key = {.kind = kind, .scope = "net", .name = name, .shape = ""};
    assert_int_equal(mxp__row_keys_add(&comparison->rows.path, &key, &place), MXP_OK);
    return place;
}

static size_t operator_row(mxp_comparison *comparison, const char *name)
{
    size_t place;
    const mxp_row_key key = {.kind = "", .scope = "net", .name = name, .shape = ""};
    assert_int_equal(mxp__row_keys_add(&comparison->rows.operators, &key, &place), MXP_OK);
    return place;
}

static mxp_compared_run *add_run(mxp_comparison *comparison, int side, size_t steps)
{
    mxp_compared_run *run = mxp__side_next(&comparison->sides[side]);
    assert_non_null(run);
    comparison->sides[side].count++;
    run->step_count = steps;
    run->cpu_ns = run->delay_ns = -1;
    return run;
}

static void add_ns(mxp_compared_run *run, size_t row, int64_t ns)
{
    assert_int_equal(mxp__row_sums_add(&run->path_rows, row, ns, 1), MXP_OK);
    run->total_ns += ns;
    run->mean_ns = (double)run->total_ns / (double)run->step_count;
}

static double normal(mxp_seeded *seeded)
{
    const double share = ((double)(mxp__seeded_next(seeded) >> 11) + 0.5) / 9007199254740992.0;
    return mxp__normal_quantile(share);
}

// Runs of any number of steps, rows that some of them do not have.
static void rows_add_up_to_the_means_to_the_nanosecond(void **state)
{
    (void)state;
    enum { ROWS = 40 };
    mxp_seeded seeded = {1};
    for (int round = 0; round < 50; round++) {
        mxp_comparison comparison = {.at_least = 0.01};
        size_t rows[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            const char name[] = {(char)('0' + i), '\0'};
            rows[i] = path_row(&comparison, "run", name);
        }
        for (int side = 0; side < MXP__SIDES; side++) {
            const size_t runs = 1 + (size_t)mxp__seeded_below(&seeded, 6);
            for (size_t r = 0; r < runs; r++) {
                mxp_compared_run *run =
                    add_run(&comparison, side, 1 + (size_t)mxp__seeded_below(&seeded, 97));
                add_ns(run, rows[0], 12345678);
                for (size_t i = 1; i < ROWS; i++) {
                    if (mxp__seeded_below(&seeded, 3) > 0) {
                        add_ns(run, rows[i], (int64_t)mxp__seeded_below(&seeded, 1 << 22));
                    }
                }
            }
        }
        mxp_contributions found = {0};
        assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
        assert_int_equal(mxp__contributions_find(&comparison, &found), MXP_OK);
        int64_t change_ns = 0;
        for (size_t i = 0; i < found.count; i++) {
            change_ns += mxp__contribution_change(&found.all[i]);
            assert_true(i == 0 || llabs(mxp__contribution_change(&found.all[i])) <=
                                      llabs(mxp__contribution_change(&found.all[i - 1])));
        }
        const double *means = comparison.wall.means_ns;
        assert_int_equal(found.ns[MXP__BEFORE], llround(means[MXP__BEFORE]));
        assert_int_equal(found.ns[MXP__AFTER], llround(means[MXP__AFTER]));
        assert_int_equal(change_ns, llround(means[MXP__AFTER]) - llround(means[MXP__BEFORE]));
        mxp__contributions_fini(&found);
        mxp__comparison_fini(&comparison);
    }
}

static const mxp_contribution *find_row(const mxp_contributions *found, size_t row)
{
    for (size_t i = 0; i < found->count; i++) {
        if (found->all[i].row == row) {
            return &found->all[i];
        }
    }
    return NULL;
}

typedef struct planted {
    mxp_comparison comparison;
    size_t slower, same, tiny, came, went;  // rows of the path
} planted;

// 8 runs a side; `slower` takes 30 % longer, `came` and `went` are on one side only.
static planted plant(mxp_seeded *seeded)
{
    planted made = {.comparison = {.at_least = 0.01}};
    mxp_comparison *comparison = &made.comparison;
    made.slower = path_row(comparison, "run", "conv");
    made.same = path_row(comparison, "run", "dense");
    made.tiny = path_row(comparison, "run", "flatten");
    made.came = path_row(comparison, "host", "check");
    made.went = path_row(comparison, "dispatch", "conv");
    const size_t jitters = operator_row(comparison, "jitters");
    const size_t beside = operator_row(comparison, "beside"),
                 conv = operator_row(comparison, "conv");
    for (int side = 0; side < MXP__SIDES; side++) {
        for (int i = 0; i < 8; i++) {
            mxp_compared_run *run = add_run(comparison, side, 10);
            const double longer = side == MXP__AFTER ? 1.3 : 1;
            const int64_t conv_ns = (int64_t)(4e6 * longer * (1 + 0.02 * normal(seeded)));
            add_ns(run, made.slower, conv_ns);
            add_ns(run, made.same, 5000000 + 20000 * (i * 3 % 8));
            add_ns(run, made.tiny, side == MXP__AFTER ? 20000 + i : 10000 + i);
            add_ns(run, side == MXP__AFTER ? made.came : made.went, 300000 + 1000 * i);
            assert_int_equal(mxp__row_sums_add(&run->operators, conv, conv_ns, 10), MXP_OK);
            const int64_t jitter_ns = 1000000 + 400000 * (i % 3) + (side == MXP__AFTER ? 9000 : 0);
            assert_int_equal(mxp__row_sums_add(&run->operators, jitters, jitter_ns, 10), MXP_OK);
            assert_int_equal(
                mxp__row_sums_add(&run->operators, beside, (int64_t)(2e6 * longer) + 1000 * i, 10),
                MXP_OK);
        }
    }
    return made;
}

static void what_changed_is_told_and_noise_is_not(void **state)
{
    (void)state;
    mxp_seeded seeded = {4};
    planted made = plant(&seeded);
    mxp_contributions found = {0};
    assert_int_equal(mxp__comparison_judge(&made.comparison), MXP_OK);
    assert_int_equal(mxp__contributions_find(&made.comparison, &found), MXP_OK);
    assert_ptr_equal(find_row(&found, made.slower), &found.all[0]);
    assert_true(found.all[0].is_told && found.all[0].adjusted_p <= 0.01);
    assert_in_range(mxp__contribution_change(&found.all[0]), 100000, 140000);
    assert_false(find_row(&found, made.same)->is_told);
    assert_true(find_row(&found, made.same)->is_tested);
    assert_false(find_row(&found, made.tiny)->is_tested);  // 0.2 % of a step
    assert_int_equal(find_row(&found, made.came)->ns[MXP__BEFORE], 0);
    assert_true(find_row(&found, made.came)->is_told);
    assert_int_equal(find_row(&found, made.went)->ns[MXP__AFTER], 0);
    // Of the operators that run longer only one is not on the path.
    assert_int_equal(found.slower_count, 1);
    assert_string_equal(made.comparison.rows.operators.all[found.slower[0].row].name, "beside");
    mxp__contributions_fini(&found);
    mxp__comparison_fini(&made.comparison);
}

// Equal programs of 20 rows each: a row told is a wrong one. 10 % of what is told may be, so here
// in about one comparison of ten one is.
static void equal_programs_rarely_have_a_row_that_is_told(void **state)
{
    (void)state;
    enum { EXPERIMENTS = 100, ROWS = 20 };
    size_t wrong = 0;
    mxp_seeded seeded = {6};
    for (int round = 0; round < EXPERIMENTS; round++) {
        mxp_comparison comparison = {.at_least = 0.01};
        for (int side = 0; side < MXP__SIDES; side++) {
            for (int r = 0; r < 5; r++) {
                mxp_compared_run *run = add_run(&comparison, side, 10);
                for (size_t i = 0; i < ROWS; i++) {
                    const char name[] = {(char)('a' + i), '\0'};
                    add_ns(run, path_row(&comparison, "run", name),
                           (int64_t)(1e6 * (1 + 0.07 * normal(&seeded))));
                }
            }
        }
        mxp_contributions found = {0};
        assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
        assert_int_equal(mxp__contributions_find(&comparison, &found), MXP_OK);
        bool any = false;
        for (size_t i = 0; i < found.count; i++) {
            any |= found.all[i].is_told;
        }
        wrong += any;
        mxp__contributions_fini(&found);
        mxp__comparison_fini(&comparison);
    }
    print_message("a row told in %zu of 100\n", wrong);
    assert_true(wrong <= 19);  // 10 %, three deviations
}

static void one_run_a_side_has_rows_and_no_tests(void **state)
{
    (void)state;
    mxp_comparison comparison = {.at_least = 0.01};
    const size_t row = path_row(&comparison, "run", "conv");
    add_ns(add_run(&comparison, MXP__BEFORE, 1), row, 1000);
    add_ns(add_run(&comparison, MXP__AFTER, 1), row, 3000);
    mxp_contributions found = {0};
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    assert_int_equal(mxp__contributions_find(&comparison, &found), MXP_OK);
    assert_int_equal(found.count, 1);
    assert_int_equal(mxp__contribution_change(&found.all[0]), 2000);
    assert_false(found.all[0].is_tested || found.all[0].is_told);
    mxp__contributions_fini(&found);
    mxp__comparison_fini(&comparison);
}

static void without_memory_there_is_an_error_and_nothing_held(void **state)
{
    (void)state;
    mxp_seeded seeded = {4};
    planted made = plant(&seeded);
    assert_int_equal(mxp__comparison_judge(&made.comparison), MXP_OK);
    const size_t held = fake_alloc_held_blocks();
    int error = MXP_ENOMEM;
    size_t allowed = 0;
    for (; error != MXP_OK && allowed < 300; allowed++) {
        mxp_contributions found = {0};
        fake_alloc_fail_after(allowed);
        error = mxp__contributions_find(&made.comparison, &found);
        fake_alloc_fail_never();
        mxp__contributions_fini(&found);
        assert_int_equal(fake_alloc_held_blocks(), held);
    }
    assert_in_range(allowed, 20, 299);
    mxp__comparison_fini(&made.comparison);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_add_up_to_the_means_to_the_nanosecond),
        cmocka_unit_test(what_changed_is_told_and_noise_is_not),
        cmocka_unit_test(equal_programs_rarely_have_a_row_that_is_told),
        cmocka_unit_test(one_run_a_side_has_rows_and_no_tests),
        cmocka_unit_test(without_memory_there_is_an_error_and_nothing_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
