// SPDX-License-Identifier: Apache-2.0
// Shuffled rows are the same rows, kept whole, and every place is as likely for each of them.
#include <math.h>
#include <string.h>

#include "cmocka_all.h"
#include "op_run.h"

#define D(...) ((const int64_t[]){__VA_ARGS__})

static void rows_stay_whole_and_none_is_lost(void **state)
{
    (void)state;
    const struct {
        int ndim;
        const int64_t *dims;
        int rows, each;
    } cases[] = {
        {2, D(5, 2), 5, 2}, {1, D(7), 7, 1}, {3, D(1, 2, 2), 1, 4},
        {1, D(1), 1, 1},    {1, D(0), 0, 1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double before[16], after[16];
        bool seen[16] = {false};
        mxn_array *in = op_array(MXN_FLOAT32, cases[c].ndim, cases[c].dims, NULL, c), *out = NULL;
        assert_int_equal(op_run("_shuffle", NULL, 1, &in, &out, MXN_WRITE), 0);
        op_values(in, before);
        op_values(out, after);
        size_t row_bytes = (size_t)cases[c].each * sizeof(double);
        for (int i = 0; i < cases[c].rows; i++) {
            int found = 0;
            while (found < cases[c].rows &&
                   memcmp(&after[i * cases[c].each], &before[found * cases[c].each], row_bytes) !=
                       0) {
                found++;
            }
            assert_true(found < cases[c].rows && !seen[found]);
            seen[found] = true;
        }
        mxn_array_release(in);
        mxn_array_release(out);
    }
}

static void every_place_is_as_likely(void **state)
{
    (void)state;
    enum { ROWS = 4, ROUNDS = 2000 };
    int counts[ROWS][ROWS] = {{0}};
    mxn_array *in = op_array(MXN_INT32, 1, D(ROWS), (const double[]){0, 1, 2, 3}, 0), *out = NULL;
    for (int round = 0; round < ROUNDS; round++) {
        double after[ROWS];
        assert_int_equal(op_run("_shuffle", NULL, 1, &in, &out, MXN_WRITE), 0);
        op_values(out, after);
        for (int i = 0; i < ROWS; i++) {
            counts[i][(int)after[i]]++;
        }
    }
    // Six standard deviations of a binomial count.
    const double spread = 6 * sqrt(ROUNDS * (1.0 / ROWS) * (1 - 1.0 / ROWS));
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < ROWS; k++) {
            assert_true(fabs(counts[i][k] - (double)ROUNDS / ROWS) < spread);
        }
    }
    mxn_array_release(in);
    mxn_array_release(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stay_whole_and_none_is_lost),
        cmocka_unit_test(every_place_is_as_likely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
