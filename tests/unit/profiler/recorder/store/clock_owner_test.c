// SPDX-License-Identifier: Apache-2.0
// What a process told of its clock is in every file, also in that of a process which was killed.
#include "profiler/recorder/store/clock_owner.h"

#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "killed_recording.h"
#include "profiler/recorder/recorder.h"
#include "profiler/trace/file/native.h"
#include "seal_file.h"

static const char native[] = "clock_owner.mxp";

static const mxp_clock_owner owner = {.job = 0x123456789abcdef0u,
                                      .role = MXP_ROLE_WORKER,
                                      .rank = 2,
                                      .process = 3,
                                      .flags = MXP_CLOCK_IS_TEST,
                                      .boot_id = "4bd1d8e6-f1a5-4b0e-9f4f-7b8b0a3d2c11",
                                      .host = "n7"};

static void tell(size_t count)
{
    static mxp_clock_cut cuts[MXP_CLOCK_CUTS_MAX];
    for (size_t i = 0; i < count; i++) {
        cuts[i] = (mxp_clock_cut){1000 + i, 500 + i, 600 + i, MXP_CUT_PING, 7};
    }
    assert_int_equal(mxp_clock_cuts(&owner, cuts, count), MXP_OK);
}

static void tell_some(void)
{
    tell(20);
    mxp_name name = mxp_string("span");
    mxp_span_end(name, mxp_span_begin(name));
}

static void tell_fewer(void)
{
    tell(MXP_CLOCK_CUTS_MAX);
    tell(5);
}

static void nothing(void)
{
}

static void check(const char *path, size_t count)
{
    mxp_source *source;
    mxp_damage damage;
    const mxp_clock_cut *cuts;
    assert_int_equal(mxp__native_open(path, &source, &damage), MXP_OK);
    assert_null(damage.text);
    assert_non_null(source->clock_owner);
    assert_memory_equal(source->clock_owner, &owner, sizeof owner);
    assert_int_equal(mxp__source_cuts(source, &cuts), count);
    for (size_t i = 0; i < count; i++) {
        const mxp_clock_cut wanted = {1000 + i, 500 + i, 600 + i, MXP_CUT_PING, 7};
        assert_memory_equal(&cuts[i], &wanted, sizeof wanted);
    }
    mxp__source_close(source);
}

static void a_killed_process_has_told_them(void **state)
{
    (void)state;
    record_and_kill(native, nothing, tell_some, 0);
    check(native, 20);
    unlink(native);
}

static void fewer_replace_more(void **state)
{
    (void)state;
    record_and_kill(native, nothing, tell_fewer, 0);
    check(native, 5);
    unlink(native);
}

static void a_file_that_is_written_has_them(void **state)
{
    (void)state;
    mxp_source *live;
    tell(MXP_CLOCK_CUTS_MAX);
    assert_int_equal(mxp__live_open(MXP__CONSUMER_FILE, &live), MXP_OK);
    assert_int_equal(mxp__native_write(native, live), MXP_OK);
    mxp__source_close(live);
    check(native, MXP_CLOCK_CUTS_MAX);
    unlink(native);
}

static void one_told_before_a_file_began_is_in_it(void **state)
{
    (void)state;
    tell(1);
    record_and_kill(native, nothing, nothing, 0);
    check(native, 1);
    unlink(native);
}

static void more_than_there_may_be_are_refused(void **state)
{
    (void)state;
    static const mxp_clock_cut cuts[MXP_CLOCK_CUTS_MAX + 1];
    assert_int_equal(mxp_clock_cuts(&owner, cuts, MXP_CLOCK_CUTS_MAX + 1), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "1001 cuts"));
}

static void an_owner_is_needed(void **state)
{
    (void)state;
    assert_int_equal(mxp_clock_cuts(NULL, NULL, 0), MXP_EINVAL);
    assert_int_equal(mxp_clock_cuts(&owner, NULL, 1), MXP_EINVAL);
}

enum { FILE_MOST_BYTES = 1 << 20 };

// The bytes of the file, in a static place.
static char *read_all(size_t *size_bytes)
{
    static char data[FILE_MOST_BYTES] __attribute__((aligned(16)));
    FILE *file = fopen(native, "rb");
    assert_non_null(file);
    *size_bytes = fread(data, 1, sizeof data, file);
    assert_true(*size_bytes < sizeof data);
    fclose(file);
    return data;
}

// The section of this type in a file; null: there is none.
static mxp_section *find_section(char *data, size_t size_bytes, unsigned type)
{
    for (size_t at = sizeof(mxp_file_header); at + sizeof(mxp_section) <= size_bytes;) {
        mxp_section *section = (mxp_section *)(void *)(data + at);
        if (section->magic != MXP_SECTION_MAGIC || section->type == type) {
            return section->magic == MXP_SECTION_MAGIC ? section : NULL;
        }
        at += section->length_bytes;
    }
    return NULL;
}

// A whole section whose content cannot be: said, and the rest is read.
static void a_section_of_another_length_is_damage(void **state)
{
    (void)state;
    mxp_source *source;
    mxp_damage damage;
    size_t size_bytes;
    tell(3);
    mxp_source *live;
    assert_int_equal(mxp__live_open(MXP__CONSUMER_FILE, &live), MXP_OK);
    assert_int_equal(mxp__native_write(native, live), MXP_OK);
    mxp__source_close(live);
    char *data = read_all(&size_bytes);
    mxp_section *section = find_section(data, size_bytes, MXP_SECTION_CLOCK_CUT);
    assert_non_null(section);
    static const uint64_t shorter_by[] = {1, 32 * 3 + 1, sizeof owner};
    const uint64_t whole_bytes = section->payload_bytes;
    for (size_t i = 0; i < sizeof shorter_by / sizeof shorter_by[0]; i++) {
        section->payload_bytes = whole_bytes - shorter_by[i];
        seal_file((uint8_t *)data, size_bytes);
        assert_int_equal(mxp__native_open_memory(data, size_bytes, &source, &damage), MXP_OK);
        assert_string_equal(damage.text, "cuts of a clock that are cut short");
        assert_null(source->clock_owner);
        mxp__source_close(source);
    }
    section->payload_bytes = 0;
    seal_file((uint8_t *)data, size_bytes);
    assert_int_equal(mxp__native_open_memory(data, size_bytes, &source, &damage), MXP_OK);
    assert_null(damage.text);
    assert_null(source->clock_owner);
    mxp__source_close(source);
    unlink(native);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_process_has_told_them),
        cmocka_unit_test(fewer_replace_more),
        cmocka_unit_test(a_file_that_is_written_has_them),
        cmocka_unit_test(one_told_before_a_file_began_is_in_it),
        cmocka_unit_test(more_than_there_may_be_are_refused),
        cmocka_unit_test(an_owner_is_needed),
        cmocka_unit_test(a_section_of_another_length_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
