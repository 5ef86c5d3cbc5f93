// SPDX-License-Identifier: Apache-2.0
// A recording file ends while the system has no address space: a thread's page cannot be taken out
// of it then, but is later.
#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "profiler/recorder/protocol.h"
#include "profiler/recorder/recording_file.h"
#include "profiler/recorder/state.h"

enum { FILE_MOST_BYTES = 4 << 20, STACK_BYTES = 256 << 10 };

static const char path[] = "full_address_space.mxp";
static mxp_name name_a;

static void spans(int count)
{
    for (int i = 0; i < count; i++) {
        mxp_span_end(name_a, mxp_span_begin(name_a));
    }
}

// The stack cannot grow while there is no address space.
static void touch_stack(void)
{
    char stack[STACK_BYTES];
    memset(stack, 0, sizeof stack);
    __asm__ volatile("" : : "r"(stack) : "memory");
}

static void finish_without_address_space(void)
{
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    none = (struct rlimit){.rlim_cur = 1, .rlim_max = before.rlim_max};
    mxp_store_end end;
    touch_stack();
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    mxp__store_finish(&end);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_false(end.damaged);
}

static size_t read_file(char *to)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size_bytes = fread(to, 1, FILE_MOST_BYTES, file);
    fclose(file);
    return size_bytes;
}

static void an_ended_file_does_not_change(void **state)
{
    (void)state;
    static char ended[FILE_MOST_BYTES], later[FILE_MOST_BYTES];
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.native_filename = path;
    config.continuous_dump = 0;
    config.memory_limit_bytes = FILE_MOST_BYTES / 2;
    name_a = mxp_span_name("test", "a");
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    spans(100);
    finish_without_address_space();
    mxp__drain_lock();
    mxp__freeze();
    mxp__thaw();
    mxp__drain_unlock();
    size_t size_bytes = read_file(ended);
    spans(100);
    assert_int_equal(read_file(later), size_bytes);
    assert_memory_equal(ended, later, size_bytes);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_ended_file_does_not_change)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
