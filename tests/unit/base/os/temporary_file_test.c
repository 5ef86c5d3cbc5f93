// SPDX-License-Identifier: Apache-2.0
// Where temporary files are made, and who can open them.
#include "base/os/temporary_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"

static void assert_is_made_in(const char *folder)
{
    mxp_strbuf path = {0};
    int fd = mxp__temporary_file_make(&path);
    assert_true(fd >= 0);
    struct stat opened, named;
    assert_int_equal(fstat(fd, &opened), 0);
    assert_int_equal(stat(path.data, &named), 0);
    assert_int_equal(unlink(path.data), 0);
    assert_int_equal(opened.st_ino, named.st_ino);
    assert_int_equal(opened.st_mode & 077, 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(strncmp(path.data, folder, strlen(folder)) == 0);
    assert_true(strncmp(path.data + strlen(folder), "/mxprof-", 8) == 0);
    close(fd);
    mxp__strbuf_fini(&path);
}

static void a_temporary_file_is_made_in_tmpdir(void **state)
{
    (void)state;
    char folder[] = "/tmp/temporary-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    assert_is_made_in(folder);
    assert_int_equal(rmdir(folder), 0);
}

static void it_is_made_in_tmp_if_tmpdir_is_unset_or_empty(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("TMPDIR"), 0);
    assert_is_made_in("/tmp");
    assert_int_equal(setenv("TMPDIR", "", 1), 0);
    assert_is_made_in("/tmp");
}

static void the_path_that_failed_can_be_named(void **state)
{
    (void)state;
    assert_int_equal(setenv("TMPDIR", "/tmp/there is none", 1), 0);
    mxp_strbuf path = {0};
    assert_int_equal(mxp__temporary_file_make(&path), -1);
    assert_true(strncmp(mxp__strbuf_text(&path), "/tmp/there is none/mxprof-", 26) == 0);
    mxp__strbuf_fini(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_temporary_file_is_made_in_tmpdir),
        cmocka_unit_test(it_is_made_in_tmp_if_tmpdir_is_unset_or_empty),
        cmocka_unit_test(the_path_that_failed_can_be_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
