// SPDX-License-Identifier: Apache-2.0
// Arrays: contexts, life and death, delayed allocation, views, dead handles, copies and fills in
// the order of the engine's operations, and memory figures that add up.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <mxprof/format.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "random.h"
#include "runtime/tensor/tensor.h"

static const mxn_context cpu = {MXN_CPU, 0};

static mxn_array *make(int ndim, const int64_t *dims, int dtype, bool delay)
{
    mxn_shape shape;
    mxn_array *array = NULL;
    assert_int_equal(mxn_shape_set(&shape, ndim, dims, "shape"), MXP_OK);
    assert_int_equal(mxn_array_new(&shape, dtype, cpu, NULL, delay, &array), MXP_OK);
    return array;
}

static mxn_array *numbers(int64_t rows, int64_t columns)
{
    mxn_array *array = make(2, (int64_t[]){rows, columns}, MXN_FLOAT32, true);
    float *values = malloc((size_t)(rows * columns) * sizeof *values);
    for (int64_t i = 0; i < rows * columns; i++) {
        values[i] = (float)i;
    }
    assert_int_equal(mxn_array_copy_in(array, values, (uint64_t)(rows * columns)), MXP_OK);
    free(values);
    return array;
}

static void assert_values(mxn_array *array, uint64_t count, const float *expected)
{
    float values[64];
    assert_true(count <= 64);
    assert_int_equal(mxn_array_copy_out(array, values, count), MXP_OK);
    assert_memory_equal(values, expected, count * sizeof *values);
}

static uint64_t live_bytes(uint32_t device)
{
    mxn_storage_counts counts;
    mxn_storage_counts_get(device, &counts);
    return counts.live_bytes;
}

static void assert_nothing_is_left(void)
{
    uint64_t arrays, buffers;
    assert_int_equal(mxn_wait_all(), MXP_OK);
    mxn_array_counts(&arrays, &buffers);
    assert_int_equal(arrays, 0);
    assert_int_equal(buffers, 0);
    assert_int_equal(live_bytes(0), 0);
}

static void contexts_that_exist_and_that_do_not(void **state)
{
    (void)state;
    char text[32];
    assert_int_equal(mxn_context_check((mxn_context){MXN_CPU, 127}), MXP_OK);
    assert_int_equal(mxn_context_check((mxn_context){MXN_CPU_PINNED, 1}), MXP_OK);
    assert_int_equal(mxn_context_check((mxn_context){MXN_CPU_SHARED, 0}), MXP_OK);
    assert_int_equal(mxn_context_check((mxn_context){MXN_CPU, 128}), MXP_EINVAL);
    assert_int_equal(mxn_context_check((mxn_context){MXN_CPU, -1}), MXP_EINVAL);
    assert_int_equal(mxn_context_check((mxn_context){MXN_GPU, 0}), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "gpu(0): no such device"));
    assert_int_equal(mxn_context_check((mxn_context){4, 0}), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "device type 4"));
    assert_string_equal(mxn_context_text((mxn_context){MXN_CPU_PINNED, 2}, text), "cpu_pinned(2)");
}

static void memory_comes_at_once_or_at_the_first_write(void **state)
{
    (void)state;
    mxn_array *now = make(2, (int64_t[]){3, 3}, MXN_FLOAT32, false);
    assert_int_equal(live_bytes(0), 36);
    mxn_array *later = make(1, (int64_t[]){10}, MXN_FLOAT64, true);
    assert_int_equal(live_bytes(0), 36);
    assert_int_equal(mxn_array_fill(later, 2, NULL), MXP_OK);
    assert_int_equal(mxn_array_wait_read(later), MXP_OK);
    assert_int_equal(live_bytes(0), 116);
    double values[10];
    assert_int_equal(mxn_array_copy_out(later, values, 10), MXP_OK);
    assert_true(values[0] == 2 && values[9] == 2);
    mxn_array_release(now);
    mxn_array_release(later);
    assert_nothing_is_left();
}

static void each_context_has_its_own_memory(void **state)
{
    (void)state;
    static const struct {
        mxn_context context;
        uint32_t device;
    } places[] = {{{MXN_CPU, 3}, 3},
                  {{MXN_CPU_PINNED, 0}, MXP_DEVICE_CPU_PINNED},
                  {{MXN_CPU_SHARED, 1}, MXP_DEVICE_CPU_SHARED}};
    for (int i = 0; i < 3; i++) {
        mxn_shape shape = {.ndim = 1, .dims = {6}};
        mxn_array *array;
        assert_int_equal(mxn_array_new(&shape, MXN_FLOAT32, places[i].context, NULL, false, &array),
                         MXP_OK);
        assert_int_equal(live_bytes(places[i].device), 24);
        assert_int_equal(mxn_array_context(array).type, places[i].context.type);
        mxn_array_release(array);
        assert_int_equal(mxn_wait_all(), MXP_OK);
        assert_int_equal(live_bytes(places[i].device), 0);
    }
}

static void bad_arrays_are_refused(void **state)
{
    (void)state;
    mxn_shape shape = {.ndim = 1, .dims = {3}}, unknown = {.ndim = 1, .dims = {-1}};
    mxn_array *array = (mxn_array *)&array;
    assert_int_equal(mxn_array_new(&shape, 77, cpu, NULL, true, &array), MXP_EINVAL);
    assert_null(array);
    assert_int_equal(mxn_array_new(&unknown, 0, cpu, NULL, true, &array), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "unknown shape (-1,)"));
    assert_int_equal(mxn_array_new(&shape, 0, (mxn_context){MXN_GPU, 1}, NULL, true, &array),
                     MXP_EINVAL);
    mxn_shape wraps = {.ndim = 2, .dims = {INT64_C(1) << 32, INT64_C(1) << 32}};
    assert_int_equal(mxn_array_new(&wraps, 0, cpu, NULL, true, &array), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "(4294967296,4294967296) has too many elements"));
    shape.dims[0] = INT64_C(1) << 50;
    assert_int_equal(mxn_array_new(&shape, 0, cpu, NULL, false, &array), MXP_ENOMEM);
    assert_null(array);
    assert_non_null(strstr(mxp_last_error(), "out of memory on cpu/0"));
    assert_nothing_is_left();
}

static void lack_of_memory_in_an_operation_shows_at_the_wait(void **state)
{
    (void)state;
    mxn_array *array = make(1, (int64_t[]){INT64_C(1) << 50}, MXN_FLOAT32, true);
    int error = mxn_array_fill(array, 1, NULL);
    // Without workers the push itself runs the operation.
    assert_int_equal(error, mxn_engine_is_naive() ? MXP_ENOMEM : MXP_OK);
    error = error == MXP_OK ? mxn_array_wait_read(array) : error;
    assert_int_equal(error, MXP_ENOMEM);
    assert_non_null(strstr(mxp_last_error(), "out of memory on cpu/0"));
    mxn_array_release(array);
    mxn_wait_all();
    assert_nothing_is_left();
}

static void dead_and_foreign_handles_are_recognised(void **state)
{
    (void)state;
    mxn_array *array = make(1, (int64_t[]){3}, MXN_FLOAT32, true);
    assert_int_equal(mxn_array_check(array, "x"), MXP_OK);
    mxn_array_retain(array);
    mxn_array_release(array);
    assert_int_equal(mxn_array_check(array, "x"), MXP_OK);
    mxn_array_release(array);
    assert_int_equal(mxn_array_check(array, "argument 0 of f"), MXP_EHANDLE);
    assert_non_null(strstr(mxp_last_error(), "argument 0 of f"));
    assert_non_null(strstr(mxp_last_error(), "has been freed"));
    assert_int_equal(mxn_array_check(NULL, "x"), MXP_EHANDLE);
    _Alignas(64) char foreign[64] = {0};
    assert_int_equal(mxn_array_check(foreign, "x"), MXP_EHANDLE);
    assert_int_equal(mxn_array_check(foreign + 1, "x"), MXP_EHANDLE);
    mxn_array_release(NULL);
    assert_nothing_is_left();
}

// A handle that was freed stays one, whatever is made in its memory afterwards.
static void a_freed_handle_is_not_the_array_that_has_its_memory_now(void **state)
{
    (void)state;
    mxn_array *freed[MXN_ARRAY_PLACES];
    bool with_memory = false;
    for (int i = 0; i < MXN_ARRAY_PLACES; i++, with_memory = !with_memory) {
        freed[i] = with_memory ? make(1, (int64_t[]){3}, MXN_FLOAT32, false) : NULL;
        if (freed[i] == NULL) {
            assert_int_equal(mxn_array_new_none(&freed[i]), MXP_OK);
        }
        intptr_t apart = (intptr_t)freed[i] - (intptr_t)freed[0];
        assert_in_range(apart < 0 ? -apart : apart, 0, sizeof(mxn_array));  // the same memory
        assert_int_equal(mxn_array_check(freed[i], "x"), MXP_OK);
        for (int before = 0; before < i; before++) {
            assert_int_equal(mxn_array_check(freed[before], "x"), MXP_EHANDLE);
            assert_non_null(strstr(mxp_last_error(), "freed"));
        }
        mxn_array_release(freed[i]);
        mxn_wait_all();
    }
    assert_nothing_is_left();
}

static void any_address_may_be_asked_about(void **state)
{
    (void)state;
    enum { COUNT = 3000 };  // several slabs
    static mxn_array *arrays[COUNT];
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(mxn_array_new_none(&arrays[i]), MXP_OK);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(mxn_array_check(arrays[i], "x"), MXP_OK);
        for (uintptr_t inside = 8; inside < sizeof(mxn_array); inside += 8) {
            assert_int_equal(mxn_array_check((char *)arrays[i] + inside, "x"), MXP_EHANDLE);
        }
    }
    for (int bit = 0; bit < 64; bit++) {  // nothing is mapped at most of them
        const uintptr_t address = (uintptr_t)1 << bit;
        assert_int_equal(mxn_array_check((void *)address, "x"), MXP_EHANDLE);
        assert_int_equal(mxn_array_check((void *)(0 - address), "x"), MXP_EHANDLE);
        (void)mxn_array_check((void *)((uintptr_t)arrays[0] ^ address), "x");  // may be another one
    }
    for (int i = 0; i < COUNT; i++) {
        mxn_array_release(arrays[i]);
        assert_int_equal(mxn_array_check(arrays[i], "x"), MXP_EHANDLE);
    }
    assert_nothing_is_left();
}

// ---- views ------------------------------------------------------------------------------------
static void views_see_the_same_values(void **state)
{
    (void)state;
    mxn_array *base = numbers(4, 3), *rows, *row, *cell, *flat, *same;
    assert_int_equal(mxn_array_slice(base, 1, 3, &rows), MXP_OK);
    assert_int_equal(rows->shape.dims[0], 2);
    assert_values(rows, 6, (float[]){3, 4, 5, 6, 7, 8});
    assert_int_equal(mxn_array_at(rows, 1, false, &row), MXP_OK);
    assert_int_equal(row->shape.ndim, 1);
    assert_values(row, 3, (float[]){6, 7, 8});
    assert_int_equal(mxn_array_at(row, 2, false, &cell), MXP_OK);
    assert_int_equal(cell->shape.ndim, 1);
    mxn_array_release(cell);
    assert_int_equal(mxn_array_at(row, 2, true, &cell), MXP_OK);
    assert_int_equal(cell->shape.ndim, 0);
    assert_values(cell, 1, (float[]){8});
    assert_int_equal(mxn_array_reshape(rows, 1, (int64_t[]){-1}, false, &flat), MXP_OK);
    assert_int_equal(mxn_array_fill(flat, -1, NULL), MXP_OK);
    assert_values(base, 12, (float[]){0, 1, 2, -1, -1, -1, -1, -1, -1, 9, 10, 11});
    assert_int_equal(mxn_array_detach(base, &same), MXP_OK);
    assert_true(mxn_array_shares(base, same) && mxn_array_shares(cell, flat));
    assert_ptr_equal(mxn_array_var(base), mxn_array_var(cell));
    mxn_array_release(base);  // memory stays with the views
    assert_values(cell, 1, (float[]){-1});
    assert_int_equal(live_bytes(0), 48);
    mxn_array *views[] = {rows, row, cell, flat, same};
    for (int i = 0; i < 5; i++) {
        mxn_array_release(views[i]);
    }
    assert_nothing_is_left();
}

static void views_outside_are_refused(void **state)
{
    (void)state;
    mxn_array *base = numbers(4, 3), *view = base, *scalar;
    assert_int_equal(mxn_array_slice(base, 1, 5, &view), MXP_EINVAL);
    assert_null(view);
    assert_non_null(strstr(mxp_last_error(), "Slice [1, 5) is out of range"));
    assert_non_null(strstr(mxp_last_error(), "(4,3)"));
    assert_int_equal(mxn_array_slice(base, 3, 2, &view), MXP_EINVAL);
    assert_int_equal(mxn_array_at(base, 4, false, &view), MXP_EINVAL);
    assert_int_equal(mxn_array_reshape(base, 2, (int64_t[]){4, 4}, false, &view), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "larger"));
    assert_int_equal(mxn_array_reshape(base, 1, (int64_t[]){11}, false, &view), MXP_OK);
    mxn_array_release(view);
    assert_int_equal(mxn_array_slice(base, 2, 2, &view), MXP_OK);
    assert_int_equal(mxn_array_size(view), 0);
    assert_int_equal(mxn_array_copy_out(view, NULL, 0), MXP_OK);
    mxn_array_release(view);
    scalar = make(0, NULL, MXN_INT32, true);
    assert_int_equal(mxn_array_slice(scalar, 0, 1, &view), MXP_EINVAL);
    assert_int_equal(mxn_array_at(scalar, 0, true, &view), MXP_EINVAL);
    mxn_shape shape = {.ndim = 1, .dims = {24}};
    assert_int_equal(mxn_array_view(base, &shape, MXN_FLOAT16, &view), MXP_OK);
    mxn_array_release(view);
    assert_int_equal(mxn_array_view(base, &shape, MXN_FLOAT64, &view), MXP_EINVAL);
    mxn_shape wraps = {.ndim = 2, .dims = {INT64_C(1) << 32, INT64_C(1) << 32}};
    assert_int_equal(mxn_array_view(base, &wraps, MXN_FLOAT32, &view), MXP_EINVAL);
    mxn_array_release(scalar);
    mxn_array_release(base);
    assert_nothing_is_left();
}

static void none_arrays_become_arrays_once(void **state)
{
    (void)state;
    mxn_array *array, *view;
    void *data;
    assert_int_equal(mxn_array_new_none(&array), MXP_OK);
    assert_true(mxn_array_is_none(array));
    assert_int_equal(mxn_array_size(array), 0);
    assert_int_equal(mxn_array_context(array).type, 0);
    assert_int_equal(mxn_array_wait_read(array), MXP_OK);
    assert_int_equal(mxn_array_data(array, &data), MXP_ESTATE);
    assert_int_equal(mxn_array_slice(array, 0, 1, &view), MXP_EINVAL);
    assert_int_equal(mxn_array_fill(array, 1, NULL), MXP_EINVAL);
    assert_int_equal(mxn_array_detach(array, &view), MXP_OK);
    assert_true(mxn_array_is_none(view));
    mxn_shape shape = {.ndim = 1, .dims = {2}};
    assert_int_equal(mxn_array_init(array, &shape, MXN_FLOAT32, cpu, NULL), MXP_OK);
    assert_int_equal(mxn_array_init(array, &shape, MXN_FLOAT32, cpu, NULL), MXP_ESTATE);
    assert_int_equal(mxn_array_fill(array, 1, NULL), MXP_OK);
    assert_values(array, 2, (float[]){1, 1});
    mxn_array_release(view);
    mxn_array_release(array);
    assert_nothing_is_left();
}

static int released;

static void count_release(void *data)
{
    released += *(int *)data;
}

static void attachments_go_with_the_array(void **state)
{
    (void)state;
    int amount = 5;
    mxn_array *array = make(1, (int64_t[]){2}, MXN_FLOAT32, true), *view;
    array->attachments[MXN_ATTACHMENT_AUTOGRAD] = (mxn_attachment){&amount, count_release};
    assert_int_equal(mxn_array_detach(array, &view), MXP_OK);
    assert_null(view->attachments[MXN_ATTACHMENT_AUTOGRAD].data);
    mxn_array_release(view);
    assert_int_equal(released, 0);
    mxn_array_release(array);
    assert_int_equal(released, 5);
    assert_nothing_is_left();
}

// ---- copies -----------------------------------------------------------------------------------
static void copies_convert_and_keep_order(void **state)
{
    (void)state;
    mxn_array *from = numbers(2, 3), *to = make(2, (int64_t[]){2, 3}, MXN_INT64, true);
    mxn_array *back = make(2, (int64_t[]){2, 3}, MXN_FLOAT32, true), *none;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(mxn_array_fill(from, i + 0.5, NULL), MXP_OK);
        assert_int_equal(mxn_array_copy(from, to, NULL), MXP_OK);
        assert_int_equal(mxn_array_copy(to, back, NULL), MXP_OK);
    }
    assert_values(back, 6, (float[]){99, 99, 99, 99, 99, 99});
    assert_int_equal(mxn_array_copy(from, from, NULL), MXP_OK);
    assert_int_equal(mxn_array_new_none(&none), MXP_OK);
    assert_int_equal(mxn_array_copy(none, to, NULL), MXP_EINVAL);
    assert_int_equal(mxn_array_copy_wait(from, none), MXP_OK);
    assert_int_equal(none->dtype, MXN_FLOAT32);
    assert_values(none, 6, (float[]){99.5f, 99.5f, 99.5f, 99.5f, 99.5f, 99.5f});
    mxn_array *all[] = {from, to, back, none};
    for (int i = 0; i < 4; i++) {
        mxn_array_release(all[i]);
    }
    assert_nothing_is_left();
}

static void copies_between_views_of_one_array(void **state)
{
    (void)state;
    mxn_array *base = numbers(4, 2), *head, *tail;
    assert_int_equal(mxn_array_slice(base, 0, 3, &head), MXP_OK);
    assert_int_equal(mxn_array_slice(base, 1, 4, &tail), MXP_OK);
    assert_int_equal(mxn_array_copy(head, tail, NULL), MXP_OK);
    assert_values(base, 8, (float[]){0, 1, 0, 1, 2, 3, 4, 5});
    mxn_array_release(head);
    mxn_array_release(tail);
    mxn_array_release(base);
    assert_nothing_is_left();
}

static void copies_of_wrong_sizes_are_refused(void **state)
{
    (void)state;
    mxn_array *from = numbers(2, 3), *to = numbers(3, 2);
    float value = 0;
    assert_int_equal(mxn_array_copy(from, to, NULL), MXP_EINVAL);
    assert_string_equal(mxp_last_error(),
                        "operands shape mismatch from.shape = [2,3] to.shape=[3,2]");
    assert_int_equal(mxn_array_copy_in(from, &value, 1), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "Memory size do not match"));
    assert_int_equal(mxn_array_copy_out(from, &value, 7), MXP_EINVAL);
    assert_int_equal(mxn_array_copy_out(from, NULL, 6), MXP_EINVAL);
    mxn_array_release(from);
    mxn_array_release(to);
    assert_nothing_is_left();
}

static int run_failing(const mxn_run *run, void *argument)
{
    (void)run, (void)argument;
    return mxp_set_last_error(MXP_EVALUE, "made to fail");
}

static void a_failed_writer_shows_in_host_copies_once(void **state)
{
    (void)state;
    mxn_array *array = numbers(2, 3);
    mxn_var *writes[] = {mxn_array_var(array)};
    float values[6] = {0};
    const mxn_work work = {.function.sync = run_failing, .writes = writes, .write_count = 1};
    int error = mxn_push(&work);
    assert_int_equal(error, mxn_engine_is_naive() ? MXP_EVALUE : MXP_OK);
    error = error == MXP_OK ? mxn_array_copy_out(array, values, 6) : error;
    assert_int_equal(error, MXP_EVALUE);
    assert_string_equal(mxp_last_error(), "made to fail");
    assert_int_equal(mxn_array_copy_out(array, values, 6), MXP_OK);
    mxn_array_release(array);
    mxn_wait_all();
    assert_nothing_is_left();
}

// ---- records ----------------------------------------------------------------------------------
// The allocation of an array: its release may be before it, on another thread.
static const mxp_event *allocation_of(const live_events *live, const char *name)
{
    const mxp_event *event;
    for (size_t n = 0; (event = live_events_find(live, MXP_KIND_MEMORY, name, n)) != NULL; n++) {
        if ((event->flags & MXP_MEM_FREE) == 0) {
            break;
        }
    }
    assert_non_null(event);
    return event;
}

static void operations_and_memory_are_recorded_under_their_names(void **state)
{
    (void)state;
    uint32_t scope = mxp_scope_push("net:");
    mxn_array *from = numbers(3, 3), *to;
    mxp_scope_pop();
    mxn_tag tag = {mxp_string("b"), scope, MXN_MEMORY_OUTPUT};
    assert_int_equal(mxn_array_new(&from->shape, MXN_FLOAT16, cpu, &tag, true, &to), MXP_OK);
    assert_int_equal(mxn_array_fill(from, 1, &(mxn_push_options){.flags = MXP_PHASE_BACKWARD}),
                     MXP_OK);
    assert_int_equal(mxn_array_copy(from, to, NULL), MXP_OK);
    mxn_array_release(from);
    mxn_array_release(to);
    assert_int_equal(mxn_wait_all(), MXP_OK);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "SetValueOp"), 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "CopyCPU2CPU"), 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "DeleteVariable"), 2);
    assert_int_equal(live_events_count(&live, MXP_KIND_MEMORY, NULL), 4);
    mxp_memory_view memory;
    mxp__event_memory(allocation_of(&live, "b"), &memory);
    assert_int_equal(memory.requested_bytes, 18);
    assert_int_equal(memory.live_bytes, 54);
    assert_int_equal(memory.scope, scope);
    mxp__event_memory(allocation_of(&live, "unknown"), &memory);
    assert_int_equal(memory.scope, scope);
    assert_int_equal(memory.category, MXN_MEMORY_INPUT);
    live_events_free(&live);
    assert_nothing_is_left();
}

// ---- many threads -----------------------------------------------------------------------------
enum { THREADS = 4, ROUNDS = 400, SHARED = 8 };

static mxn_array *shared[SHARED];

// Fills and copies among shared arrays, makes and drops arrays and views meanwhile. Elements of one
// array are always equal: anything else means that two operations ran together.
static void *mix(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument;
    const char *problem = NULL;
    for (int i = 0; i < ROUNDS && problem == NULL; i++) {
        mxn_array *from = shared[random_below(&random, SHARED)];
        mxn_array *to = shared[random_below(&random, SHARED)], *own = NULL, *view = NULL;
        float values[16];
        int error = mxn_array_fill(to, (double)i, NULL) | mxn_array_copy(from, to, NULL) |
                    mxn_array_new(&from->shape, MXN_FLOAT32, cpu, NULL, true, &own) |
                    mxn_array_copy(to, own, NULL) | mxn_array_detach(own, &view);
        mxn_array_release(own);
        error |= mxn_array_copy_out(view, values, 16);
        mxn_array_release(view);
        for (int v = 1; v < 16; v++) {
            problem = error != MXP_OK ? "error" : values[v] != values[0] ? "torn" : problem;
        }
    }
    return (void *)(uintptr_t)problem;
}

static void arrays_shared_by_threads_are_never_torn(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < SHARED; i++) {
        shared[i] = make(1, (int64_t[]){16}, MXN_FLOAT32, true);
        assert_int_equal(mxn_array_fill(shared[i], 0, NULL), MXP_OK);
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, mix, (void *)(i + 1)), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *problem = NULL;
        pthread_join(threads[i], &problem);
        assert_null(problem);
    }
    for (int i = 0; i < SHARED; i++) {
        mxn_array_release(shared[i]);
    }
    assert_nothing_is_left();
}

static void a_forked_child_goes_on(void **state)
{
    (void)state;
    mxn_array *array = numbers(2, 2);
    pid_t child = fork();
    if (child == 0) {
        mxn_array *other = NULL;
        float values[4] = {0};
        int error = mxn_array_new(&array->shape, MXN_FLOAT32, cpu, NULL, true, &other) |
                    mxn_array_copy(array, other, NULL) | mxn_array_copy_out(other, values, 4);
        mxn_array_release(other);
        error |= mxn_wait_all();
        _exit(error == MXP_OK && values[3] == 3 && live_bytes(0) == 16 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    mxn_array_release(array);
    assert_nothing_is_left();
}

// Once with workers, then again in a process without.
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_that_exist_and_that_do_not),
        cmocka_unit_test(memory_comes_at_once_or_at_the_first_write),
        cmocka_unit_test(each_context_has_its_own_memory),
        cmocka_unit_test(bad_arrays_are_refused),
        cmocka_unit_test(lack_of_memory_in_an_operation_shows_at_the_wait),
        cmocka_unit_test(dead_and_foreign_handles_are_recognised),
        cmocka_unit_test(a_freed_handle_is_not_the_array_that_has_its_memory_now),
        cmocka_unit_test(any_address_may_be_asked_about),
        cmocka_unit_test(views_see_the_same_values),
        cmocka_unit_test(views_outside_are_refused),
        cmocka_unit_test(none_arrays_become_arrays_once),
        cmocka_unit_test(attachments_go_with_the_array),
        cmocka_unit_test(copies_convert_and_keep_order),
        cmocka_unit_test(copies_between_views_of_one_array),
        cmocka_unit_test(copies_of_wrong_sizes_are_refused),
        cmocka_unit_test(a_failed_writer_shows_in_host_copies_once),
        cmocka_unit_test_setup_teardown(operations_and_memory_are_recorded_under_their_names,
                                        live_events_start, live_events_stop),
        cmocka_unit_test(arrays_shared_by_threads_are_never_torn),
        cmocka_unit_test(a_forked_child_goes_on),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed == 0 && argc == 1) {
        char again[] = "naive";
        setenv("MXNET_ENGINE_TYPE", "NaiveEngine", 1);
        execv("/proc/self/exe", (char *[]){argv[0], again, NULL});
        return 1;
    }
    return failed;
}
