// SPDX-License-Identifier: Apache-2.0
// Modules that mxp_module was told of are in every file, also that of a process which was killed.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <mxprof/module.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <string.h>
#include <unistd.h>

#include "killed_recording.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/thread/modules.h"
#include "profiler/trace/file/native.h"

static const char native[] = "modules.mxp";

static mxp_module_entry module_of(const char *path, uint64_t bias)
{
    const mxp_name name = mxp_string(path);
    return (mxp_module_entry){.bias = bias,
                              .begin = bias + 0x1000,
                              .size_bytes = 0x2000,
                              .name = name,
                              .path = name,
                              .build_id_bytes = 3,
                              .build_id = {0xab, 0xcd, 0xef}};
}

// The module of that path in a source; null: it is not there.
static const mxp_module_entry *find(const mxp_source *source, const char *path)
{
    for (size_t i = 0; i < source->module_count; i++) {
        if (strcmp(source->name(source, source->modules[i].path).text, path) == 0) {
            return &source->modules[i];
        }
    }
    return NULL;
}

static void check(const mxp_source *source, const char *path, uint64_t bias)
{
    const mxp_module_entry *found = find(source, path);
    assert_non_null(found);
    assert_true(found->bias == bias && found->begin == bias + 0x1000);
    assert_true(found->size_bytes == 0x2000 && found->from_ticks != 0);
    assert_int_equal(found->build_id_bytes, 3);
    assert_memory_equal(found->build_id, "\xab\xcd\xef", 3);
}

static mxp_source *open_file(void)
{
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp__native_open(native, &source, &damage), MXP_OK);
    assert_null(damage.text);
    return source;
}

// ---- killed ------------------------------------------------------------------------------------
static void tell_two(void)
{
    const mxp_module_entry first = module_of("/lib/first.so", 0x10000);
    mxp_module(&first);
    const mxp_module_entry second = module_of("/lib/second.so", 0x20000);
    mxp_module(&second);
    mxp_name name = mxp_intern_in(second.name, "1a40", 4, MXP_STYLE_ADDRESS, MXP_UNIT_NONE);
    mxp_span_end(name, mxp_span_begin(name));
}

static void nothing(void)
{
}

static void a_killed_process_has_told_them(void **state)
{
    (void)state;
    record_and_kill(native, nothing, tell_two, 0);
    mxp_source *source = open_file();
    assert_int_equal(source->module_count, 2);
    check(source, "/lib/first.so", 0x10000);
    check(source, "/lib/second.so", 0x20000);
    const mxp_name_view name = source->name(source, source->name_count - 1);
    assert_int_equal(name.style, MXP_STYLE_ADDRESS);
    assert_string_equal(name.text, "1a40");
    assert_int_equal(name.category, find(source, "/lib/second.so")->name);
    mxp__source_close(source);
    unlink(native);
}

// ---- in this process ---------------------------------------------------------------------------
static void write_live(void)
{
    mxp_source *live;
    assert_int_equal(mxp__live_open(MXP__CONSUMER_FILE, &live), MXP_OK);
    assert_int_equal(mxp__native_write(native, live), MXP_OK);
    mxp__source_close(live);
}

static void one_that_was_told_before_a_file_began_is_in_it(void **state)
{
    (void)state;
    const mxp_module_entry told = module_of("/lib/early.so", 0x30000);
    assert_int_equal(mxp_module(&told), MXP_OK);
    record_and_kill(native, nothing, nothing, 0);
    mxp_source *source = open_file();
    check(source, "/lib/early.so", 0x30000);
    mxp__source_close(source);
    write_live();
    source = open_file();
    check(source, "/lib/early.so", 0x30000);
    mxp__source_close(source);
    unlink(native);
}

static void one_that_is_told_again_is_replaced(void **state)
{
    (void)state;
    mxp_module_entry told = module_of("/lib/again.so", 0x40000);
    assert_int_equal(mxp_module(&told), MXP_OK);
    write_live();
    mxp_source *source = open_file();
    const size_t count = source->module_count;
    const uint64_t from_ticks = find(source, "/lib/again.so")->from_ticks;
    mxp__source_close(source);
    told.to_ticks = from_ticks + 5;
    assert_int_equal(mxp_module(&told), MXP_OK);
    write_live();
    source = open_file();
    assert_int_equal(source->module_count, count);
    const mxp_module_entry *found = find(source, "/lib/again.so");
    assert_true(found->from_ticks == from_ticks && found->to_ticks == from_ticks + 5);
    mxp__source_close(source);
    unlink(native);
}

static void nothing_is_no_module(void **state)
{
    (void)state;
    assert_int_equal(mxp_module(NULL), MXP_EINVAL);
}

static void a_full_table_is_an_error(void **state)
{
    (void)state;
    mxp_module_entry told = module_of("/lib/many.so", 0);
    int error = MXP_OK;
    for (uint64_t i = 1; i <= MXP__MODULES_MOST && error == MXP_OK; i++) {
        told.bias = i << 12;
        error = mxp_module(&told);
    }
    assert_int_equal(error, MXP_ENOMEM);
    told = module_of("/lib/early.so", 0x30000);  // it has a place
    assert_int_equal(mxp_module(&told), MXP_OK);
    record_and_kill(native, nothing, nothing, 0);
    mxp_source *source = open_file();
    assert_int_equal(source->module_count, MXP__MODULES_MOST);
    mxp__source_close(source);
    unlink(native);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_process_has_told_them),
        cmocka_unit_test(one_that_was_told_before_a_file_began_is_in_it),
        cmocka_unit_test(one_that_is_told_again_is_replaced),
        cmocka_unit_test(nothing_is_no_module),
        cmocka_unit_test(a_full_table_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
