// SPDX-License-Identifier: Apache-2.0
// Ceilings are measured, whole and in order; the loops of all widths compute the same. How fast
// they are is for bench/profiler/ceiling_loops.c.
#include "profiler/analysis/roof/ceilings.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu/cpu.h"
#include "cmocka_all.h"
#include "fake_alloc.h"
#include "profiler/analysis/roof/ceiling_kernels.h"

static void every_ceiling_is_measured(void **state)
{
    (void)state;
    mxp_ceilings ceilings;
    assert_int_equal(mxp__ceilings_measure(&ceilings), MXP_OK);
    assert_true(ceilings.machine.cores > 0);
    assert_string_not_equal(ceilings.machine.version, "");
    assert_int_equal(ceilings.vector_bytes, mxp__cpu_vector_bytes());
    for (int i = 0; i < MXP__CEILINGS; i++) {
        const mxp_ceiling_rate *one = &ceilings.one[i], *all = &ceilings.all[i];
        bool is_there = i < MXP__CEILING_L1 || i == MXP__CEILING_MEMORY ||
                        ceilings.machine.cache_bytes[i - MXP__CEILING_L1] > 0;
        assert_int_equal(one->rate > 0, is_there);
        assert_true(one->rate <= one->best && one->median <= one->rate);
        assert_true(all->rate <= all->best && all->median <= all->rate);
        assert_true(all->rate >= one->rate);
    }
}

static void machine_is_itself_and_no_other(void **state)
{
    (void)state;
    mxp_machine here, other;
    mxp__machine_here(&here);
    other = here;
    assert_true(mxp__machine_is(&here, &other));
    other.cores++;
    assert_false(mxp__machine_is(&here, &other));
    other = here;
    strcpy(other.kernel, "0.0");
    assert_false(mxp__machine_is(&here, &other));
}

static void check_kernels(const mxp_ceiling_kernels *kernels)
{
    enum { COUNT = 256, ALIGNMENT = 64 };
    assert_true(kernels->vector_bytes <= ALIGNMENT);
    // Each chain's sum tends to 1.
    assert_float_equal(kernels->multiply_add_f32(20000), MXP__CEILING_CHAINS, 0.01);
    assert_float_equal(kernels->multiply_add_f64(20000), MXP__CEILING_CHAINS, 0.01);
    _Alignas(64) float a[COUNT], b[COUNT], c[COUNT];
    for (int i = 0; i < COUNT; i++) {
        a[i] = -1;
        b[i] = (float)i;
        c[i] = (float)(2 * i);
    }
    kernels->triad(a, b, c, COUNT - 64, 2);
    for (int i = 0; i < COUNT; i++) {
        assert_float_equal(a[i], i < COUNT - 64 ? 7.0f * (float)i : -1.0f, 0);
    }
}

static void loops_of_each_width_compute_the_same(void **state)
{
    (void)state;
    const uint32_t bytes = mxp__cpu_vector_bytes();
    check_kernels(&mxp__ceiling_kernels_16);
    if (bytes >= 32) {
        check_kernels(&mxp__ceiling_kernels_32);
    }
    if (bytes >= 64) {
        check_kernels(&mxp__ceiling_kernels_64);
    }
    assert_int_equal(mxp__ceiling_kernels_here()->vector_bytes, bytes);
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    mxp_ceilings ceilings;
    fake_alloc_fail_after(0);
    int error = mxp__ceilings_measure(&ceilings);
    fake_alloc_fail_never();
    assert_int_equal(error, MXP_ENOMEM);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ceiling_is_measured),
        cmocka_unit_test(machine_is_itself_and_no_other),
        cmocka_unit_test(loops_of_each_width_compute_the_same),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
