// SPDX-License-Identifier: Apache-2.0
// Sizes of caches, from files as the system shows them and from this machine's.
#include "base/os/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"

static void put(unsigned index, const char *level, const char *type, const char *size)
{
    char command[512];
    snprintf(command, sizeof command,
             "d=root/sys/devices/system/cpu/cpu0/cache/index%u; mkdir -p $d; echo %s >$d/level; "
             "echo %s >$d/type; echo %s >$d/size",
             index, level, type, size);
    assert_int_equal(system(command), 0);
}

static int clean(void **state)
{
    (void)state;
    return system("rm -rf root");
}

static void each_levels_data_cache_has_its_size_in_bytes(void **state)
{
    (void)state;
    put(0, "1", "Instruction", "32K");
    put(1, "1", "Data", "48K");
    put(2, "2", "Unified", "1024K");
    put(3, "3", "Unified", "32M");
    assert_int_equal(mxp__os_cache_bytes("root", 1), 48 * 1024);
    assert_int_equal(mxp__os_cache_bytes("root", 2), 1024 * 1024);
    assert_int_equal(mxp__os_cache_bytes("root", 3), 32 * 1024 * 1024);
    assert_int_equal(mxp__os_cache_bytes("root", 4), 0);
}

static void without_files_nothing_is_known(void **state)
{
    (void)state;
    put(0, "", "", "");
    assert_int_equal(mxp__os_cache_bytes("root", 1), 0);
    assert_int_equal(mxp__os_cache_bytes("no such root", 1), 0);
}

// What lscpu prints as the size of one.
static void this_machines_caches_are_what_another_program_says(void **state)
{
    (void)state;
    static const char *const names[] = {"L1d", "L2", "L3"};
    for (unsigned level = 1; level <= MXP__CACHE_LEVELS; level++) {
        char command[128];
        unsigned long long size = 0;
        snprintf(command, sizeof command, "lscpu -B -C=NAME,ONE-SIZE 2>/dev/null | grep '^%s '",
                 names[level - 1]);
        FILE *said = popen(command, "r");
        assert_non_null(said);
        if (fscanf(said, "%*s %llu", &size) == 1) {
            assert_int_equal(mxp__os_cache_bytes("", level), size);
        }
        pclose(said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_levels_data_cache_has_its_size_in_bytes, clean),
        cmocka_unit_test_setup(without_files_nothing_is_known, clean),
        cmocka_unit_test(this_machines_caches_are_what_another_program_says),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
