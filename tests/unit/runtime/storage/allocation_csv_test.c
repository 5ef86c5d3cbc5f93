// SPDX-License-Identifier: Apache-2.0
// The table of allocations: its rows, its order, when it is written; names of arrays in it.
#include "cmocka_all.h"

#include <glob.h>
#include <mxprof/error.h>
#include <mxprof/format.h>
#include <mxprof/profiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export_text.h"
#include "runtime/storage/storage.h"

static const char header[] =
    "\"Attribute Name\",\"Requested Size\",\"Device\",\"Actual Size\",\"Reuse?\"\n";

static mxn_allocation *take(uint32_t device, uint64_t bytes, const char *name, uint32_t scope)
{
    mxn_tag tag = {mxp_string(name), scope, MXN_MEMORY_OTHER};
    mxn_allocation *block = NULL;
    assert_int_equal(mxn_storage_alloc(device, bytes, &tag, &block), MXP_OK);
    return block;
}

static void configure(const char *prefix)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "trace.json";
    config.memory_csv_prefix = prefix != NULL ? prefix : config.memory_csv_prefix;
    config.continuous_dump = 0;
    assert_int_equal(mxp_session_configure(mxp_session_get(), &config), MXP_OK);
}

static void run(void)
{
    configure("memory");
    assert_int_equal(mxp_session_run(mxp_session_get()), MXP_OK);
}

static void csv_name(char *name, size_t size)
{
    snprintf(name, size, "memory-pid_%d.csv", (int)getpid());
}

static void assert_csv(const char *path, const char *rows)
{
    char *text = read_file(path, NULL);
    assert_memory_equal(text, header, strlen(header));
    assert_string_equal(text + strlen(header), rows);
    free(text);
}

static void a_dump_writes_live_blocks_that_were_profiled(void **state)
{
    (void)state;
    char path[64];
    csv_name(path, sizeof path);
    unlink(path);
    mxn_allocation *old = take(0, 50, "old", 0);
    run();
    uint32_t scope = mxp_scope_push("net");
    uint32_t inner = mxp_scope_push("dense0:");
    mxp_scope_pop();
    mxp_scope_pop();
    mxn_allocation *blocks[] = {
        take(0, 36, "weight", inner),
        take(MXP_DEVICE_CPU_PINNED, 24, "bias", scope),
        take(3, 5000, "a \"quoted\" name", 0),
        take(0, 1, "gone", 0),
        take(0, 8, "0123abcd_4567_89ab_cdef_0123456789ab_dense0_weight", 0),
        take(0, 8, "0123abcd_4567_89ab_cdef_0123456789ab_", 0),
        take(0, 8, "0123abcd_4567_89ab_cdef_0123456789ag_x", 0),
        take(MXP_DEVICE_CPU_SHARED, 77, "", 0),
    };
    mxn_storage_free(blocks[3]);
    mxn_allocation *reused = take(0, 2, "reused", 0);
    assert_int_equal(mxp_session_dump(mxp_session_get(), 0), MXP_OK);
    assert_csv(path,
               "\"<unk>:0123abcd_4567_89ab_cdef_0123456789ab_\",\"8\",\"cpu/0\",\"4096\",\"0\"\n"
               "\"<unk>:0123abcd_4567_89ab_cdef_0123456789ag_x\",\"8\",\"cpu/0\",\"4096\",\"0\"\n"
               "\"<unk>:a \"\"quoted\"\" name\",\"5000\",\"cpu/3\",\"8192\",\"0\"\n"
               "\"<unk>:dense0_weight\",\"8\",\"cpu/0\",\"4096\",\"0\"\n"
               "\"<unk>:reused\",\"2\",\"cpu/0\",\"4096\",\"1\"\n"
               "\"<unk>:unknown\",\"77\",\"cpu shared/\",\"77\",\"0\"\n"
               "\"net:bias\",\"24\",\"cpu pinned/\",\"4096\",\"0\"\n"
               "\"net:dense0:weight\",\"36\",\"cpu/0\",\"4096\",\"0\"\n");
    for (int i = 0; i < 8; i++) {
        mxn_storage_free(i == 3 ? reused : blocks[i]);
    }
    mxn_storage_free(old);
    mxp_session_run(mxp_session_get());
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), MXP_OK);
    mxp_session_stop(mxp_session_get());
    assert_csv(path, "");
    unlink(path);
    unlink("trace.json");
}

static void a_directory_that_is_not_there_is_an_error_of_the_call_only(void **state)
{
    (void)state;
    assert_int_equal(mxn_storage_csv_write("no/such/place.csv"), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "no/such/place.csv"));
    run();
    configure("no/such/place");
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), MXP_OK);
    mxp_session_stop(mxp_session_get());
    unlink("trace.json");
}

static int tables_here(void)
{
    glob_t found;
    int error = glob("*-pid_*.csv", 0, NULL, &found);
    int count = error == GLOB_NOMATCH ? 0 : (int)found.gl_pathc;
    globfree(&found);
    return count;
}

static void nobody_asked_nothing_is_written(void **state)
{
    (void)state;
    int before = tables_here();
    configure(NULL);
    assert_int_equal(mxp_session_run(mxp_session_get()), MXP_OK);
    mxn_storage_free(take(0, 50, "x", 0));
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), MXP_OK);
    mxp_session_stop(mxp_session_get());
    assert_int_equal(tables_here(), before);
    unlink("trace.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_writes_live_blocks_that_were_profiled),
        cmocka_unit_test(a_directory_that_is_not_there_is_an_error_of_the_call_only),
        cmocka_unit_test(nobody_asked_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
