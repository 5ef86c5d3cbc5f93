// SPDX-License-Identifier: Apache-2.0
// Memory that goes to other libraries and comes from them: who owns it until when, and what is
// refused of a structure that somebody else has filled.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <string.h>

#include "runtime/capi/dlpack.h"
#include "runtime/capi/package_call.h"

enum { FLOAT32 = 0 };

static void assert_error(int status, const char *part)
{
    assert_int_equal(status, -1);
    if (strstr(MXGetLastError(), part) == NULL) {
        fail_msg("'%s' does not contain '%s'", MXGetLastError(), part);
    }
}

// ---- memory of another library -----------------------------------------------------------------
typedef struct foreign {
    mxn_dl_managed managed;
    float values[6];
    int64_t shape[2], strides[2];
    int ended;
} foreign;

static void end_foreign(mxn_dl_managed *self)
{
    ((foreign *)self->context)->ended++;
}

static void fill(foreign *of)
{
    *of = (foreign){.values = {0, 1, 2, 3, 4, 5}, .shape = {2, 3}, .strides = {3, 1}};
    of->managed = (mxn_dl_managed){.context = of, .deleter = end_foreign};
    of->managed.tensor = (mxn_dl_tensor){.data = of->values,
                                         .device_type = MXN_DL_CPU,
                                         .ndim = 2,
                                         .type = {MXN_DL_FLOAT, 32, 1},
                                         .shape = of->shape,
                                         .strides = of->strides};
}

static void the_deleter_is_called_once_after_the_last_view(void **state)
{
    (void)state;
    foreign of;
    fill(&of);
    NDArrayHandle array = NULL, view = NULL;
    assert_int_equal(MXNDArrayFromDLPack(&of.managed, false, &array), 0);
    assert_int_equal(MXNDArraySlice(array, 1, 2, &view), 0);
    assert_int_equal(MXNDArrayFree(array), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    assert_int_equal(of.ended, 0);
    const float more[] = {7, 8, 9};
    assert_int_equal(MXNDArraySyncCopyFromCPU(view, more, 3), 0);
    assert_true(of.values[3] == 7 && of.values[2] == 2);
    assert_int_equal(MXNDArrayFree(view), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    assert_int_equal(of.ended, 1);
}

static void a_transient_structure_is_copied(void **state)
{
    (void)state;
    foreign of;
    fill(&of);
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayFromDLPackEx(&of.managed, true, &array), 0);
    memset(&of.managed, 0x5a, sizeof of.managed);
    float values[6];
    assert_int_equal(MXNDArraySyncCopyToCPU(array, values, 6), 0);
    assert_true(values[5] == 5);
    assert_int_equal(MXNDArrayFree(array), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    assert_int_equal(of.ended, 1);
}

static void strides_may_be_left_out_and_an_offset_given(void **state)
{
    (void)state;
    foreign of;
    fill(&of);
    of.managed.tensor.strides = NULL;
    of.managed.tensor.byte_offset = 12;
    of.shape[0] = 1;
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayFromDLPack(&of.managed, false, &array), 0);
    float values[3];
    assert_int_equal(MXNDArraySyncCopyToCPU(array, values, 3), 0);
    assert_true(values[0] == 3 && values[2] == 5);
    assert_int_equal(MXNDArrayFree(array), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    assert_int_equal(of.ended, 1);
}

// What is refused stays the caller's.
static void refuse(foreign *of, const char *part)
{
    for (int transient = 0; transient < 2; transient++) {
        NDArrayHandle array = of;
        assert_error(MXNDArrayFromDLPack(&of->managed, transient, &array), part);
        assert_null(array);
    }
    assert_int_equal(of->ended, 0);
    fill(of);
}

static void a_damaged_structure_is_refused(void **state)
{
    (void)state;
    foreign of;
    fill(&of);
    mxn_dl_tensor *tensor = &of.managed.tensor;
    tensor->type.lanes = 4;
    refuse(&of, "4 lanes");
    tensor->type = (mxn_dl_type){5, 64, 1};
    refuse(&of, "code 5 with 64 bits");
    tensor->device_type = 2;
    refuse(&of, "device of type 2");
    tensor->device_id = 4000;
    refuse(&of, "4000");
    tensor->ndim = 17;
    refuse(&of, "17 dimensions");
    tensor->ndim = -1;
    refuse(&of, "-1 dimensions");
    tensor->shape = NULL;
    refuse(&of, "shape is null");
    of.shape[1] = -3;
    refuse(&of, "dimension 1 of the tensor is -3");
    of.shape[0] = of.shape[1] = INT64_MAX / 2;
    refuse(&of, "too many elements");
    of.strides[0] = 4;
    refuse(&of, "dimension 0 has stride 4, not 3");
    tensor->data = NULL;
    refuse(&of, "data is null");
    tensor->byte_offset = 2;
    refuse(&of, "not aligned");
}

static void nulls_are_errors(void **state)
{
    (void)state;
    foreign of;
    fill(&of);
    NDArrayHandle array = NULL;
    DLManagedTensorHandle tensor = NULL;
    assert_error(MXNDArrayFromDLPack(NULL, false, &array), "dlpack");
    assert_error(MXNDArrayFromDLPack(&of.managed, false, NULL), "out_handle");
    assert_error(MXNDArrayFromDLPackVersioned(NULL, &array), "dlpack");
    assert_error(MXNDArrayToDLPack(NULL, &tensor), "null handle");
    assert_error(MXNDArrayToDLPackVersioned(NULL, &tensor), "null handle");
    assert_error(MXNDArrayCallDLPackDeleter(NULL), "dlpack");
    assert_error(MXNDArrayCallDLPackDeleterVersioned(NULL), "dlpack");
    assert_int_equal(MXNDArrayCreateNone(&array), 0);
    assert_error(MXNDArrayToDLPack(array, &tensor), "no values");
    assert_error(MXNDArrayToDLPack(array, NULL), "out_dlpack");
    assert_int_equal(MXNDArrayFree(array), 0);
}

// ---- memory of ours ----------------------------------------------------------------------------
static NDArrayHandle make(void)
{
    const int64_t shape[] = {2, 3};
    const float values[] = {0, 1, 2, 3, 4, 5};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, 2, 1, 0, 1, FLOAT32, &array), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, 6), 0);
    return array;
}

static void exported_memory_lives_until_its_deleter(void **state)
{
    (void)state;
    NDArrayHandle array = make(), row = NULL;
    DLManagedTensorHandle tensor = NULL, versioned = NULL;
    assert_int_equal(MXNDArrayAt(array, 1, &row), 0);
    assert_int_equal(MXNDArrayToDLPack(row, &tensor), 0);
    assert_int_equal(MXNDArrayToDLPackVersioned(array, &versioned), 0);
    assert_int_equal(MXNDArrayFree(array), 0);
    assert_int_equal(MXNDArrayFree(row), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    const mxn_dl_tensor *seen = &((mxn_dl_managed *)tensor)->tensor;
    assert_int_equal(seen->ndim, 1);
    assert_int_equal(seen->shape[0], 3);
    assert_int_equal(seen->strides[0], 1);
    assert_true(((float *)seen->data)[2] == 5);
    assert_int_equal(MXNDArrayCallDLPackDeleter(tensor), 0);
    const mxn_dl_versioned *other = versioned;
    assert_int_equal(other->major, 1);
    assert_int_equal(other->flags, 0);
    assert_int_equal(other->tensor.strides[0], 3);
    assert_true(((float *)other->tensor.data)[5] == 5);
    assert_int_equal(MXNDArrayCallDLPackDeleterVersioned(versioned), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
}

static void an_array_that_comes_back_is_a_view_of_itself(void **state)
{
    (void)state;
    for (int is_versioned = 0; is_versioned < 2; is_versioned++) {
        NDArrayHandle array = make(), again = NULL;
        DLManagedTensorHandle tensor = NULL;
        if (is_versioned) {
            assert_int_equal(MXNDArrayToDLPackVersioned(array, &tensor), 0);
            assert_int_equal(MXNDArrayFromDLPackVersioned(tensor, &again), 0);
        } else {
            assert_int_equal(MXNDArrayToDLPack(array, &tensor), 0);
            assert_int_equal(MXNDArrayFromDLPack(tensor, false, &again), 0);
        }
        assert_int_equal(MXNDArrayFree(array), 0);
        float values[6];
        assert_int_equal(MXNDArraySyncCopyToCPU(again, values, 6), 0);
        assert_true(values[4] == 4);
        assert_int_equal(MXNDArrayFree(again), 0);
    }
    assert_int_equal(MXNDArrayWaitAll(), 0);
}

static void read_only_memory_and_unknown_versions_are_refused(void **state)
{
    (void)state;
    NDArrayHandle array = make(), again = NULL;
    DLManagedTensorHandle tensor = NULL;
    assert_int_equal(MXNDArrayToDLPackVersioned(array, &tensor), 0);
    mxn_dl_versioned *versioned = tensor;
    versioned->flags = MXN_DL_READ_ONLY;
    assert_error(MXNDArrayFromDLPackVersioned(tensor, &again), "read-only");
    versioned->major = 2;
    assert_error(MXNDArrayFromDLPackVersioned(tensor, &again), "version 2.0");
    assert_int_equal(MXNDArrayCallDLPackDeleterVersioned(tensor), 0);
    assert_int_equal(MXNDArrayFree(array), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_deleter_is_called_once_after_the_last_view),
        cmocka_unit_test(a_transient_structure_is_copied),
        cmocka_unit_test(strides_may_be_left_out_and_an_offset_given),
        cmocka_unit_test(a_damaged_structure_is_refused),
        cmocka_unit_test(nulls_are_errors),
        cmocka_unit_test(exported_memory_lives_until_its_deleter),
        cmocka_unit_test(an_array_that_comes_back_is_a_view_of_itself),
        cmocka_unit_test(read_only_memory_and_unknown_versions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
