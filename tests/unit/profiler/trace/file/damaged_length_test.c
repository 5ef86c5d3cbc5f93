// SPDX-License-Identifier: Apache-2.0
// A recording file's sections have no checksums: a wrong length costs at most the section it is in,
// and is told if it costs anything, while the file is being written and when it is finished.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "each_event.h"
#include "profiler/trace/file/native.h"

enum { THREADS = 3, FILE_MOST = 4 << 20, LENGTH_BITS = 40 };

static const char path[] = "length.mxp";
static _Alignas(16) uint8_t whole[FILE_MOST], changed[FILE_MOST];
static size_t whole_size;
static pthread_barrier_t barrier;

// ---- a file ------------------------------------------------------------------------------------
static void *record(void *context)
{
    size_t count = *(size_t *)context;
    mxp_name name = mxp_span_name("test", count > 1000 ? "many" : "few");
    for (size_t i = 0; i < count; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void load(void)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    whole_size = fread(whole, 1, sizeof whole, file);
    fclose(file);
    assert_true(whole_size > 100000 && whole_size < sizeof whole);
}

static void make_file(bool finished)
{
    static size_t counts[THREADS] = {9000, 5000, 20};
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.filename = "/dev/null";
    config.native_filename = path;
    config.continuous_dump = 0;
    config.memory_limit_bytes = FILE_MOST / 2;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, record, &counts[i]), 0);
    }
    pthread_barrier_wait(&barrier);
    if (!finished) {
        load();
    }
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&barrier);
    assert_int_equal(mxp_session_stop(session), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    if (finished) {
        load();
    }
    unlink(path);
}

// ---- damage ------------------------------------------------------------------------------------
static mxp_section *section_at(uint8_t *bytes, size_t offset)
{
    return (mxp_section *)(void *)(bytes + offset);
}

static uint64_t spans_left(bool *told)
{
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp__native_open_memory(changed, whole_size, &source, &damage), 0);
    *told = damage.text != NULL;
    uint64_t spans = count_source_spans(source);
    mxp__source_close(source);
    return spans;
}

static void damage_each_length(void)
{
    bool told;
    memcpy(changed, whole, whole_size);
    size_t all = spans_left(&told), sections = 0;
    assert_false(told);
    assert_int_equal(all, 14020);
    size_t at = ((const mxp_file_header *)(const void *)whole)->header_bytes;
    for (; at < whole_size && section_at(whole, at)->magic == MXP_SECTION_MAGIC;
         at += section_at(whole, at)->length_bytes, sections++) {
        section_at(changed, at)->magic ^= 1;
        size_t others = spans_left(&told);  // of the sections beside this one
        section_at(changed, at)->magic ^= 1;
        for (unsigned bit = 0; bit < LENGTH_BITS; bit++) {
            section_at(changed, at)->length_bytes ^= UINT64_C(1) << bit;
            size_t left = spans_left(&told);
            if (left < others || (left < all && !told)) {
                fail_msg("type %u at %zu, bit %u: %zu of %zu spans, %zu in other sections",
                         section_at(whole, at)->type, at, bit, left, all, others);
            }
            section_at(changed, at)->length_bytes ^= UINT64_C(1) << bit;
        }
    }
    assert_true(sections > 10);
}

static void of_a_file_that_is_being_written(void **state)
{
    (void)state;
    make_file(false);
    damage_each_length();
}

static void of_a_finished_file(void **state)
{
    (void)state;
    make_file(true);
    damage_each_length();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_file_that_is_being_written),
        cmocka_unit_test(of_a_finished_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
