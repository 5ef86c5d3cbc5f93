// SPDX-License-Identifier: Apache-2.0
#include "base/os/same_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"

static char directory[64];

static int enter_directory(void **state)
{
    (void)state;
    strcpy(directory, "same-file-XXXXXX");
    return mkdtemp(directory) != NULL && chdir(directory) == 0 && mkdir("folder", 0700) == 0 ? 0
                                                                                             : -1;
}

static int leave_directory(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    return chdir("..") == 0 && system(command) == 0 ? 0 : -1;
}

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void names_of_one_file_that_is_there(void **state)
{
    (void)state;
    touch("a");
    touch("b");
    assert_int_equal(link("a", "hard"), 0);
    assert_int_equal(symlink("../a", "folder/soft"), 0);
    assert_true(mxp__os_same_file("a", "./a"));
    assert_true(mxp__os_same_file("a", "hard"));
    assert_true(mxp__os_same_file("a", "folder/soft"));
    assert_false(mxp__os_same_file("a", "b"));
    assert_false(mxp__os_same_file("a", "missing"));
}

static void names_that_would_become_one_file(void **state)
{
    (void)state;
    char absolute[512];
    char *here = getcwd(NULL, 0);
    snprintf(absolute, sizeof absolute, "%s/new", here);
    free(here);
    assert_int_equal(symlink("../new", "folder/to-new"), 0);
    assert_int_equal(symlink("folder", "also-folder"), 0);
    assert_true(mxp__os_same_file("new", "new"));
    assert_true(mxp__os_same_file("new", "./new"));
    assert_true(mxp__os_same_file("new", absolute));
    assert_true(mxp__os_same_file("new", "folder/../new"));
    assert_true(mxp__os_same_file("new", "folder/to-new"));
    assert_true(mxp__os_same_file("folder/x", "also-folder/x"));
    assert_true(mxp__os_same_file("nowhere/x", "nowhere/x"));
    assert_false(mxp__os_same_file("new", "folder/new"));
    assert_false(mxp__os_same_file("new", "newer"));
    assert_false(mxp__os_same_file("new", NULL));
}

static void devices_and_pipes_may_be_named_twice(void **state)
{
    (void)state;
    assert_false(mxp__os_same_file("/dev/null", "/dev/null"));
}

static void links_in_a_circle_end(void **state)
{
    (void)state;
    assert_int_equal(symlink("two", "one"), 0);
    assert_int_equal(symlink("one", "two"), 0);
    assert_false(mxp__os_same_file("one", "elsewhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_one_file_that_is_there),
        cmocka_unit_test(names_that_would_become_one_file),
        cmocka_unit_test(devices_and_pipes_may_be_named_twice),
        cmocka_unit_test(links_in_a_circle_end),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
