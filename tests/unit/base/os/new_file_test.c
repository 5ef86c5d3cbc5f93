// SPDX-License-Identifier: Apache-2.0
// New files: nobody else's file is opened, emptied, replaced unasked or removed, whatever is in
// the folder, and a descriptor that the program has closed is not used any more.
#include "base/os/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmocka_all.h"

static char directory[64];

static int enter_directory(void **state)
{
    (void)state;
    strcpy(directory, "new-file-XXXXXX");
    return mkdtemp(directory) != NULL && chdir(directory) == 0 ? 0 : -1;
}

static int count_files(bool remove_them)
{
    int count = 0;
    DIR *files = opendir(".");
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            count++;
            if (remove_them) {
                remove(entry->d_name);
            }
        }
    }
    closedir(files);
    return count;
}

static int leave_directory(void **state)
{
    (void)state;
    count_files(true);
    return chdir("..") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_holds(const char *path, const char *text)
{
    char buffer[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(buffer, 1, sizeof buffer - 1, file), strlen(text));
    assert_string_equal(buffer, text);
    fclose(file);
}

static mxp_new_file make(const char *path, const char *text)
{
    mxp_new_file file;
    assert_true(mxp__new_file_open(&file, path, 0644));
    assert_int_equal(mxp__descriptor_write(&file.descriptor, text, strlen(text)), strlen(text));
    return file;
}

static void a_file_appears_under_its_name_when_it_is_complete(void **state)
{
    (void)state;
    mxp_new_file file = make("a", "new");
    assert_int_equal(access("a", F_OK), -1);
    put("a", "old");
    assert_int_equal(mxp__new_file_finish(&file, "a", MXP__PUBLISH_REPLACE), MXP__PUBLISHED);
    mxp__new_file_discard(&file);
    assert_holds("a", "new");
    assert_int_equal(count_files(true), 1);
}

static void what_is_not_published_is_removed(void **state)
{
    (void)state;
    mxp_new_file file = make("a", "new");
    mxp__new_file_discard(&file);
    mxp__new_file_discard(&file);
    assert_int_equal(count_files(true), 0);
}

static void a_name_that_is_taken_stays_if_that_is_asked_for(void **state)
{
    (void)state;
    put("a", "old");
    mxp_new_file file = make("a", "new");
    assert_int_equal(mxp__new_file_publish(&file, "a", MXP__PUBLISH_KEEP), MXP__PUBLISHED_TAKEN);
    assert_holds("a", "old");
    assert_int_equal(symlink("nowhere", "b"), 0);
    assert_int_equal(mxp__new_file_publish(&file, "b", MXP__PUBLISH_KEEP), MXP__PUBLISHED_TAKEN);
    assert_int_equal(mxp__new_file_publish(&file, "c", MXP__PUBLISH_KEEP), MXP__PUBLISHED);
    mxp__new_file_discard(&file);
    assert_holds("c", "new");
    assert_int_equal(count_files(true), 3);
}

static void writers_of_one_name_do_not_meet(void **state)
{
    (void)state;
    mxp_new_file first = make("a", "first"), second = make("a", "second");
    assert_string_not_equal(first.temporary, second.temporary);
    assert_int_equal(mxp__new_file_finish(&first, "a", MXP__PUBLISH_REPLACE), MXP__PUBLISHED);
    assert_holds("a", "first");
    assert_int_equal(mxp__new_file_finish(&second, "a", MXP__PUBLISH_REPLACE), MXP__PUBLISHED);
    assert_holds("a", "second");
    mxp__new_file_discard(&first);
    mxp__new_file_discard(&second);
    assert_int_equal(count_files(true), 1);
}

static void a_temporary_name_that_became_another_file_is_left_alone(void **state)
{
    (void)state;
    mxp_new_file file = make("a", "new");
    char name[64];
    snprintf(name, sizeof name, "%s", file.temporary);
    assert_int_equal(rename(name, "moved"), 0);
    put(name, "stranger");
    assert_int_equal(mxp__new_file_publish(&file, "a", MXP__PUBLISH_REPLACE),
                     MXP__PUBLISHED_FAILED);
    mxp__new_file_discard(&file);
    assert_holds(name, "stranger");
    assert_int_equal(access("a", F_OK), -1);
    count_files(true);
}

static void a_folder_that_is_missing_is_an_error(void **state)
{
    (void)state;
    mxp_new_file file;
    assert_false(mxp__new_file_open(&file, "nowhere/a", 0644));
    assert_int_equal(errno, ENOENT);
    mxp__new_file_discard(&file);
}

// ---- descriptors -------------------------------------------------------------------------------
// Closes the number and opens `path` under it.
static void take_number(int number, const char *path)
{
    int other = open(path, O_RDWR);
    assert_true(other >= 0);
    assert_int_equal(dup2(other, number), number);
    close(other);
}

static void a_number_that_is_anothers_is_neither_written_nor_closed(void **state)
{
    (void)state;
    put("precious", "precious");
    mxp_new_file file = make("a", "new");
    int number = file.descriptor.fd;
    take_number(number, "precious");
    assert_false(mxp__descriptor_is_ours(&file.descriptor));
    assert_int_equal(mxp__descriptor_write(&file.descriptor, "x", 1), 0);
    assert_int_equal(errno, EBADF);
    assert_int_equal(mxp__descriptor_write_at(&file.descriptor, "x", 1, 0), 0);
    assert_false(mxp__descriptor_truncate(&file.descriptor, 0));
    mxp__new_file_discard(&file);
    assert_true(fcntl(number, F_GETFD) >= 0);
    close(number);
    assert_holds("precious", "precious");
    assert_int_equal(count_files(true), 1);
}

static void a_lost_number_is_had_again_through_the_path(void **state)
{
    (void)state;
    mxp_new_file file = make("a", "new");
    assert_int_equal(mxp__new_file_publish(&file, "a", MXP__PUBLISH_REPLACE), MXP__PUBLISHED);
    close(file.descriptor.fd);
    assert_true(mxp__descriptor_open_again(&file.descriptor, "a"));
    assert_true(mxp__descriptor_is_ours(&file.descriptor));
    assert_true(file.descriptor.fd > 2);
    close(file.descriptor.fd);
    assert_int_equal(rename("a", "b"), 0);
    put("a", "stranger");
    assert_false(mxp__descriptor_open_again(&file.descriptor, "a"));
    assert_false(mxp__descriptor_is_ours(&file.descriptor));
    assert_true(mxp__descriptor_close(&file.descriptor));
    mxp__new_file_discard(&file);
    assert_holds("a", "stranger");
    count_files(true);
}

static void a_file_is_not_shortened_under_who_reads_it(void **state)
{
    (void)state;
    mxp_new_file file = make("a", "new");
    assert_int_equal(mxp__new_file_publish(&file, "a", MXP__PUBLISH_REPLACE), MXP__PUBLISHED);
    int reader = open("a", O_RDONLY);
    assert_int_equal(flock(reader, LOCK_SH | LOCK_NB), 0);
    assert_false(mxp__descriptor_truncate(&file.descriptor, 1));
    assert_holds("a", "new");
    close(reader);
    assert_true(mxp__descriptor_truncate(&file.descriptor, 1));
    assert_holds("a", "n");
    mxp__new_file_discard(&file);
    count_files(true);
}

static void a_pipe_needs_a_reader_that_reads(void **state)
{
    (void)state;
    mxp_descriptor pipe_end;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_false(mxp__descriptor_take_stream(&pipe_end, "pipe"));
    assert_string_equal(mxp__descriptor_reason(), "nobody reads");
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_true(mxp__descriptor_take_stream(&pipe_end, "pipe"));
    static char block[1 << 20];
    assert_true(mxp__descriptor_write(&pipe_end, block, sizeof block) < sizeof block);
    assert_string_equal(mxp__descriptor_reason(), "its reader reads no more");
    mxp__descriptor_close(&pipe_end);
    close(reader);
    count_files(true);
}

// As when another thread closes all descriptors between an open and what comes after it.
static void a_number_that_was_taken_away_at_once_is_left_to_its_new_owner(void **state)
{
    (void)state;
    put("program", "theirs");
    put("ours", "ours");
    mxp_descriptor taken;
    int theirs = open("program", O_RDWR);
    assert_false(mxp__descriptor_take(&taken, theirs, "ours"));
    assert_int_equal(errno, EBADF);
    assert_int_equal(taken.fd, -1);
    assert_true(mxp__descriptor_take(&taken, open("ours", O_RDWR), "ours"));
    int number = taken.fd;
    assert_int_equal(dup2(theirs, number), number);
    mxp__descriptor_put_away(&taken);
    assert_int_equal(taken.fd, number);
    assert_true(fcntl(number, F_GETFD) >= 0);
    mxp__descriptor_close(&taken);
    assert_true(fcntl(number, F_GETFD) >= 0);
    assert_true(fcntl(theirs, F_GETFD) >= 0);
    close(number);
    close(theirs);
    count_files(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_that_was_taken_away_at_once_is_left_to_its_new_owner),
        cmocka_unit_test(a_file_appears_under_its_name_when_it_is_complete),
        cmocka_unit_test(what_is_not_published_is_removed),
        cmocka_unit_test(a_name_that_is_taken_stays_if_that_is_asked_for),
        cmocka_unit_test(writers_of_one_name_do_not_meet),
        cmocka_unit_test(a_temporary_name_that_became_another_file_is_left_alone),
        cmocka_unit_test(a_folder_that_is_missing_is_an_error),
        cmocka_unit_test(a_number_that_is_anothers_is_neither_written_nor_closed),
        cmocka_unit_test(a_lost_number_is_had_again_through_the_path),
        cmocka_unit_test(a_file_is_not_shortened_under_who_reads_it),
        cmocka_unit_test(a_pipe_needs_a_reader_that_reads),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
