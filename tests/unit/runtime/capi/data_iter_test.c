// SPDX-License-Identifier: Apache-2.0
// Data iterators by the C functions.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 5, BATCH = 2 };

static char path[] = "/tmp/mxn_data_iter_XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int i = 0; i < ROWS; i++) {
        assert_true(dprintf(fd, "%d,%d.5\n", i, i) > 0);
    }
    return close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static DataIterCreator creator_of(const char *wanted)
{
    uint32_t count = 0, parameters = 0;
    DataIterCreator *creators = NULL;
    assert_int_equal(MXListDataIters(&count, &creators), 0);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = NULL, *text = NULL, **names = NULL, **types = NULL, **texts = NULL;
        assert_int_equal(
            MXDataIterGetIterInfo(creators[i], &name, &text, &parameters, &names, &types, &texts),
            0);
        assert_true(text[0] != '\0');
        assert_true(parameters == 0 || (names[0][0] != '\0' && types[0][0] != '\0'));
        if (strcmp(name, wanted) == 0) {
            return creators[i];
        }
    }
    fail_msg("there is no %s", wanted);
    return NULL;
}

static DataIterHandle make(void)
{
    const char *keys[] = {"data_csv", "data_shape", "batch_size"};
    const char *values[] = {path, "(2,)", "2"};
    DataIterHandle iter = NULL;
    if (MXDataIterCreateIter(creator_of("CSVIter"), 3, keys, values, &iter) != 0) {
        fail_msg("%s", MXGetLastError());
    }
    return iter;
}

static float first_of(NDArrayHandle array)
{
    float values[BATCH * 2] = {0};
    assert_int_equal(MXNDArraySyncCopyToCPU(array, values, BATCH * 2), 0);
    assert_int_equal(MXNDArrayFree(array), 0);
    return values[0];
}

static void batches_come_until_the_epoch_is_over(void **state)
{
    (void)state;
    DataIterHandle iter = make();
    int has = 0, pad = -1, count = 0, items = 0;
    int64_t length = 0;
    assert_int_equal(MXDataIterGetLenHint(iter, &length), 0);
    assert_int_equal(length, 3);
    for (;; count++) {
        NDArrayHandle data = NULL, *both = NULL;
        uint64_t *index = NULL, size = 0;
        assert_int_equal(MXDataIterNext(iter, &has), 0);
        if (has == 0) {
            break;
        }
        assert_int_equal(MXDataIterGetData(iter, &data), 0);
        assert_true(first_of(data) == (float)(count * BATCH));
        assert_int_equal(MXDataIterGetPadNum(iter, &pad), 0);
        assert_int_equal(pad, count == 2);
        assert_int_equal(MXDataIterGetIndex(iter, &index, &size), 0);
        assert_int_equal(size, BATCH);
        assert_int_equal(index[0], count * BATCH);
        assert_int_equal(MXDataIterGetItems(iter, &items, &both), 0);
        assert_int_equal(items, 2);
        assert_int_equal(MXNDArrayFree(both[0]), 0);
        assert_int_equal(MXNDArrayFree(both[1]), 0);
    }
    assert_int_equal(count, 3);
    assert_int_equal(MXDataIterBeforeFirst(iter), 0);
    assert_int_equal(MXDataIterNext(iter, &has), 0);
    assert_int_equal(has, 1);
    assert_int_equal(MXDataIterFree(iter), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
}

static void wrong_arguments_are_errors(void **state)
{
    (void)state;
    DataIterHandle iter = make(), other = NULL;
    NDArrayHandle array = NULL;
    uint64_t *index = NULL, size = 0;
    int has = 0, somewhere = 0;
    uint32_t count = 0;
    DataIterCreator *creators = NULL;
    assert_int_equal(MXListDataIters(NULL, &creators), -1);
    assert_int_equal(MXListDataIters(&count, NULL), -1);
    assert_int_equal(
        MXDataIterGetIterInfo(creator_of("CSVIter"), NULL, NULL, NULL, NULL, NULL, NULL), -1);
    assert_int_equal(MXDataIterCreateIter(&somewhere, 0, NULL, NULL, &other), -1);
    assert_non_null(strstr(MXGetLastError(), "no creator of a data iterator"));
    assert_int_equal(MXDataIterCreateIter(creator_of("CSVIter"), 1, NULL, NULL, &other), -1);
    assert_int_equal(MXDataIterCreateIter(creator_of("CSVIter"), 0, NULL, NULL, NULL), -1);
    assert_int_equal(MXDataIterNext(iter, NULL), -1);
    assert_int_equal(MXDataIterGetLabel(iter, &array), -1);
    assert_non_null(strstr(MXGetLastError(), "no current batch"));
    assert_int_equal(MXDataIterGetIndex(iter, &index, NULL), -1);
    assert_int_equal(MXDataIterGetIndex(iter, &index, &size), -1);
    assert_int_equal(MXDataIterFree(iter), 0);
    assert_int_equal(MXDataIterFree(iter), -1);
    assert_int_equal(MXDataIterNext(iter, &has), -1);
    assert_int_equal(MXDataIterBeforeFirst(NULL), -1);
}

// Front ends of MXNet import these names, so they are in the list.
static void kinds_that_are_not_there_say_what_they_need(void **state)
{
    (void)state;
    DataIterHandle iter = NULL;
    assert_int_equal(MXDataIterCreateIter(creator_of("LibSVMIter"), 0, NULL, NULL, &iter), -1);
    assert_non_null(strstr(MXGetLastError(), "LibSVMIter is not there: files of sparse rows"));
    assert_int_equal(MXDataIterCreateIter(creator_of("ImageRecordIter"), 0, NULL, NULL, &iter), -1);
    assert_non_null(strstr(MXGetLastError(), "record files of images are not read"));
    assert_null(iter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_come_until_the_epoch_is_over),
        cmocka_unit_test(wrong_arguments_are_errors),
        cmocka_unit_test(kinds_that_are_not_there_say_what_they_need),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
