// SPDX-License-Identifier: Apache-2.0
// Arrays on the memory of one that is written to while recording.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <string.h>

static NDArrayHandle make(void)
{
    const int64_t shape[] = {2, 2};
    const float values[] = {1, 2, 3, 4};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, 2, 1, 0, 0, 0, &array), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, 4), 0);
    return array;
}

static NDArrayHandle rows(NDArrayHandle array, uint32_t begin, uint32_t end)
{
    NDArrayHandle view = NULL;
    assert_int_equal(MXNDArraySlice(array, begin, end, &view), 0);
    return view;
}

// The result; null if the call was refused.
static NDArrayHandle run(const char *name, NDArrayHandle input, NDArrayHandle out)
{
    OpHandle op = NULL;
    NDArrayHandle list[] = {out}, *outputs = out == NULL ? NULL : list;
    int count = out != NULL;
    assert_int_equal(NNGetOpHandle(name, &op), 0);
    return MXImperativeInvoke(op, 1, &input, &count, &outputs, 0, NULL, NULL, NULL) == 0
               ? outputs[0]
               : NULL;
}

static void assert_refused(NDArrayHandle array)
{
    assert_null(run("square", array, NULL));
    assert_non_null(strstr(MXGetLastError(), "shares its memory with another one"));
}

static void recording(int on)
{
    int before;
    assert_int_equal(MXAutogradSetIsRecording(on, &before), 0);
}

static NDArrayHandle variable(void)
{
    NDArrayHandle x = make(), gradient = make();
    mx_uint write = 1;
    assert_int_equal(MXAutogradMarkVariables(1, &x, &write, &gradient), 0);
    MXNDArrayFree(gradient);
    return x;
}

static void the_whole_is_refused_after_a_write_to_its_view(void **state)
{
    (void)state;
    NDArrayHandle x = variable(), array = make(), view = rows(array, 0, 1);
    NDArrayHandle part = rows(x, 1, 2);
    recording(1);
    NDArrayHandle source = rows(x, 0, 1), y = run("square", source, view),
                  z = run("sum", view, NULL);
    assert_ptr_equal(y, view);
    assert_non_null(z);  // what was written to knows where its values come from
    assert_refused(array);
    NDArrayHandle none = NULL;
    assert_int_equal(MXNDArraySlice(array, 0, 1, &none),
                     -1);  // a view would be recorded of nothing
    assert_null(none);
    recording(0);
    NDArrayHandle plain = run("square", array, NULL);
    assert_non_null(plain);  // values are what they are
    assert_int_equal(MXAutogradBackward(1, &z, NULL, 0), 0);
    recording(1);
    NDArrayHandle again = run("square", array, NULL);
    assert_non_null(again);  // the graph was forgotten
    recording(0);
    NDArrayHandle all[] = {x, array, view, part, source, z, plain, again};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        MXNDArrayFree(all[i]);
    }
    assert_int_equal(MXNDArrayWaitAll(), 0);
}

static void a_view_is_refused_after_a_write_to_the_whole(void **state)
{
    (void)state;
    NDArrayHandle x = variable(), array = make(), view = rows(array, 1, 2), alone = make();
    recording(1);
    assert_ptr_equal(run("square", x, array), array);
    assert_refused(view);
    NDArrayHandle constant = make(), row = rows(constant, 0, 1);
    assert_null(run("_copyto", row, view));  // it would change what is in the graph
    assert_non_null(strstr(MXGetLastError(), "no longer be what its gradient is of"));
    NDArrayHandle newer = rows(array, 1, 2), y = run("square", newer, NULL);
    assert_non_null(y);  // a view that was taken afterwards is recorded
    assert_ptr_equal(run("square", x, alone), alone);
    NDArrayHandle z = run("square", alone, NULL);
    assert_non_null(z);  // nobody else shows this memory
    recording(0);
    NDArrayHandle all[] = {x, array, view, constant, row, alone, newer, y, z};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        MXNDArrayFree(all[i]);
    }
    assert_int_equal(MXNDArrayWaitAll(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_is_refused_after_a_write_to_its_view),
        cmocka_unit_test(a_view_is_refused_after_a_write_to_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
