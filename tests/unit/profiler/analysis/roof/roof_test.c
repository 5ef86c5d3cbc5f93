// SPDX-License-Identifier: Apache-2.0
// Operators beside ceilings of round numbers: which one binds, what share each reaches, what is
// above; rows by shapes; what is void, and what is not known.
#include "profiler/analysis/roof/roof.h"

#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "fake_source.h"

// 100 operations, 100 bytes of L1, 50 of L2, 20 of L3 and 10 of memory a ns.
static const mxp_ceilings ceilings = {.machine = {.cores = 2, .cache_bytes = {1000, 10000, 100000}},
                                      .one = {{50e9, 50e9, 50e9}},
                                      .all = {{100e9, 100e9, 100e9},
                                              {50e9, 50e9, 50e9},
                                              {100e9, 100e9, 100e9},
                                              {50e9, 50e9, 50e9},
                                              {20e9, 20e9, 20e9},
                                              {10e9, 10e9, 10e9}}};

static const mxp_choice all_time = {.from_ns = INT64_MIN, .until_ns = INT64_MAX};

typedef struct trace {
    mxp_source *source;
    uint32_t thread, next_id;
    uint64_t at;
    mxp_roof roof;
} trace;

static trace begin_trace(void)
{
    trace t = {.source = fake_source_create(), .next_id = 1, .at = 1000};
    t.thread = fake_thread(t.source, "worker");
    return t;
}

static void run(trace *t, const char *name, const char *shape, uint64_t ns, float flops,
                float bytes, uint32_t flags)
{
    fake_operator(t->source, t->thread,
                  &(mxp_operator){.name = fake_span_name(t->source, "operator", name),
                                  .id = t->next_id++,
                                  .start_ticks = t->at,
                                  .end_ticks = t->at + ns,
                                  .flags = flags,
                                  .shape = shape == NULL ? 0 : fake_string(t->source, shape),
                                  .flops = flops,
                                  .bytes = bytes});
    t->at += ns;
}

static void look(trace *t)
{
    assert_int_equal(mxp__roof_make(t->source, &all_time, &ceilings, &t->roof), MXP_OK);
}

static void end_trace(trace *t)
{
    mxp__roof_fini(&t->roof);
    mxp__source_close(t->source);
}

static const mxp_roof_group *group_of(const trace *t, const char *name)
{
    for (size_t i = 0; i < t->roof.group_count; i++) {
        if (strcmp(t->source->name(t->source, t->roof.groups[i].name).text, name) == 0) {
            return &t->roof.groups[i];
        }
    }
    return NULL;
}

static const mxp_roof_row *row_of(const trace *t, const char *name)
{
    const mxp_roof_group *group = group_of(t, name);
    assert_non_null(group);
    return &t->roof.rows[group->first];
}

static void ceiling_is_what_takes_longest(void **state)
{
    (void)state;
    trace t = begin_trace();
    run(&t, "product", "float32[8]", 1000, 50000, 1000, 0);  // 500 ns of operations, 10 of L1
    run(&t, "copy", "float32[9]", 1000, 0, 2000, 0);  // 20 ns: two cores have 2000 of L1
    run(&t, "relu", "float32[7]", 1000, 100, 20000, 0);  // 400 ns of L2
    run(&t, "pool", "float32[6]", 10000, 100, 100000, 0);  // 5000 ns of L3
    run(&t, "sum", "float32[5]", 100000, 100, 500000, 0);  // 50000 ns of memory
    run(&t, "double", "float64[5]", 2000, 50000, 1000, 0);  // 1000 ns at half the rate
    look(&t);
    assert_int_equal(row_of(&t, "product")->bound, MXP__CEILING_F32);
    assert_float_equal(row_of(&t, "product")->share, 0.5, 1e-9);
    assert_float_equal(row_of(&t, "product")->above_ns, 500, 1e-6);
    assert_int_equal(row_of(&t, "copy")->bound, MXP__CEILING_L1);
    assert_float_equal(row_of(&t, "copy")->share, 0.02, 1e-9);
    assert_int_equal(row_of(&t, "relu")->bound, MXP__CEILING_L2);
    assert_float_equal(row_of(&t, "relu")->share, 0.4, 1e-9);
    assert_int_equal(row_of(&t, "pool")->bound, MXP__CEILING_L3);
    assert_float_equal(row_of(&t, "pool")->share, 0.5, 1e-9);
    assert_int_equal(row_of(&t, "sum")->bound, MXP__CEILING_MEMORY);
    assert_float_equal(row_of(&t, "sum")->share, 0.5, 1e-9);
    assert_int_equal(row_of(&t, "double")->bound, MXP__CEILING_F64);
    assert_float_equal(row_of(&t, "double")->share, 0.5, 1e-9);
    assert_false(t.roof.is_void);
    assert_string_equal(t.source->name(t.source, t.roof.groups[0].name).text, "sum");
    end_trace(&t);
}

static void calls_of_different_shapes_are_different_rows(void **state)
{
    (void)state;
    trace t = begin_trace();
    run(&t, "sgd_update", "float32[410000]", 1000, 50000, 1000, 0);
    run(&t, "sgd_update", "float32[410000]", 3000, 50000, 1000, 0);
    run(&t, "sgd_update", "float32[512]", 10, 100, 100, 0);
    run(&t, "sgd_update", NULL, 10, 0, 400, 0);  // the same operator, the bytes are what differs
    run(&t, "sgd_update", NULL, 10, 0, 800, 0);
    look(&t);
    const mxp_roof_group *group = group_of(&t, "sgd_update");
    assert_int_equal(t.roof.group_count, 1);
    assert_int_equal(group->count, 4);
    assert_int_equal(group->calls, 5);
    assert_int_equal(group->run_ns, 4030);
    const mxp_roof_row *largest = &t.roof.rows[group->first];
    assert_int_equal(largest->calls, 2);
    assert_float_equal(largest->share, 0.25, 1e-9);  // of the mean of 2000 ns
    end_trace(&t);
}

static void unknown_cost_is_no_share(void **state)
{
    (void)state;
    trace t = begin_trace();
    run(&t, "custom", "float32[8]", 1000, 0, 0, 0);
    run(&t, "copy", "float32[8]", 100, 0, 1000, 0);
    run(&t, "odd", "float32[8]", 100, -5, 0.0f / 0.0f, 0);
    look(&t);
    assert_false(row_of(&t, "custom")->is_known);
    assert_false(row_of(&t, "odd")->is_known);
    assert_true(row_of(&t, "copy")->is_known);
    assert_int_equal(t.roof.run_ns, 1200);
    assert_int_equal(t.roof.known_run_ns, 100);
    assert_int_equal(group_of(&t, "custom")->known_run_ns, 0);
    assert_float_equal(mxp__roof_gain_ns(group_of(&t, "custom")), 0, 0);
    end_trace(&t);
}

static void above_105_percent_all_is_void(void **state)
{
    (void)state;
    trace t = begin_trace();
    run(&t, "fast", "float32[8]", 100, 10400, 100, 0);  // 104 %
    look(&t);
    assert_false(t.roof.is_void);
    assert_float_equal(row_of(&t, "fast")->above_ns, 0, 0);
    mxp__roof_fini(&t.roof);
    run(&t, "faster", "float32[8]", 100, 10600, 100, 0);
    look(&t);
    assert_true(t.roof.is_void);
    assert_float_equal(t.roof.rows[t.roof.worst].share, 1.06, 1e-6);
    end_trace(&t);
}

// The parent of a bulk stands for its members; one that did their work has their cost.
static void members_count_and_parents_only_for_fused_ones(void **state)
{
    (void)state;
    trace t = begin_trace();
    run(&t, "member", "float32[8]", 100, 100, 100, 0);
    run(&t, "bulk", NULL, 100, 0, 0, MXP_OP_BULK_PARENT);
    run(&t, "shared", "float32[8]", 0, 100, 100, MXP_OP_SHARED);
    run(&t, "fused", NULL, 100, 100, 100, MXP_OP_BULK_PARENT);
    run(&t, "failed", "float32[8]", 100, 100, 100, MXP_OP_FAILED);
    look(&t);
    assert_int_equal(t.roof.group_count, 2);
    assert_non_null(group_of(&t, "member"));
    assert_non_null(group_of(&t, "fused"));
    end_trace(&t);
}

static void what_is_on_the_path_comes_first(void **state)
{
    (void)state;
    trace t = begin_trace();
    run(&t, "beside", "float32[8]", 2000, 100, 100, 0);
    run(&t, "on", "float32[8]", 1000, 100, 100, 0);
    look(&t);
    assert_string_equal(t.source->name(t.source, t.roof.groups[0].name).text, "beside");
    for (size_t i = 0; i < 2; i++) {
        t.roof.groups[i].has_path = true;
        t.roof.groups[i].path_ns = i == 0 ? 0 : 1000;
    }
    mxp__roof_sort(&t.roof);
    assert_string_equal(t.source->name(t.source, t.roof.groups[0].name).text, "on");
    assert_float_equal(mxp__roof_gain_ns(&t.roof.groups[0]), 999, 1e-6);
    assert_float_equal(mxp__roof_gain_ns(&t.roof.groups[1]), 0, 0);
    end_trace(&t);
}

static void only_what_is_chosen_counts(void **state)
{
    (void)state;
    trace t = begin_trace();
    run(&t, "early", "float32[8]", 1000, 100, 100, 0);
    run(&t, "late", "float32[8]", 1000, 100, 100, 0);
    const mxp_choice choice = {.from_ns = 2000, .until_ns = 3000};
    assert_int_equal(mxp__roof_make(t.source, &choice, &ceilings, &t.roof), MXP_OK);
    assert_int_equal(t.roof.group_count, 1);
    assert_non_null(group_of(&t, "late"));
    end_trace(&t);
}

static void level_without_bandwidth_is_left_out(void **state)
{
    (void)state;
    trace t = begin_trace();
    mxp_ceilings no_l3 = ceilings;
    no_l3.machine.cache_bytes[2] = 0;
    no_l3.all[MXP__CEILING_L3].rate = 0;
    run(&t, "pool", "float32[6]", 20000, 100, 100000, 0);
    assert_int_equal(mxp__roof_make(t.source, &all_time, &no_l3, &t.roof), MXP_OK);
    assert_int_equal(row_of(&t, "pool")->bound, MXP__CEILING_MEMORY);
    assert_float_equal(row_of(&t, "pool")->share, 0.5, 1e-9);
    end_trace(&t);
}

static void operators_have_families(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mxp_family family;
    } cases[] = {{"Convolution", MXP__FAMILY_PRODUCT},
                 {"_backward_FullyConnected", MXP__FAMILY_PRODUCT},
                 {"batch_dot", MXP__FAMILY_PRODUCT},
                 {"_linalg_gemm2", MXP__FAMILY_PRODUCT},
                 {"Activation", MXP__FAMILY_ELEMENTWISE},
                 {"_backward_mul_scalar", MXP__FAMILY_ELEMENTWISE},
                 {"sgd_mom_update", MXP__FAMILY_ELEMENTWISE},
                 {"broadcast_add", MXP__FAMILY_ELEMENTWISE},
                 {"Pooling", MXP__FAMILY_REDUCTION},
                 {"log_softmax", MXP__FAMILY_REDUCTION},
                 {"_backward_BatchNorm", MXP__FAMILY_REDUCTION},
                 {"mean", MXP__FAMILY_REDUCTION},
                 {"CopyCPU2CPU", MXP__FAMILY_COPY},
                 {"Reshape", MXP__FAMILY_COPY},
                 {"_zeros", MXP__FAMILY_COPY},
                 {"transpose", MXP__FAMILY_COPY},
                 {"_random_uniform", MXP__FAMILY_RANDOM},
                 {"Dropout", MXP__FAMILY_RANDOM},
                 {"my_operator", MXP__FAMILY_OTHER}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (mxp__family_of(cases[i].name) != cases[i].family) {
            fail_msg("%s is %s", cases[i].name, mxp__family_name(mxp__family_of(cases[i].name)));
        }
    }
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    trace t = begin_trace();
    for (int i = 0; i < 20; i++) {
        run(&t, "a", "float32[8]", 10, 100, (float)(100 + i), 0);
    }
    int error = MXP_ENOMEM;
    for (size_t fails_at = 0; error != MXP_OK; fails_at++) {
        size_t held = fake_alloc_held_blocks();
        fake_alloc_fail_after(fails_at);
        error = mxp__roof_make(t.source, &all_time, &ceilings, &t.roof);
        bool failed = fake_alloc_failed() > 0;
        fake_alloc_fail_never();
        assert_int_equal(error, failed ? MXP_ENOMEM : MXP_OK);
        mxp__roof_fini(&t.roof);
        assert_int_equal(fake_alloc_held_blocks(), held);
    }
    mxp__source_close(t.source);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ceiling_is_what_takes_longest),
        cmocka_unit_test(calls_of_different_shapes_are_different_rows),
        cmocka_unit_test(unknown_cost_is_no_share),
        cmocka_unit_test(above_105_percent_all_is_void),
        cmocka_unit_test(members_count_and_parents_only_for_fused_ones),
        cmocka_unit_test(what_is_on_the_path_comes_first),
        cmocka_unit_test(only_what_is_chosen_counts),
        cmocka_unit_test(level_without_bandwidth_is_left_out),
        cmocka_unit_test(operators_have_families),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
