// SPDX-License-Identifier: Apache-2.0
// Sinks: a descriptor that takes pieces, one that takes nothing, a string.
#include "profiler/export/sink.h"

#include <fcntl.h>
#include <mxprof/error.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_all.h"

enum { BYTES = 1 << 20 };

static void *read_slowly(void *context)
{
    const int *end = context;
    char piece[3001];
    size_t total = 0;
    ssize_t got;
    while ((got = read(*end, piece, sizeof piece)) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            assert_int_equal((unsigned char)piece[i], (total + (size_t)i) % 251);
        }
        total += (size_t)got;
    }
    return (void *)(uintptr_t)total;
}

static void short_writes_are_continued(void **state)
{
    (void)state;
    int ends[2];
    pthread_t reader;
    void *total;
    assert_int_equal(pipe(ends), 0);
    char *data = malloc(BYTES);
    assert_non_null(data);
    for (size_t i = 0; i < BYTES; i++) {
        data[i] = (char)(i % 251);
    }
    assert_int_equal(pthread_create(&reader, NULL, read_slowly, &ends[0]), 0);
    mxp_sink sink;
    mxp__sink_fd(&sink, ends[1], "pipe");
    assert_int_equal(sink.write(&sink, data, BYTES), 0);
    assert_int_equal(sink.written_bytes, BYTES);
    close(ends[1]);
    assert_int_equal(pthread_join(reader, &total), 0);
    assert_int_equal((uintptr_t)total, BYTES);
    close(ends[0]);
    free(data);
}

static void a_full_device_is_an_error_with_its_path(void **state)
{
    (void)state;
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0) {
        skip();
    }
    mxp_sink sink;
    mxp__sink_fd(&sink, fd, "/dev/full");
    assert_int_equal(sink.write(&sink, "text", 4), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "/dev/full"));
    assert_int_equal(sink.written_bytes, 0);
    close(fd);
}

static void a_string_collects(void **state)
{
    (void)state;
    mxp_strbuf text = {0};
    mxp_sink sink;
    mxp__sink_string(&sink, &text);
    assert_int_equal(sink.write(&sink, "one ", 4), 0);
    assert_int_equal(sink.write(&sink, "two", 3), 0);
    assert_string_equal(mxp__strbuf_text(&text), "one two");
    assert_int_equal(sink.written_bytes, 7);
    mxp__strbuf_fini(&text);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_writes_are_continued),
        cmocka_unit_test(a_full_device_is_an_error_with_its_path),
        cmocka_unit_test(a_string_collects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
