// SPDX-License-Identifier: Apache-2.0
// What a process that was killed had told of its open spans stands in its file: their arguments, of
// nobody else's, and nothing that is damaged.
#include "cmocka_all.h"

#include <mxprof/open_args.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "each_event.h"
#include "killed_recording.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"

static char native[] = "open.mxp";
static mxp_name outer, inner, number, path;

static void name_things(void)
{
    outer = mxp_span_name("test", "outer");
    inner = mxp_span_name("test", "inner");
    number = mxp_string("number");
    path = mxp_string("path");
}

static void run_and_kill(void (*work)(void), int after_us)
{
    record_and_kill(native, name_things, work, after_us);
}

// ---- what the file says ------------------------------------------------------------------------
typedef struct open_text {
    char all[4096];
    const mxp_source *source;
} open_text;

static void describe(void *context, const mxp_event *event)
{
    open_text *text = context;
    if (event->kind != MXP_KIND_SPAN || (event->flags & MXP_SPAN_OPEN_AT_CRASH) == 0) {
        return;
    }
    size_t used = strlen(text->all);
    char *to = text->all + used;
    size_t room = sizeof text->all - used;
    int length = snprintf(to, room, "%s:", text->source->name(text->source, event->name).text);
    for (uint32_t i = 0; i < mxp__event_arg_count(event); i++) {
        uint32_t key, type, kept, whole;
        uint64_t value;
        mxp__event_arg(event, i, &key, &type, &value);
        if (type == MXP_ARG_TEXT) {
            const char *bytes = mxp__event_arg_text(event, i, &kept, &whole);
            assert_non_null(bytes);
            length += snprintf(to + length, room - (size_t)length, " %.*s/%u",
                               (int)(kept < 40 ? kept : 40), bytes, whole);
        } else {
            length +=
                snprintf(to + length, room - (size_t)length, " %llu", (unsigned long long)value);
        }
    }
    snprintf(to + length, room - (size_t)length, "\n");
}

static const char *open_spans(void)
{
    static open_text text;
    mxp_source *source;
    assert_int_equal(mxp__native_open(native, &source, NULL), MXP_OK);
    text = (open_text){.source = source};
    each_event(source, describe, &text);
    mxp__source_close(source);
    return text.all;
}

// ---- tests -------------------------------------------------------------------------------------
static void work_in_two_spans(void)
{
    const mxp_arg begun[] = {mxp_u64(number, 7), mxp_text(path, "/data/7.blob", 12)};
    uint64_t token = mxp_begin_args(MXP_CLASS_USER, outer, begun, 2);
    const mxp_arg wrong = mxp_u64(number, 666);
    uint64_t gone = mxp_begin_args(MXP_CLASS_USER, inner, &wrong, 1);
    mxp_end_args(inner, gone, NULL, 0);
    gone = mxp_begin_args(MXP_CLASS_USER, inner, &wrong, 1);
    mxp_span_end(inner, gone);  // leaves its arguments behind
    const mxp_arg more = mxp_u64(number, 8);
    mxp_begin_args(MXP_CLASS_USER, inner, &more, 1);
    const mxp_arg later = mxp_i64(number, 9);
    mxp_open_args(token, &later, 1);
    mxp_span_begin(inner);
}

static void open_spans_tell_their_arguments(void **state)
{
    (void)state;
    run_and_kill(work_in_two_spans, 0);
    assert_string_equal(open_spans(), "inner:\ninner: 8\nouter: 7 /data/7.blob/12 9\n");
}

static void tell_a_long_text(void)
{
    static char text[3000];
    memset(text, 'x', sizeof text);
    const mxp_arg begun = mxp_text(path, text, sizeof text);
    mxp_begin_args(MXP_CLASS_USER, outer, &begun, 1);
    mxp_begin_args(MXP_CLASS_USER, inner, &begun, 1);  // no room for a second one
}

static void what_has_no_room_is_left_out_whole(void **state)
{
    (void)state;
    run_and_kill(tell_a_long_text, 0);
    assert_string_equal(open_spans(),
                        "inner:\nouter: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/3000\n");
}

// Changes a word of what the killed process had told; `at`: of mxp_open_arguments, in words.
static void change_word(size_t at, uint64_t to)
{
    FILE *file = fopen(native, "r+b");
    assert_non_null(file);
    static char bytes[1 << 20];
    size_t length = fread(bytes, 1, sizeof bytes, file);
    bool found = false;
    for (size_t offset = 64; offset + 4096 <= length; offset += 4096 - (offset == 64) * 64) {
        mxp_section section;
        memcpy(&section, bytes + offset, sizeof section);
        mxp_open_arguments open;
        memcpy(&open, bytes + offset + 656, sizeof open);
        if (section.magic == MXP_SECTION_MAGIC && section.type == MXP_SECTION_RECORDER &&
            open.used_words != 0 && !found) {
            found = true;
            fseek(file, (long)(offset + 656 + at * sizeof to), SEEK_SET);
            assert_int_equal(fwrite(&to, sizeof to, 1, file), 1);
        }
    }
    fclose(file);
    assert_true(found);
}

// Words of mxp_open_arguments: 2 the words in use; 3 to 12 the first entry with its text, whose
// place stands in word 8; 13 the second one.
static void damaged_entries_count_nothing(void **state)
{
    (void)state;
    const struct {
        size_t word;
        uint64_t to;
        const char *open;
    } cases[] = {
        {2, UINT64_MAX, "inner:\ninner:\nouter:\n"},
        {2, MXP_OPEN_WORDS + 1, "inner:\ninner:\nouter:\n"},
        {2, 1, "inner:\ninner:\nouter:\n"},
        {3, 1, "inner:\ninner: 8\nouter: 9\n"},
        {4, 0, "inner:\ninner:\nouter:\n"},
        {4, 0xffff, "inner:\ninner:\nouter:\n"},
        {6, 70, "inner:\ninner: 8\nouter: 9\n"},
        {8, UINT64_MAX, "inner:\ninner: 8\nouter: 9\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_and_kill(work_in_two_spans, 0);
        change_word(cases[i].word, cases[i].to);
        assert_string_equal(open_spans(), cases[i].open);
    }
}

// Each span's two numbers and its text belong together.
static void work_until_killed(void)
{
    for (uint64_t i = 0;; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "%llu", (unsigned long long)i);
        const mxp_arg begun[] = {mxp_u64(number, i), mxp_text(path, text, (size_t)length)};
        uint64_t token = mxp_begin_args(MXP_CLASS_USER, i % 2 == 0 ? outer : inner, begun, 2);
        const mxp_arg more = mxp_u64(number, ~i);
        mxp_open_args(token, &more, 1);
        mxp_name name = i % 2 == 0 ? outer : inner;
        if (i % 3 == 0) {
            mxp_span_end(name, token);
        } else {
            mxp_end_args(name, token, NULL, 0);
        }
    }
}

static void a_death_at_any_time_shows_own_arguments_or_none(void **state)
{
    (void)state;
    int with_arguments = 0;
    for (int i = 0; i < 60; i++) {
        run_and_kill(work_until_killed, 200 + i * 137);
        const char *open = open_spans();
        unsigned long long value, not_value, text;
        char name[8];
        if (sscanf(open, "%6[a-z]: %llu %llu/%*u %llu", name, &value, &text, &not_value) == 4) {
            assert_int_equal(value, text);
            assert_int_equal(not_value, ~value);
            assert_string_equal(name, value % 2 == 0 ? "outer" : "inner");
            with_arguments++;
        } else if (sscanf(open, "%6[a-z]: %llu %llu/%*u", name, &value, &text) == 3) {
            assert_int_equal(value, text);
            with_arguments++;
        }
    }
    assert_true(with_arguments > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_spans_tell_their_arguments),
        cmocka_unit_test(what_has_no_room_is_left_out_whole),
        cmocka_unit_test(damaged_entries_count_nothing),
        cmocka_unit_test(a_death_at_any_time_shows_own_arguments_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
