// SPDX-License-Identifier: Apache-2.0
// The growing Chrome file: JSON after every append, never smaller, nothing twice, and what it does
// when the file, the disk or the memory is taken away.
#include "profiler/export/chrome/chrome_file.h"

#include <errno.h>
#include <fcntl.h>
#include <mxprof/error.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "closing_source.h"
#include "cmocka_all.h"
#include "export_text.h"
#include "fake_alloc.h"
#include "fake_source.h"

static const char path[] = "growing.json";

static mxp_chrome_file *create(const char *name)
{
    mxp_chrome_file *file;
    assert_int_equal(mxp__chrome_file_create(name, &file), MXP_OK);
    return file;
}

// Number `i` of a series of cuts of one process: the same ids, `spans` spans at different times.
static mxp_source *cut(uint32_t i, uint32_t spans)
{
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "main");
    uint32_t name = fake_span_name(source, "c", "span");
    uint32_t task = fake_name(source, "Dom", "task", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    for (uint32_t n = 0; n < spans; n++) {
        uint64_t begin = 1000000 * (uint64_t)i + 1000 * (uint64_t)n;
        fake_span(source, thread, n % 5 == 4 ? task : name, begin, begin + 500);
    }
    return source;
}

static int append(mxp_chrome_file *file, mxp_source *source)
{
    int error = mxp__chrome_file_append(file, source);
    mxp__source_close(source);
    return error;
}

static off_t size_of(const char *name)
{
    struct stat status;
    assert_int_equal(stat(name, &status), 0);
    return status.st_size;
}

static size_t items(const char *name, const char *part)
{
    char *text = read_file(name, NULL);
    size_t count = count_text(text, part);
    free(text);
    return count;
}

static void nothing_happens_before_the_first_append(void **state)
{
    (void)state;
    unlink(path);
    mxp_chrome_file *file = create(path);
    assert_false(mxp__chrome_file_started(file));
    mxp__chrome_file_close(file);
    assert_int_equal(access(path, F_OK), -1);
    mxp__chrome_file_close(NULL);
}

static void every_append_leaves_json_that_never_shrinks(void **state)
{
    (void)state;
    unlink(path);
    mxp_chrome_file *file = create(path);
    off_t before = 0;
    size_t spans = 0;
    for (uint32_t i = 0; i < 12; i++) {
        mxp_source *source = cut(i, i * i);
        spans += i * i;
        // The closing part becomes shorter and longer.
        char filler[512];
        snprintf(filler, sizeof filler, "%0*d", i % 2 == 0 ? 500 : 1, 0);
        fake_info(source, "filler", filler);
        assert_int_equal(append(file, source), MXP_OK);
        assert_true(mxp__chrome_file_started(file));
        assert_json_file(path);
        assert_true(size_of(path) >= before);
        before = size_of(path);
        assert_int_equal(items(path, "\"ph\":\"X\"") + items(path, "\"ph\":\"b\""), spans);
    }
    assert_int_equal(items(path, "process_name"), 1);
    assert_int_equal(items(path, "\"name\":\"main\""), 1);
    assert_int_equal(items(path, "\"name\":\"Dom\""), 1);
    assert_int_equal(items(path, "traceEvents"), 1);
    assert_int_equal(items(path, "displayTimeUnit"), 1);
    mxp__chrome_file_close(file);
}

static void the_first_append_replaces_what_was_there(void **state)
{
    (void)state;
    FILE *old = fopen(path, "w");
    assert_non_null(old);
    for (int i = 0; i < 100000; i++) {
        fputs("something else ", old);
    }
    fclose(old);
    assert_int_equal(chmod(path, 0640), 0);
    mxp_chrome_file *file = create(path);
    assert_int_equal(append(file, cut(0, 3)), MXP_OK);
    assert_json_file(path);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    mxp__chrome_file_close(file);
}

static void descriptors_that_are_closed_meanwhile_cost_nothing(void **state)
{
    (void)state;
    unlink(path);
    mxp_chrome_file *file = create(path);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(append(file, closing_source(cut(i, 3))), MXP_OK);
        assert_json_file(path);
        assert_int_equal(items(path, "\"ph\":\"X\""), 3 * (i + 1));
    }
    mxp__chrome_file_close(file);
}

static void without_news_the_file_is_not_touched(void **state)
{
    (void)state;
    mxp_chrome_file *file = create(path);
    assert_int_equal(append(file, cut(0, 3)), MXP_OK);
    char *before = read_file(path, NULL);
    mxp_source *source = cut(1, 0);
    fake_info(source, "changed", "value");
    assert_int_equal(append(file, source), MXP_OK);
    char *after = read_file(path, NULL);
    assert_string_equal(before, after);
    free(before);
    free(after);
    mxp__chrome_file_close(file);
}

static void an_empty_first_append_is_a_complete_file(void **state)
{
    (void)state;
    mxp_chrome_file *file = create(path);
    assert_int_equal(append(file, fake_source_create()), MXP_OK);
    assert_json_file(path);
    assert_int_equal(items(path, "process_name"), 1);
    mxp__chrome_file_close(file);
}

static void new_threads_and_new_names_of_threads_are_told_once(void **state)
{
    (void)state;
    mxp_chrome_file *file = create(path);
    for (uint32_t i = 0; i < 4; i++) {
        mxp_source *source = cut(i, 2);
        uint32_t renamed = fake_string(source, "renamed");
        if (i >= 1) {
            fake_thread(source, "second");
        }
        if (i >= 2) {
            fake_thread_entry(source, 0)->name = renamed;
        }
        assert_int_equal(append(file, source), MXP_OK);
    }
    assert_int_equal(items(path, "\"name\":\"main\""), 1);
    assert_int_equal(items(path, "\"name\":\"second\""), 1);
    assert_int_equal(items(path, "\"name\":\"renamed\""), 1);
    mxp__chrome_file_close(file);
}

// Sources tell all losses since the beginning; the file has each once.
static void losses_are_told_once(void **state)
{
    (void)state;
    mxp_chrome_file *file = create(path);
    static const uint64_t counts[] = {5, 5, 12};
    for (uint32_t i = 0; i < 3; i++) {
        mxp_source *source = cut(i, 1);
        fake_loss(source, &(mxp_loss_entry){.thread = 0,
                                            .reason = MXP_LOSS_MEMORY_FULL,
                                            .count = counts[i],
                                            .from_ticks = 100,
                                            .to_ticks = 1000 + 1000 * i});
        assert_int_equal(append(file, source), MXP_OK);
    }
    assert_int_equal(items(path, "records lost"), 2);
    assert_int_equal(items(path, "\"name\":\"5 records lost (memory full)\""), 1);
    assert_int_equal(items(path, "\"name\":\"7 records lost (memory full)\""), 1);
    assert_int_equal(items(path, "\"lost_records\": \"12\""), 1);
    mxp__chrome_file_close(file);
}

static void a_removed_or_replaced_file_begins_anew_and_says_so(void **state)
{
    (void)state;
    mxp_chrome_file *file = create(path);
    assert_int_equal(append(file, cut(0, 3)), MXP_OK);
    assert_int_equal(items(path, "\"note\""), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(append(file, cut(1, 2)), MXP_OK);
    assert_json_file(path);
    assert_int_equal(items(path, "\"ph\":\"X\""), 2);
    assert_int_equal(items(path, "process_name"), 1);
    assert_int_equal(items(path, "\"note\""), 1);
    FILE *foreign = fopen(path, "a");  // longer than we left it
    assert_non_null(foreign);
    fputs("more", foreign);
    fclose(foreign);
    assert_int_equal(append(file, cut(2, 4)), MXP_OK);
    assert_int_equal(append(file, cut(3, 1)), MXP_OK);
    assert_json_file(path);
    assert_int_equal(items(path, "\"ph\":\"X\""), 5);
    assert_int_equal(items(path, "\"note\""), 1);
    mxp__chrome_file_close(file);
}

static void a_link_stays_a_link(void **state)
{
    (void)state;
    unlink("link.json");
    unlink("target.json");
    assert_int_equal(symlink("target.json", "link.json"), 0);
    FILE *target = fopen("target.json", "w");
    assert_non_null(target);
    fclose(target);
    mxp_chrome_file *file = create("link.json");
    assert_int_equal(append(file, cut(0, 3)), MXP_OK);
    assert_int_equal(append(file, cut(1, 3)), MXP_OK);
    struct stat status;
    assert_int_equal(lstat("link.json", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_json_file("target.json");
    assert_int_equal(items("target.json", "\"ph\":\"X\""), 6);
    mxp__chrome_file_close(file);
}

static void places_that_cannot_be_written_are_named(void **state)
{
    (void)state;
    static const char *const places[] = {"no/such/folder/x.json", ".", "/proc/nothing.json"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        mxp_chrome_file *file = create(places[i]);
        assert_int_equal(append(file, cut(0, 1)), MXP_EIO);
        assert_non_null(strstr(mxp_last_error(), places[i]));
        assert_false(mxp__chrome_file_started(file));
        mxp__chrome_file_close(file);
    }
}

static void devices_take_a_complete_text_each_time(void **state)
{
    (void)state;
    mxp_chrome_file *file = create("/dev/null");
    assert_int_equal(append(file, cut(0, 100)), MXP_OK);
    assert_int_equal(append(file, cut(1, 100)), MXP_OK);
    assert_true(mxp__chrome_file_started(file));
    mxp__chrome_file_close(file);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    file = create("/dev/full");
    assert_int_equal(append(file, cut(0, 100)), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "/dev/full"));
    mxp__chrome_file_close(file);
}

static void *read_pipe(void *context)
{
    (void)context;
    return read_file("pipe.copy", NULL);
}

static void *copy_pipe(void *context)
{
    (void)context;
    FILE *in = fopen("pipe", "rb"), *out = fopen("pipe.copy", "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (int c; (c = fgetc(in)) != EOF;) {
        fputc(c, out);
    }
    fclose(in);
    fclose(out);
    return read_pipe(NULL);
}

// The reader may come later.
static void append_when_somebody_reads(mxp_chrome_file *file, mxp_source *news)
{
    int error;
    while ((error = mxp__chrome_file_append(file, news)) == MXP_EIO &&
           strstr(mxp_last_error(), "nobody reads") != NULL) {
        usleep(1000);
    }
    assert_int_equal(error, MXP_OK);
    mxp__source_close(news);
}

static void a_pipe_that_nobody_reads_is_an_error(void **state)
{
    (void)state;
    unlink("pipe");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    mxp_chrome_file *file = create("pipe");
    assert_int_equal(append(file, cut(0, 5)), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "nobody reads"));
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_int_equal(append(file, cut(0, 20000)), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "its reader reads no more"));
    close(reader);
    mxp__chrome_file_close(file);
}

static void a_pipe_takes_a_complete_text(void **state)
{
    (void)state;
    unlink("pipe");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    mxp_chrome_file *file = create("pipe");
    for (uint32_t i = 0; i < 2; i++) {
        pthread_t reader;
        void *text;
        assert_int_equal(pthread_create(&reader, NULL, copy_pipe, NULL), 0);
        append_when_somebody_reads(file, cut(i, 5));
        assert_int_equal(pthread_join(reader, &text), 0);
        assert_json(text, strlen(text));
        assert_int_equal(count_text(text, "process_name"), 1);
        free(text);
    }
    assert_int_equal(append(file, cut(2, 0)), MXP_OK);  // no news: it would wait for a reader
    mxp__chrome_file_close(file);
}

// A file size limit stands for a full disk: the append fails, the file is as before, and the same
// append succeeds later.
static void a_full_disk_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    mxp_chrome_file *file = create(path);
    assert_int_equal(append(file, cut(0, 50)), MXP_OK);
    char *before = read_file(path, NULL);
    small = old;
    small.rlim_cur = (rlim_t)size_of(path) + 3000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int error = append(file, cut(1, 5000));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(error, MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), path));
    char *after = read_file(path, NULL);
    assert_string_equal(before, after);
    assert_int_equal(append(file, cut(1, 5000)), MXP_OK);
    assert_json_file(path);
    assert_int_equal(items(path, "\"ph\":\"X\"") + items(path, "\"ph\":\"b\""), 5050);
    free(before);
    free(after);
    mxp__chrome_file_close(file);
}

static void a_failed_first_append_leaves_the_old_file(void **state)
{
    (void)state;
    FILE *old = fopen(path, "w");
    assert_non_null(old);
    fputs("precious", old);
    fclose(old);
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 2000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    mxp_chrome_file *file = create(path);
    int error = append(file, cut(0, 1000));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(error, MXP_EIO);
    assert_false(mxp__chrome_file_started(file));
    char *text = read_file(path, NULL);
    assert_string_equal(text, "precious");
    free(text);
    assert_int_equal(system("test -z \"$(ls -A | grep '^.mxprof-')\""), 0);  // nothing left behind
    assert_int_equal(append(file, cut(0, 1000)), MXP_OK);
    assert_json_file(path);
    mxp__chrome_file_close(file);
}

static void without_memory_an_append_can_be_repeated(void **state)
{
    (void)state;
    size_t held = fake_alloc_held_blocks();
    for (size_t after = 0;; after++) {
        mxp_chrome_file *file = create(path);
        mxp_source *first = cut(0, 10), *second = cut(1, 10);
        fake_thread(second, "second");
        fake_loss(second, &(mxp_loss_entry){.thread = 0, .reason = 1, .count = 1});
        assert_int_equal(mxp__chrome_file_append(file, first), MXP_OK);
        char *before = read_file(path, NULL);
        fake_alloc_fail_after(after);
        int error = mxp__chrome_file_append(file, second);
        fake_alloc_fail_never();
        if (error != MXP_OK) {
            assert_int_equal(error, MXP_ENOMEM);
            char *now = read_file(path, NULL);
            assert_string_equal(before, now);
            free(now);
            assert_int_equal(mxp__chrome_file_append(file, second), MXP_OK);
        }
        assert_int_equal(items(path, "\"ph\":\"X\""), 16);
        assert_int_equal(items(path, "\"name\":\"second\""), 1);
        assert_int_equal(items(path, "records lost"), 1);
        free(before);
        mxp__source_close(first);
        mxp__source_close(second);
        mxp__chrome_file_close(file);
        assert_int_equal(fake_alloc_held_blocks(), held);
        if (error == MXP_OK) {
            assert_true(after > 3);
            break;
        }
    }
    assert_json_file(path);
}

static void large_appends_use_two_threads_and_stay_in_order(void **state)
{
    (void)state;
    char *texts[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setenv("MXPROF_EXPORT_THREADS", i == 0 ? "1" : "2", 1), 0);
        mxp_chrome_file *file = create(path);
        assert_int_equal(append(file, cut(0, 50000)), MXP_OK);
        assert_int_equal(append(file, cut(60, 150000)), MXP_OK);
        mxp__chrome_file_close(file);
        texts[i] = read_file(path, NULL);
    }
    assert_json_file(path);
    assert_true(strcmp(texts[0], texts[1]) == 0);
    free(texts[0]);
    free(texts[1]);
    unsetenv("MXPROF_EXPORT_THREADS");
}

int main(void)
{
    fake_alloc_install();
    signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_happens_before_the_first_append),
        cmocka_unit_test(every_append_leaves_json_that_never_shrinks),
        cmocka_unit_test(the_first_append_replaces_what_was_there),
        cmocka_unit_test(descriptors_that_are_closed_meanwhile_cost_nothing),
        cmocka_unit_test(without_news_the_file_is_not_touched),
        cmocka_unit_test(an_empty_first_append_is_a_complete_file),
        cmocka_unit_test(new_threads_and_new_names_of_threads_are_told_once),
        cmocka_unit_test(losses_are_told_once),
        cmocka_unit_test(a_removed_or_replaced_file_begins_anew_and_says_so),
        cmocka_unit_test(a_link_stays_a_link),
        cmocka_unit_test(places_that_cannot_be_written_are_named),
        cmocka_unit_test(devices_take_a_complete_text_each_time),
        cmocka_unit_test(a_pipe_that_nobody_reads_is_an_error),
        cmocka_unit_test(a_pipe_takes_a_complete_text),
        cmocka_unit_test(a_full_disk_leaves_the_file_as_it_was),
        cmocka_unit_test(a_failed_first_append_leaves_the_old_file),
        cmocka_unit_test(without_memory_an_append_can_be_repeated),
        cmocka_unit_test(large_appends_use_two_threads_and_stay_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
