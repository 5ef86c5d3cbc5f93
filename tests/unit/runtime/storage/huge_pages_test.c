// SPDX-License-Identifier: Apache-2.0
// Large blocks ask for huge pages, small ones do not: as the system says of the mapping they are
// in.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/memory.h"
#include "cmocka_all.h"
#include "runtime/tensor/tensor.h"

// Whether the mapping of an address was advised, by the flags of /proc/self/smaps.
static bool is_advised(const void *at)
{
    char line[4096];
    bool is_it = false, advised = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        uintptr_t begin, end;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
            is_it = (uintptr_t)at >= begin && (uintptr_t)at < end;
        } else if (is_it && strncmp(line, "VmFlags:", 8) == 0) {
            advised = strstr(line, " hg") != NULL;
        }
    }
    fclose(file);
    return advised;
}

static bool array_is_advised(int64_t bytes)
{
    mxn_shape shape = {0};
    assert_int_equal(mxn_shape_set(&shape, 1, &bytes, "a block"), 0);
    mxn_array *array = NULL;
    void *data = NULL;
    assert_int_equal(
        mxn_array_new(&shape, MXN_UINT8, (mxn_context){MXN_CPU, 0}, NULL, false, &array), 0);
    assert_int_equal(mxn_array_data(array, &data), 0);
    const bool advised = is_advised((char *)data + bytes / 2);
    memset(data, 1, (size_t)bytes);
    mxn_array_release(array);
    assert_int_equal(mxn_wait_all(), 0);
    return advised;
}

static void large_arrays_ask_for_huge_pages(void **state)
{
    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) {
        skip();
    }
    assert_false(array_is_advised(MXP__HUGE_LEAST_BYTES / 4));
    assert_true(array_is_advised(MXP__HUGE_LEAST_BYTES));
    assert_true(array_is_advised(4 * MXP__HUGE_LEAST_BYTES + 12345));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_arrays_ask_for_huge_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
