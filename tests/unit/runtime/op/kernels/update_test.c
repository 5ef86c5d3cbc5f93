// SPDX-License-Identifier: Apache-2.0
// Rules of updates: every width of vectors computes the same bits, and in place what it does apart.
#include "runtime/op/kernels/update.h"

#include <math.h>
#include <string.h>

#include "cmocka_all.h"

enum { COUNT = 203 };  // no multiple of a vector

typedef struct arrays {
    double weight[COUNT], gradient[COUNT], states[3][COUNT], to[COUNT];
} arrays;

static double number(size_t i, double least, double most)
{
    return least + (most - least) * (double)((i * 2654435761u) % 1009) / 1009;
}

static void store(void *array, bool wide, size_t i, double value)
{
    if (wide) {
        ((double *)array)[i] = value;
    } else {
        ((float *)array)[i] = (float)value;
    }
}

static void run(const mxn_updates *widths, int rule, bool wide, bool in_place, arrays *a)
{
    memset(a, 0, sizeof *a);
    for (size_t i = 0; i < COUNT; i++) {
        store(a->weight, wide, i, number(i, -2, 2));
        store(a->gradient, wide, i, number(i + 7, -3, 3));
        store(a->states[0], wide, i, number(i + 11, 0.5, 2));
        store(a->states[1], wide, i, number(i + 13, 0.1, 0.2));
        store(a->states[2], wide, i, number(i + 17, -1, 1));
    }
    const mxn_update update = {
        .weight = a->weight,
        .gradient = a->gradient,
        .state = a->states[0],
        .second_state = a->states[1],
        .third_state = a->states[2],
        .to = in_place ? a->weight : a->to,
        .count = COUNT,
        .lr = 0.1,
        .wd = 0.01,
        .momentum = 0.9,
        .beta1 = 0.9,
        .beta2 = 0.999,
        .rho = 0.95,
        .epsilon = 1e-8,
        .scale = 0.7,
        .clip = 1.5,
        .weight_clip = 1.9,
    };
    widths->rules[rule][wide](&update);
}

static bool processor_has(const mxn_updates *widths)
{
    return widths == &mxn__updates_16 || mxn__vector_width() == 64 ||
           (widths == &mxn__updates_32 && mxn__vector_width() == 32);
}

static void every_width_computes_the_same_bits(void **state)
{
    (void)state;
    const mxn_updates *const wider[] = {&mxn__updates_32, &mxn__updates_64};
    static arrays narrow, other;
    for (int i = 0; i < 4 * MXN_RULE_COUNT; i++) {
        const int rule = i / 4;
        const bool wide = i % 2 != 0, in_place = i % 4 > 1;
        run(&mxn__updates_16, rule, wide, in_place, &narrow);
        for (int k = 0; k < 2 && processor_has(wider[k]); k++) {
            run(wider[k], rule, wide, in_place, &other);
            assert_memory_equal(&narrow, &other, sizeof narrow);
        }
    }
}

static void an_update_in_place_gives_what_it_gives_elsewhere(void **state)
{
    (void)state;
    static arrays apart, in_place;
    for (int i = 0; i < 2 * MXN_RULE_COUNT; i++) {
        run(MXN_WIDEST(mxn__updates), i / 2, i % 2 != 0, false, &apart);
        run(MXN_WIDEST(mxn__updates), i / 2, i % 2 != 0, true, &in_place);
        assert_memory_equal(apart.to, in_place.weight, sizeof apart.to);
        assert_memory_equal(apart.states, in_place.states, sizeof apart.states);
    }
}

// w - lr (g + wd w) with g = 0.7 * 2, by hand: 1 - 0.1 * (1.4 + 0.01)
static void sgd_is_its_formula(void **state)
{
    (void)state;
    double weight = 1, gradient = 2, to = 0;
    const mxn_update update = {.weight = &weight,
                               .gradient = &gradient,
                               .to = &to,
                               .count = 1,
                               .lr = 0.1,
                               .wd = 0.01,
                               .scale = 0.7,
                               .clip = -1};
    MXN_WIDEST(mxn__updates)->rules[MXN_RULE_SGD][true](&update);
    assert_true(fabs(to - 0.859) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_computes_the_same_bits),
        cmocka_unit_test(an_update_in_place_gives_what_it_gives_elsewhere),
        cmocka_unit_test(sgd_is_its_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
