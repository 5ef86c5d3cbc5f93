// SPDX-License-Identifier: Apache-2.0
// Writing native files: what comes back is what was written, an append completes or leaves the file
// as it was, and nothing stays behind.
#include <dirent.h>
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

#include "base/fail.h"
#include "closing_source.h"
#include "cmocka_all.h"
#include "describe_source.h"
#include "fake_alloc.h"
#include "fake_source.h"
#include "profiler/trace/file/native.h"
#include "trace_sample.h"

static char directory[64];

static int enter_directory(void **state)
{
    (void)state;
    strcpy(directory, "native-XXXXXX");
    return mkdtemp(directory) != NULL && chdir(directory) == 0 ? 0 : -1;
}

// Removes what a test has left; returns how many files there were.
static int remove_files(void)
{
    int count = 0;
    DIR *files = opendir(".");
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
        if (entry->d_name[0] != '.') {
            assert_int_equal(remove(entry->d_name), 0);
            count++;
        }
    }
    closedir(files);
    return count;
}

static int leave_directory(void **state)
{
    (void)state;
    remove_files();
    return chdir("..") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static mxp_native_writer *open_writer(const char *path)
{
    mxp_native_writer *writer;
    assert_int_equal(mxp__native_writer_open(path, &writer), 0);
    return writer;
}

static off_t file_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : -1;
}

// What the file holds, as text. The caller frees.
static mxp_strbuf describe_file(const char *path, bool with_tables)
{
    mxp_source *source;
    mxp_damage damage;
    mxp_strbuf text = {0};
    assert_int_equal(mxp__native_open(path, &source, &damage), 0);
    assert_null(damage.text);
    assert_int_equal(describe_events(source, &text), 0);
    if (with_tables) {
        describe_tables(source, &text);
    }
    mxp__source_close(source);
    return text;
}

static mxp_strbuf describe(mxp_source *source, bool with_tables)
{
    mxp_strbuf text = {0};
    assert_int_equal(describe_events(source, &text), 0);
    if (with_tables) {
        describe_tables(source, &text);
    }
    return text;
}

static void assert_same_text(mxp_strbuf *a, mxp_strbuf *b)
{
    assert_true(a->length > 0);
    assert_string_equal(mxp__strbuf_text(a), mxp__strbuf_text(b));
    mxp__strbuf_fini(a);
    mxp__strbuf_fini(b);
}

// ---- what comes back ---------------------------------------------------------------------------
static void what_was_written_comes_back(void **state)
{
    (void)state;
    mxp_source *sample = trace_sample_create();
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(file_bytes("a.mxp"), -1);  // opening creates nothing
    assert_int_equal(mxp__native_append(writer, sample), 0);
    mxp_strbuf expected = describe(sample, true), found = describe_file("a.mxp", true);
    assert_same_text(&expected, &found);
    mxp__native_writer_close(writer);
    mxp__source_close(sample);
    assert_int_equal(remove_files(), 1);
}

static void empty_source_gives_a_whole_file(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(mxp__native_append(writer, source), 0);
    mxp__native_writer_close(writer);
    mxp_source *file;
    mxp_damage damage;
    assert_int_equal(mxp__native_open("a.mxp", &file, &damage), 0);
    assert_null(damage.text);
    assert_int_equal(file->name_count, 2);
    assert_int_equal(file->thread_count, 0);
    mxp__source_close(file);
    mxp__source_close(source);
}

// Cut before the first records: everything else is known.
static void file_without_its_records_tells_all_the_rest(void **state)
{
    (void)state;
    mxp_source *sample = trace_sample_create();
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(mxp__native_append(writer, sample), 0);
    mxp__native_writer_close(writer);
    _Alignas(16) static char bytes[65536];
    FILE *file = fopen("a.mxp", "rb");
    assert_true(fread(bytes, 1, sizeof bytes, file) > 0);
    fclose(file);
    size_t at = sizeof(mxp_file_header);
    const mxp_section *section;
    while ((section = (const void *)(bytes + at))->type != MXP_SECTION_CHUNK) {
        at += section->length_bytes;
    }
    assert_int_equal(truncate("a.mxp", (off_t)at), 0);
    mxp_source *cut;
    mxp_damage damage;
    assert_int_equal(mxp__native_open("a.mxp", &cut, &damage), 0);
    assert_int_equal(damage.offset, at);
    mxp_strbuf expected = {0}, found = {0};
    describe_tables(sample, &expected);
    describe_tables(cut, &found);
    assert_same_text(&expected, &found);
    mxp__source_close(cut);
    mxp__source_close(sample);
}

static void second_append_adds_to_the_first(void **state)
{
    (void)state;
    mxp_source *first = trace_sample_create(), *second = trace_sample_create_more();
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(mxp__native_append(writer, first), 0);
    off_t first_bytes = file_bytes("a.mxp");
    static char before[65536], after[65536];
    FILE *file = fopen("a.mxp", "rb");
    assert_int_equal(fread(before, 1, sizeof before, file), first_bytes);
    assert_int_equal(mxp__native_append(writer, second), 0);
    rewind(file);
    assert_int_equal(fread(after, 1, (size_t)first_bytes, file), first_bytes);
    fclose(file);
    assert_memory_equal(before, after, (size_t)first_bytes);
    mxp__native_writer_close(writer);

    mxp_strbuf expected = describe(first, false), more = describe(second, false);
    mxp__strbuf_puts(&expected, mxp__strbuf_text(&more));
    mxp_strbuf found = describe_file("a.mxp", false);
    assert_same_text(&expected, &found);
    mxp__strbuf_fini(&more);

    mxp_source *both;
    assert_int_equal(mxp__native_open("a.mxp", &both, NULL), 0);
    assert_int_equal(both->name_count, second->name_count);
    assert_int_equal(both->thread_count, second->thread_count);
    // The worker's chunks are numbered on, although both sources began with 0.
    uint32_t next = 0;
    mxp_record_range range;
    for (size_t i = 0; both->range(both, i, &range) == 1; i++) {
        if (range.thread == 1) {
            assert_int_equal(range.sequence, next++);
        }
    }
    assert_int_equal(next, 2);
    mxp__source_close(both);
    mxp__source_close(first);
    mxp__source_close(second);
}

static void descriptors_that_are_closed_meanwhile_cost_nothing(void **state)
{
    (void)state;
    mxp_source *first = trace_sample_create(), *second = trace_sample_create_more();
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(mxp__native_append(writer, closing_source(first)), 0);
    assert_int_equal(mxp__native_append(writer, closing_source(second)), 0);
    mxp__native_writer_close(writer);
    mxp_strbuf expected = describe(first, false), more = describe(second, false);
    mxp__strbuf_puts(&expected, mxp__strbuf_text(&more));
    mxp_strbuf found = describe_file("a.mxp", false);
    assert_same_text(&expected, &found);
    mxp__strbuf_fini(&more);
    mxp__source_close(first);
    mxp__source_close(second);
}

// More chunks than go into one batch, of several threads, and names in several sections.
static void large_trace_comes_back(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    static char text[100000];
    memset(text, 'x', sizeof text);
    for (uint32_t i = 0; i < 30; i++) {
        fake_name_bytes(source, 0, text, sizeof text - i, MXP_STYLE_SPAN, MXP_UNIT_NONE);
    }
    for (uint32_t i = 0; i < 5; i++) {
        fake_thread(source, "t");
    }
    for (uint64_t i = 0; i < 100000; i++) {
        fake_span(source, (uint32_t)(i % 5), 1 + (uint32_t)(i % 30), 10 * i, 10 * i + 7);
    }
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(mxp__native_append(writer, source), 0);
    mxp__native_writer_close(writer);
    mxp_source *file;
    assert_int_equal(mxp__native_open("a.mxp", &file, NULL), 0);
    assert_int_equal(file->name_count, source->name_count);
    for (uint32_t id = 0; id < file->name_count; id++) {
        mxp_name_view a = source->name(source, id), b = file->name(file, id);
        assert_int_equal(a.length, b.length);
        assert_memory_equal(a.text, b.text, a.length + 1);
    }
    mxp_record_range a, b;
    size_t number = 0;
    for (; source->range(source, number, &a) == 1; number++) {
        assert_int_equal(file->range(file, number, &b), 1);
        assert_int_equal(a.thread, b.thread);
        assert_int_equal(a.base_ticks, b.base_ticks);
        assert_int_equal(a.end - a.words, b.end - b.words);
        assert_memory_equal(a.words, b.words, (size_t)(a.end - a.words) * sizeof *a.words);
    }
    assert_int_equal(file->range(file, number, &b), 0);
    mxp__source_close(file);
    mxp__source_close(source);
}

static void links_are_followed(void **state)
{
    (void)state;
    FILE *file = fopen("target.mxp", "w");
    fputs("old", file);
    fclose(file);
    assert_int_equal(symlink("target.mxp", "link.mxp"), 0);
    mxp_source *sample = trace_sample_create();
    mxp_native_writer *writer = open_writer("link.mxp");
    assert_int_equal(mxp__native_append(writer, sample), 0);
    mxp__native_writer_close(writer);
    struct stat status;
    assert_int_equal(lstat("link.mxp", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_true(file_bytes("target.mxp") > 1000);
    mxp__source_close(sample);
    assert_int_equal(remove_files(), 2);
}

// The file was moved away or deleted between two appends: the next begins a whole one.
static void deleted_file_is_begun_anew(void **state)
{
    (void)state;
    mxp_source *first = trace_sample_create(), *second = trace_sample_create_more();
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(mxp__native_append(writer, first), 0);
    assert_int_equal(rename("a.mxp", "moved.mxp"), 0);
    assert_int_equal(mxp__native_append(writer, second), 0);
    mxp__native_writer_close(writer);
    mxp_strbuf expected = describe(second, true), found = describe_file("a.mxp", true);
    assert_same_text(&expected, &found);
    expected = describe(first, true), found = describe_file("moved.mxp", true);
    assert_same_text(&expected, &found);
    mxp__source_close(first);
    mxp__source_close(second);
}

static void emptied_file_is_begun_anew(void **state)
{
    (void)state;
    mxp_source *first = trace_sample_create(), *second = trace_sample_create_more();
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(mxp__native_append(writer, first), 0);
    assert_int_equal(truncate("a.mxp", 0), 0);
    assert_int_equal(mxp__native_append(writer, second), 0);
    mxp__native_writer_close(writer);
    mxp_strbuf expected = describe(second, true), found = describe_file("a.mxp", true);
    assert_same_text(&expected, &found);
    mxp__source_close(first);
    mxp__source_close(second);
}

// ---- what is no regular file -------------------------------------------------------------------
static void device_is_written_in_place(void **state)
{
    (void)state;
    mxp_source *sample = trace_sample_create();
    mxp_native_writer *writer = open_writer("/dev/null");
    assert_int_equal(mxp__native_append(writer, sample), 0);
    assert_int_equal(mxp__native_append(writer, sample), 0);
    mxp__native_writer_close(writer);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    mxp__source_close(sample);
    assert_int_equal(remove_files(), 0);
}

static void full_device_is_an_error_with_its_reason(void **state)
{
    (void)state;
    mxp_source *sample = trace_sample_create();
    mxp_native_writer *writer = open_writer("/dev/full");
    assert_int_equal(mxp__native_append(writer, sample), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "/dev/full"));
    assert_non_null(strstr(mxp_last_error(), strerror(ENOSPC)));
    assert_int_equal(mxp__native_append(writer, sample), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "another file name"));
    mxp__native_writer_close(writer);
    mxp__source_close(sample);
}

static void *read_pipe(void *context)
{
    int fd = open("pipe", O_RDONLY);
    FILE *copy = fopen("copy.mxp", "wb");
    char buffer[4096];
    for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;) {
        fwrite(buffer, 1, (size_t)got, copy);
    }
    fclose(copy);
    close(fd);
    return context;
}

static void pipe_is_written_in_place(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    mxp_source *sample = trace_sample_create();
    mxp_native_writer *writer = open_writer("pipe");
    assert_int_equal(mxp__native_append(writer, sample), MXP_EIO);  // nobody reads: no waiting
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_pipe, NULL), 0);
    int error;
    while ((error = mxp__native_append(writer, sample)) == MXP_EIO) {
        usleep(1000);
    }
    assert_int_equal(error, 0);
    mxp__native_writer_close(writer);
    pthread_join(reader, NULL);
    mxp_strbuf expected = describe(sample, true), found = describe_file("copy.mxp", true);
    assert_same_text(&expected, &found);
    mxp__source_close(sample);
}

static void reader_that_leaves_a_pipe_is_an_error_and_no_signal(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int fd = open("pipe", O_RDONLY | O_NONBLOCK);
    mxp_source *sample = trace_sample_create();
    mxp_native_writer *writer = open_writer("pipe");
    assert_int_equal(mxp__native_append(writer, sample), 0);
    close(fd);
    assert_int_equal(mxp__native_append(writer, sample), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), strerror(EPIPE)));
    sigset_t pending;
    assert_int_equal(sigpending(&pending), 0);
    assert_false(sigismember(&pending, SIGPIPE));
    mxp__native_writer_close(writer);
    mxp__source_close(sample);
}

// ---- failures ----------------------------------------------------------------------------------
static void paths_that_cannot_be_are_errors(void **state)
{
    (void)state;
    mxp_native_writer *writer;
    assert_int_equal(mxp__native_writer_open("", &writer), MXP_EINVAL);
    assert_int_equal(mxp__native_writer_open(NULL, &writer), MXP_EINVAL);
    assert_int_equal(mxp__native_writer_open(".", &writer), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "directory"));
    mxp_source *sample = trace_sample_create();
    writer = open_writer("missing/a.mxp");
    assert_int_equal(mxp__native_append(writer, sample), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "missing/a.mxp"));
    assert_non_null(strstr(mxp_last_error(), strerror(ENOENT)));
    assert_int_equal(mkdir("missing", 0700), 0);  // then it works
    assert_int_equal(mxp__native_append(writer, sample), 0);
    mxp__native_writer_close(writer);
    assert_int_equal(remove("missing/a.mxp"), 0);
    mxp__source_close(sample);
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// The limit stands for a full disk, at every place where the disk may become full.
static void first_append_that_fails_leaves_what_was_there(void **state)
{
    (void)state;
    mxp_source *sample = trace_sample_create();
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(mxp__native_append(writer, sample), 0);
    rlim_t whole = (rlim_t)file_bytes("a.mxp");
    mxp__native_writer_close(writer);
    FILE *file = fopen("a.mxp", "w");
    fputs("precious", file);
    fclose(file);
    for (rlim_t limit = 0; limit < whole; limit += 56) {
        writer = open_writer("a.mxp");
        limit_file_size(limit);
        int error = mxp__native_append(writer, sample);
        limit_file_size(RLIM_INFINITY);
        assert_int_equal(error, MXP_EIO);
        assert_non_null(strstr(mxp_last_error(), "a.mxp"));
        assert_int_equal(file_bytes("a.mxp"), 8);
        mxp__native_writer_close(writer);
    }
    mxp__source_close(sample);
    assert_int_equal(remove_files(), 1);
}

static void later_append_that_fails_is_cut_off(void **state)
{
    (void)state;
    mxp_source *first = trace_sample_create(), *second = trace_sample_create_more();
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(mxp__native_append(writer, first), 0);
    off_t whole = file_bytes("a.mxp");
    for (off_t more = 0; more < 600; more += 56) {
        limit_file_size((rlim_t)(whole + more));
        int error = mxp__native_append(writer, second);
        limit_file_size(RLIM_INFINITY);
        assert_int_equal(error, MXP_EIO);
        assert_int_equal(file_bytes("a.mxp"), whole);
    }
    mxp_strbuf expected = describe(first, true), found = describe_file("a.mxp", true);
    assert_same_text(&expected, &found);
    assert_int_equal(mxp__native_append(writer, second), 0);  // there is room again
    mxp__native_writer_close(writer);
    expected = describe(first, false);
    mxp_strbuf more = describe(second, false);
    mxp__strbuf_puts(&expected, mxp__strbuf_text(&more));
    mxp__strbuf_fini(&more);
    found = describe_file("a.mxp", false);
    assert_same_text(&expected, &found);
    mxp__source_close(first);
    mxp__source_close(second);
}

static int failing_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    (void)source;
    (void)number;
    (void)range;
    return mxp__fail(MXP_EFORMAT, "no such block");
}

static void source_that_fails_leaves_nothing(void **state)
{
    (void)state;
    mxp_source *sample = trace_sample_create();
    sample->range = failing_range;
    mxp_native_writer *writer = open_writer("a.mxp");
    assert_int_equal(mxp__native_append(writer, sample), MXP_EFORMAT);
    assert_string_equal(mxp_last_error(), "no such block");
    mxp__native_writer_close(writer);
    mxp__source_close(sample);
    assert_int_equal(remove_files(), 0);
}

// Each allocation fails once, in the first append and in the second.
static void lack_of_memory_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    mxp_source *first = trace_sample_create(), *second = trace_sample_create_more();
    size_t held = fake_alloc_held_blocks();
    size_t allowed = 0;
    for (;; allowed++) {
        fake_alloc_fail_after(allowed);
        mxp_native_writer *writer = NULL;
        int error = mxp__native_writer_open("a.mxp", &writer);
        error = error == 0 ? mxp__native_append(writer, first) : error;
        off_t whole = file_bytes("a.mxp");
        int second_error = error == 0 ? mxp__native_append(writer, second) : error;
        size_t failed = fake_alloc_failed();
        fake_alloc_fail_never();
        mxp__native_writer_close(writer);
        assert_int_equal(fake_alloc_held_blocks(), held);
        if (failed == 0) {
            assert_int_equal(second_error, 0);
            break;
        }
        assert_int_equal(second_error, MXP_ENOMEM);
        assert_int_equal(file_bytes("a.mxp"), whole);
        assert_int_equal(remove_files(), error == 0 ? 1 : 0);
    }
    assert_true(allowed > 8);
    mxp__source_close(first);
    mxp__source_close(second);
}

int main(void)
{
    fake_alloc_install();
#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(what_was_written_comes_back),
        IN_DIRECTORY(empty_source_gives_a_whole_file),
        IN_DIRECTORY(file_without_its_records_tells_all_the_rest),
        IN_DIRECTORY(second_append_adds_to_the_first),
        IN_DIRECTORY(descriptors_that_are_closed_meanwhile_cost_nothing),
        IN_DIRECTORY(large_trace_comes_back),
        IN_DIRECTORY(links_are_followed),
        IN_DIRECTORY(deleted_file_is_begun_anew),
        IN_DIRECTORY(emptied_file_is_begun_anew),
        IN_DIRECTORY(device_is_written_in_place),
        IN_DIRECTORY(full_device_is_an_error_with_its_reason),
        IN_DIRECTORY(pipe_is_written_in_place),
        IN_DIRECTORY(reader_that_leaves_a_pipe_is_an_error_and_no_signal),
        IN_DIRECTORY(paths_that_cannot_be_are_errors),
        IN_DIRECTORY(first_append_that_fails_leaves_what_was_there),
        IN_DIRECTORY(later_append_that_fails_is_cut_off),
        IN_DIRECTORY(source_that_fails_leaves_nothing),
        IN_DIRECTORY(lack_of_memory_leaves_the_file_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
