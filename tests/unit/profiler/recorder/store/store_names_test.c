// SPDX-License-Identifier: Apache-2.0
// Names that are added while a recording file ends: they are in its chain of sections, or nowhere.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mxprof/record.h>

#include "profiler/recorder/store/store.h"
#include "profiler/trace/file/mapped_file.h"
#include "relay.h"

static const char path[] = "names.mxp";

// What a file begins with; empty.
static int open_file(void)
{
    static char sections[2 * MXP__STORE_CLOCK_BYTES];
    for (size_t at = 0; at < sizeof sections; at += MXP__STORE_CLOCK_BYTES) {
        const mxp_section clock = {.magic = MXP_SECTION_MAGIC,
                                   .type = MXP_SECTION_CLOCK,
                                   .length_bytes = MXP__STORE_CLOCK_BYTES};
        memcpy(sections + at, &clock, sizeof clock);
    }
    const mxp_file_header header = {.magic = MXP_FILE_MAGIC};
    return mxp__store_open(path, UINT64_C(1) << 30, &header, sections, sizeof sections);
}

enum { ROUNDS = 40, NAME_BYTES = 40000 };  // of two, each has a section for itself
static int turn, ended;

static void add_name(int number)
{
    static char name[NAME_BYTES];
    memset(name, 'n', NAME_BYTES - 1);
    name[snprintf(name, NAME_BYTES, "%d", number)] = 'n';
    mxp_string(name);
}

static void *add_names(void *nothing)
{
    int number = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        relay_wait(&turn, round);
        add_name(number++);
        relay_pass(&turn, -round);
        while (__atomic_load_n(&ended, __ATOMIC_RELAXED) < round) {
            add_name(number++);
        }
    }
    return nothing;
}

static void check_nothing_behind(const mxp_store_end *end)
{
    uint64_t found = 0;
    assert_true(pread(end->descriptor.fd, &found, sizeof found, (off_t)end->offset) >= 0);
    assert_int_equal(found, 0);
}

static void a_file_ends_while_names_are_added(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, add_names, NULL), 0);
    for (int round = 1; round <= ROUNDS; round++) {
        assert_int_equal(open_file(), MXP_OK);
        relay_pass(&turn, round);
        relay_wait(&turn, -round);
        mxp_store_end end;
        mxp__store_finish(&end);
        relay_pass(&ended, round);
        check_nothing_behind(&end);
        mxp__mapped_file_unlock(&end.descriptor);
    }
    pthread_join(thread, NULL);
    unlink(path);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_ends_while_names_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
