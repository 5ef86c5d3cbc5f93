// SPDX-License-Identifier: Apache-2.0
// The recorder in a process's memory, found and read from without: here in the test's own.
#include "image/recorder_image.h"

#include <cmocka_all.h>
#include <mxprof/foreign.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/trace/reader.h"

static int find(mxp_image_anchor *anchor)
{
    mxp_memory_image image;
    assert_int_equal(mxp__image_open_process(&image, getpid()), MXP_OK);
    int error = mxp__image_find_anchor(&image, anchor);
    mxp__image_close(&image);
    return error;
}

static void begin(void)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "none";
    config.continuous_dump = 0;
    config.run_label = "a label";
    assert_int_equal(mxp_session_configure(mxp_session_get(), &config), MXP_OK);
    assert_int_equal(mxp_session_run(mxp_session_get()), MXP_OK);
}

// How many spans of a name a source has; *open: those that never ended.
static int count_spans(mxp_source *source, const char *name, int *open)
{
    mxp_reader *reader;
    mxp_event event;
    int count = 0;
    *open = 0;
    assert_int_equal(mxp__reader_open(source, &reader), MXP_OK);
    while (mxp__reader_next(reader, &event) == 1) {
        bool is_it =
            event.kind == MXP_KIND_SPAN && strcmp(source->name(source, event.name).text, name) == 0;
        count += is_it;
        *open += is_it && (event.flags & MXP_SPAN_OPEN_AT_CRASH) != 0;
    }
    mxp__reader_close(reader);
    return count;
}

static void before_it_records_there_is_nothing_to_be_found(void **state)
{
    (void)state;
    mxp_image_anchor anchor;
    assert_int_equal(find(&anchor), MXP_EFORMAT);
}

static void the_anchor_tells_what_the_recorder_is_set_to(void **state)
{
    (void)state;
    mxp_image_anchor anchor;
    begin();
    assert_int_equal(find(&anchor), MXP_OK);
    assert_int_equal(anchor.pid, getpid());
    assert_int_equal(anchor.layout, MXP__IMAGE_LAYOUT);
    assert_int_equal(anchor.full_policy, MXP_FULL_GROW);
    assert_int_equal(anchor.thread_page, sizeof(mxp_recorder_section));
    assert_int_equal(*(const uint32_t *)(uintptr_t)anchor.state, 1);
    mxp_session_pause(mxp_session_get(), 1);
    assert_int_equal(*(const uint32_t *)(uintptr_t)anchor.state, 2);
    mxp_session_pause(mxp_session_get(), 0);
}

static void what_is_read_is_what_was_recorded(void **state)
{
    (void)state;
    enum { SPANS = 20000 };  // several chunks
    mxp_name work = mxp_span_name("app", "work"), hang = mxp_span_name("app", "hang");
    for (int i = 0; i < SPANS; i++) {
        mxp_span_end(work, mxp_span_begin(work));
    }
    uint64_t token = mxp_span_begin(hang);
    mxp_source *source;
    mxp_damage damage = {0, NULL};
    int open;
    assert_int_equal(mxp__process_open(getpid(), &source, &damage), MXP_OK);
    assert_null(damage.text);
    assert_int_equal(source->state, MXP__PROCESS_RECORDING);
    assert_int_equal(count_spans(source, "work", &open), SPANS);
    assert_int_equal(open, 0);
    assert_int_equal(count_spans(source, "hang", &open), 1);
    assert_int_equal(open, 1);
    assert_string_equal(mxp__source_info(source, "run.label"), "a label");
    mxp__source_close(source);
    mxp_span_end(hang, token);
}

static void a_forked_child_has_an_anchor_of_its_own(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        mxp_image_anchor anchor;
        begin();
        _exit(find(&anchor) == MXP_OK && anchor.pid == (uint32_t)getpid() ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_it_records_there_is_nothing_to_be_found),
        cmocka_unit_test(the_anchor_tells_what_the_recorder_is_set_to),
        cmocka_unit_test(what_is_read_is_what_was_recorded),
        cmocka_unit_test(a_forked_child_has_an_anchor_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
