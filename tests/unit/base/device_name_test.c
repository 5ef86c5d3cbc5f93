// SPDX-License-Identifier: Apache-2.0
// Names of devices, and numbers from the environment.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <mxprof/format.h>
#include <stdlib.h>
#include <string.h>

#include "base/device_name.h"
#include "base/setting.h"

static void every_number_has_a_name(void **state)
{
    (void)state;
    static const struct {
        uint32_t device;
        const char *name;
    } cases[] = {{0, "cpu/0"},
                 {127, "cpu/127"},
                 {MXP_DEVICE_GPU, "gpu/0"},
                 {MXP_DEVICE_GPU + 63, "gpu/63"},
                 {MXP_DEVICE_GPU + 64, "device/192"},
                 {MXP_DEVICE_CPU_PINNED, "cpu pinned/"},
                 {MXP_DEVICE_CPU_SHARED, "cpu shared/"},
                 {UINT32_MAX, "device/4294967295"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[MXP__DEVICE_NAME_CHARS];
        mxp__device_name(cases[i].device, name, sizeof name);
        assert_string_equal(name, cases[i].name);
    }
}

static void settings_are_numbers_in_range(void **state)
{
    (void)state;
    static const char variable[] = "MXPROF_TEST_SETTING";
    static const char *const bad[] = {
        "x", "-1", " 5", "5 ", "4", "21", "1e1", "+7", "99999999999999999999999"};
    uint64_t value = 0;
    unsetenv(variable);
    assert_int_equal(mxp__setting_read(variable, 7, 5, 20, &value), MXP_OK);
    assert_int_equal(value, 7);
    setenv(variable, "", 1);
    assert_int_equal(mxp__setting_read(variable, 8, 5, 20, &value), MXP_OK);
    assert_int_equal(value, 8);
    setenv(variable, "20", 1);
    assert_int_equal(mxp__setting_read(variable, 7, 5, 20, &value), MXP_OK);
    assert_int_equal(value, 20);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setenv(variable, bad[i], 1);
        assert_int_equal(mxp__setting_read(variable, 7, 5, 20, &value), MXP_EVALUE);
        assert_int_equal(value, 7);
        assert_non_null(strstr(mxp_last_error(), "MXPROF_TEST_SETTING='"));
        assert_non_null(strstr(mxp_last_error(), "from 5 to 20"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_has_a_name),
        cmocka_unit_test(settings_are_numbers_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
