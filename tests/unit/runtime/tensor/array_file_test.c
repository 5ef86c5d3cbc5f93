// SPDX-License-Identifier: Apache-2.0
// Files of arrays: round trips of every type, files as MXNet wrote them (all versions of the
// format), damaged ones, and saving over what is there.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random.h"
#include "runtime/tensor/tensor.h"

static const mxn_context cpu = {MXN_CPU, 0};
static const char file[] = "arrays.params";

// {'w': float32 (2,3), 'i64': int64 (3,), 'h': float16 (2,)}, saved by MXNet 1.9.1.
static const char version_2[] =
    "120100000000000000000000000000000300000000000000c9fa93f900000000020000000200000000000000"
    "0300000000000000010000000000000000000000000000000000803f0000004000004040000080400000a040"
    "c9fa93f900000000010000000300000000000000010000000000000006000000010000000000000002000000"
    "000000000300000000000000c9fa93f900000000010000000200000000000000010000000000000002000000"
    "003e00c003000000000000000100000000000000770300000000000000693634010000000000000068";

// {'s': float32 (), 'z': float32 (0,3), 'b': bool (2,)}, saved by MXNet 1.9.1 with numpy semantics.
static const char version_3[] =
    "120100000000000000000000000000000300000000000000cafa93f900000000000000000100000000000000"
    "0000000000006040cafa93f90000000002000000000000000000000003000000000000000100000000000000"
    "00000000cafa93f9000000000100000002000000000000000100000000000000070000000100030000000000"
    "000001000000000000007301000000000000007a010000000000000062";

// float32 (2,2) 1 2 3 4, as versions before 0.12 and before 0.9 wrote it; the second is called x.
static const char version_1[] =
    "120100000000000000000000000000000100000000000000c8fa93f902000000020000000000000002000000"
    "000000000100000000000000000000000000803f0000004000004040000080400000000000000000";
static const char version_0[] =
    "1201000000000000000000000000000001000000000000000200000002000000020000000100000000000000"
    "000000000000803f0000004000004040000080400100000000000000010000000000000078";

static size_t bytes_of(const char *hex, unsigned char *bytes)
{
    size_t count = strlen(hex) / 2;
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
        bytes[i] = (unsigned char)value;
    }
    return count;
}

static mxn_array_list load_hex(const char *hex)
{
    unsigned char bytes[512];
    mxn_array_list list;
    int error = mxn_arrays_load_bytes(bytes, bytes_of(hex, bytes), &list);
    if (error != MXP_OK) {
        fail_msg("%s", mxp_last_error());
    }
    return list;
}

static void assert_array(mxn_array *array, int dtype, int ndim, const int64_t *dims,
                         const void *values)
{
    mxn_shape shape;
    char found[64];
    mxn_shape_set(&shape, ndim, dims, "expected");
    assert_int_equal(array->dtype, dtype);
    assert_true(mxn_shape_equal(&array->shape, &shape));
    uint64_t count = mxn_shape_size(&shape);
    assert_int_equal(mxn_array_copy_out(array, found, count), MXP_OK);
    assert_memory_equal(found, values, count * mxn_dtype_size(dtype));
}

static void files_of_the_original_are_read(void **state)
{
    (void)state;
    mxn_array_list list = load_hex(version_2);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.names[0], "w");
    assert_string_equal(list.names[1], "i64");
    assert_string_equal(list.names[2], "h");
    assert_array(list.arrays[0], MXN_FLOAT32, 2, (int64_t[]){2, 3}, (float[]){0, 1, 2, 3, 4, 5});
    assert_array(list.arrays[1], MXN_INT64, 1, (int64_t[]){3}, (int64_t[]){1, 2, 3});
    assert_array(list.arrays[2], MXN_FLOAT16, 1, (int64_t[]){2}, (uint16_t[]){0x3e00, 0xc000});
    mxn_array_list_fini(&list);
    assert_null(list.arrays);
    list = load_hex(version_3);
    assert_int_equal(list.count, 3);
    assert_array(list.arrays[0], MXN_FLOAT32, 0, NULL, (float[]){3.5f});
    assert_array(list.arrays[1], MXN_FLOAT32, 2, (int64_t[]){0, 3}, "");
    assert_array(list.arrays[2], MXN_BOOL, 1, (int64_t[]){2}, "\1\0");
    mxn_array_list_fini(&list);
    list = load_hex(version_1);
    assert_null(list.names);
    assert_array(list.arrays[0], MXN_FLOAT32, 2, (int64_t[]){2, 2}, (float[]){1, 2, 3, 4});
    mxn_array_list_fini(&list);
    list = load_hex(version_0);
    assert_string_equal(list.names[0], "x");
    assert_array(list.arrays[0], MXN_FLOAT32, 2, (int64_t[]){2, 2}, (float[]){1, 2, 3, 4});
    mxn_array_list_fini(&list);
}

static char *content_of(const char *path, size_t *length)
{
    static char content[4096];
    FILE *opened = fopen(path, "rb");
    assert_non_null(opened);
    *length = fread(content, 1, sizeof content, opened);
    fclose(opened);
    return content;
}

static void assert_saves_as(const char *hex, bool numpy)
{
    unsigned char bytes[512];
    size_t expected = bytes_of(hex, bytes), length;
    mxn_array_list list = load_hex(hex);
    assert_int_equal(
        mxn_arrays_save(file, list.count, list.arrays, (const char *const *)list.names, numpy),
        MXP_OK);
    const char *content = content_of(file, &length);
    assert_int_equal(length, expected);
    assert_memory_equal(content, bytes, expected);
    mxn_array_list_fini(&list);
}

static void files_are_those_of_the_original_byte_by_byte(void **state)
{
    (void)state;
    assert_saves_as(version_2, false);
    assert_saves_as(version_3, true);
    unlink(file);
}

static void every_type_comes_back(void **state)
{
    (void)state;
    enum { COUNT = MXN_DTYPE_COUNT + 2 };
    mxn_array *arrays[COUNT];
    uint64_t random = 9;
    mxn_shape shape = {.ndim = 3, .dims = {2, 3, 5}};
    for (int i = 0; i < MXN_DTYPE_COUNT; i++) {
        uint64_t values[30];
        for (int v = 0; v < 30; v++) {
            values[v] = random_next(&random);
        }
        assert_int_equal(mxn_array_new(&shape, i, cpu, NULL, true, &arrays[i]), MXP_OK);
        assert_int_equal(mxn_array_copy_in(arrays[i], values, 30), MXP_OK);
    }
    assert_int_equal(mxn_array_new_none(&arrays[COUNT - 2]), MXP_OK);
    assert_int_equal(mxn_array_slice(arrays[0], 1, 2, &arrays[COUNT - 1]), MXP_OK);
    for (int numpy = 0; numpy < 2; numpy++) {
        mxn_array_list list;
        assert_int_equal(mxn_arrays_save(file, COUNT, arrays, NULL, numpy == 1), MXP_OK);
        assert_int_equal(mxn_arrays_load(file, &list), MXP_OK);
        assert_int_equal(list.count, COUNT);
        assert_null(list.names);
        assert_null(list.arrays[COUNT - 2]);
        for (int i = 0; i < COUNT; i++) {
            uint64_t saved[30], loaded[30];
            if (i == COUNT - 2) {
                continue;
            }
            uint64_t size = mxn_array_size(arrays[i]);
            assert_true(mxn_shape_equal(&arrays[i]->shape, &list.arrays[i]->shape));
            assert_int_equal(arrays[i]->dtype, list.arrays[i]->dtype);
            assert_int_equal(mxn_array_copy_out(arrays[i], saved, size), MXP_OK);
            assert_int_equal(mxn_array_copy_out(list.arrays[i], loaded, size), MXP_OK);
            assert_memory_equal(saved, loaded, size * mxn_dtype_size(arrays[i]->dtype));
        }
        mxn_array_list_fini(&list);
    }
    for (int i = 0; i < COUNT; i++) {
        mxn_array_release(arrays[i]);
    }
    unlink(file);
}

static void a_save_waits_for_writers(void **state)
{
    (void)state;
    mxn_shape shape = {.ndim = 1, .dims = {1000}};
    mxn_array *array;
    mxn_array_list list;
    assert_int_equal(mxn_array_new(&shape, MXN_FLOAT32, cpu, NULL, true, &array), MXP_OK);
    for (int i = 0; i < 50; i++) {
        mxn_array_fill(array, i, NULL);
    }
    assert_int_equal(mxn_arrays_save(file, 1, &array, NULL, false), MXP_OK);
    assert_int_equal(mxn_arrays_load(file, &list), MXP_OK);
    float values[1000];
    assert_int_equal(mxn_array_copy_out(list.arrays[0], values, 1000), MXP_OK);
    assert_true(values[0] == 49 && values[999] == 49);
    mxn_array_list_fini(&list);
    mxn_array_release(array);
    unlink(file);
}

static void what_cannot_be_saved_leaves_the_old_file(void **state)
{
    (void)state;
    mxn_shape shape = {.ndim = 0};
    mxn_array *scalar, *broken;
    size_t length;
    assert_int_equal(mxn_array_new(&shape, MXN_FLOAT32, cpu, NULL, false, &scalar), MXP_OK);
    assert_int_equal(mxn_arrays_save(file, 0, NULL, NULL, false), MXP_OK);
    content_of(file, &length);
    assert_int_equal(length, 32);
    assert_int_equal(mxn_arrays_save(file, 1, &scalar, NULL, false), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "numpy semantics"));
    assert_int_equal(mxn_arrays_save(NULL, 0, NULL, NULL, false), MXP_EINVAL);
    assert_int_equal(mxn_arrays_save(file, 1, NULL, NULL, false), MXP_EINVAL);
    const char *name = NULL;
    assert_int_equal(mxn_arrays_save(file, 1, &scalar, &name, true), MXP_EINVAL);
    mxn_array_release(scalar);
    assert_int_equal(mxn_arrays_save(file, 1, &scalar, NULL, true), MXP_EHANDLE);
    assert_int_equal(mxn_arrays_save("no/such/place", 0, NULL, NULL, true), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "no/such/place"));
    // A writer that fails in the middle of the file.
    shape = (mxn_shape){.ndim = 1, .dims = {INT64_C(1) << 50}};
    assert_int_equal(mxn_array_new(&shape, MXN_FLOAT32, cpu, NULL, true, &broken), MXP_OK);
    assert_int_equal(mxn_arrays_save(file, 1, &broken, NULL, true), MXP_ENOMEM);
    mxn_array_release(broken);
    content_of(file, &length);
    assert_int_equal(length, 32);
    assert_int_equal(chmod(file, 0600), 0);
    unlink(file);
    assert_int_equal(mxn_wait_all(), MXP_OK);
}

static void a_file_that_stands_beside_is_left_alone(void **state)
{
    (void)state;
    char beside[256];
    size_t length;
    snprintf(beside, sizeof beside, "%s.%d.tmp", file, (int)getpid());
    FILE *foreign = fopen(beside, "wb");
    assert_non_null(foreign);
    assert_int_equal(fputs("foreign", foreign) >= 0, 1);
    assert_int_equal(fclose(foreign), 0);
    assert_int_equal(mxn_arrays_save(file, 0, NULL, NULL, false), MXP_OK);
    assert_memory_equal(content_of(beside, &length), "foreign", 7);
    assert_int_equal(length, 7);
    content_of(file, &length);
    assert_int_equal(length, 32);
    unlink(beside);
    unlink(file);
}

static void special_files_are_written_in_place(void **state)
{
    (void)state;
    unlink(file);
    assert_int_equal(mkfifo(file, 0600), 0);
    FILE *reader = fopen(file, "r+b");
    assert_non_null(reader);
    assert_int_equal(mxn_arrays_save(file, 0, NULL, NULL, false), MXP_OK);
    struct stat status;
    assert_int_equal(lstat(file, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    char content[32];
    assert_int_equal(fread(content, 1, 32, reader), 32);
    fclose(reader);
    unlink(file);
}

// ---- damage -----------------------------------------------------------------------------------
static void assert_refused(const void *bytes, size_t length, const char *reason)
{
    mxn_array_list list;
    int error = mxn_arrays_load_bytes(bytes, length, &list);
    if (error != MXP_EFORMAT || strstr(mxp_last_error(), reason) == NULL) {
        fail_msg("%d, '%s' is not in: %s", error, reason, mxp_last_error());
    }
    assert_int_equal(list.count, 0);
    assert_null(list.arrays);
}

static void damaged_files_say_where_and_what(void **state)
{
    (void)state;
    unsigned char bytes[512], copy[512];
    size_t length = bytes_of(version_2, bytes);
    for (size_t cut = 0; cut < length; cut++) {
        assert_refused(bytes, cut, cut < 16 ? "it ends where" : "it");
    }
#define DAMAGE(at, value, reason)    \
    memcpy(copy, bytes, length);     \
    memset(copy + (at), (value), 1); \
    assert_refused(copy, length, (reason))
    DAMAGE(0, 0x13, "does not begin like a list");
    DAMAGE(23, 0x10, "too short for 1152921504606846979 arrays");
    DAMAGE(28, 7, "storage type 7");
    DAMAGE(32, 17, "17 dimensions");
    DAMAGE(43, 0x80, "dimension 0 is negative");
    DAMAGE(42, 0x10, "it ends where");
    DAMAGE(60, 99, "dtype 99");
    DAMAGE(24, 0, "0xf993fa00 is not the beginning of an array");
#undef DAMAGE
}

static void sparse_arrays_are_not_supported_yet(void **state)
{
    (void)state;
    unsigned char bytes[512];
    mxn_array_list list;
    size_t length = bytes_of(version_2, bytes);
    bytes[28] = 1;
    assert_int_equal(mxn_arrays_load_bytes(bytes, length, &list), MXP_ENOTSUP);
    assert_non_null(strstr(mxp_last_error(), "row_sparse"));
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    mxn_array_list list;
    assert_int_equal(mxn_arrays_load("no/such/file", &list), MXP_EIO);
    assert_int_equal(mxn_arrays_load(".", &list), MXP_EIO);
    assert_int_equal(mxn_arrays_load(NULL, &list), MXP_EINVAL);
    assert_int_equal(mxn_arrays_load_bytes(NULL, 5, &list), MXP_EINVAL);
    assert_int_equal(mxn_arrays_load_bytes(NULL, 0, &list), MXP_EFORMAT);
}

static void any_damage_is_survived(void **state)
{
    (void)state;
    static const char *const versions[] = {version_0, version_1, version_2, version_3};
    uint64_t random = 11;
    int accepted = 0;
    for (int i = 0; i < 40000; i++) {
        unsigned char bytes[512];
        mxn_array_list list;
        size_t length = bytes_of(versions[i % 4], bytes);
        for (uint64_t n = 1 + random_below(&random, 3); n > 0; n--) {
            bytes[random_below(&random, length)] = (unsigned char)random_next(&random);
        }
        accepted += mxn_arrays_load_bytes(bytes, length, &list) == MXP_OK;
        mxn_array_list_fini(&list);
    }
    assert_in_range(accepted, 100, 39000);
    assert_int_equal(mxn_wait_all(), MXP_OK);
    uint64_t arrays, buffers;
    mxn_array_counts(&arrays, &buffers);
    assert_int_equal(arrays, 0);
    assert_int_equal(buffers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_the_original_are_read),
        cmocka_unit_test(files_are_those_of_the_original_byte_by_byte),
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(a_save_waits_for_writers),
        cmocka_unit_test(what_cannot_be_saved_leaves_the_old_file),
        cmocka_unit_test(a_file_that_stands_beside_is_left_alone),
        cmocka_unit_test(special_files_are_written_in_place),
        cmocka_unit_test(damaged_files_say_where_and_what),
        cmocka_unit_test(sparse_arrays_are_not_supported_yet),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(any_damage_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
