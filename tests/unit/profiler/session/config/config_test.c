// SPDX-License-Identifier: Apache-2.0
// Configuration from text: every key, every type's accepted and rejected forms, MXNet's wording.
#include "cmocka_all.h"

#include <math.h>
#include <mxprof/gate.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/session/config/config.h"
#include "profiler/session/config/quote.h"

static mxp_config config;
static int server;

static int parse(const char *key, const char *value)
{
    return mxp__config_parse(1, &key, &value, &config, &server);
}

static int checked(const char *key, const char *value)
{
    mxp_config full;
    int error = parse(key, value);
    return error == MXP_OK ? mxp__config_check(&config, &full) : error;
}

static void assert_says(int error, int expected, const char *text)
{
    assert_int_equal(error, expected);
    assert_string_equal(mxp_last_error(), text);
}

static void assert_mentions(const char *part)
{
    if (strstr(mxp_last_error(), part) == NULL) {
        fail_msg("'%s' is not in: %s", part, mxp_last_error());
    }
}

static void no_pairs_give_the_defaults(void **state)
{
    (void)state;
    assert_int_equal(mxp__config_parse(0, NULL, NULL, &config, &server), MXP_OK);
    assert_int_equal(config.size_bytes, sizeof config);
    assert_int_equal(config.classes, MXP_CLASS_ALL);
    assert_string_equal(config.filename, "profile.json");
    assert_null(config.native_filename);
    assert_string_equal(config.memory_csv_prefix, "");
    assert_int_equal(config.continuous_dump, 1);
    assert_true(config.dump_period_s == 1.0);
    assert_int_equal(config.aggregate_stats, 0);
    assert_int_equal(config.statistics_only, 0);
    assert_int_equal(config.store, MXP_STORE_MEMORY);
    assert_int_equal(config.full_policy, MXP_FULL_GROW);
    assert_true(config.memory_limit_bytes <= 1 << 30);  // less in a small container
    assert_int_equal(server, 0);
}

static void booleans_in_all_their_forms(void **state)
{
    (void)state;
    const char *const on[] = {"true", "True", "TRUE", "1"};
    const char *const off[] = {"false", "False", "FALSE", "0"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(parse("aggregate_stats", on[i]), MXP_OK);
        assert_int_equal(config.aggregate_stats, 1);
        assert_int_equal(parse("continuous_dump", off[i]), MXP_OK);
        assert_int_equal(config.continuous_dump, 0);
    }
}

static void other_booleans_are_rejected(void **state)
{
    (void)state;
    const char *const bad[] = {"yes", "2", "", "True ", " True", "None", "tru", "01"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char expected[128];
        snprintf(expected, sizeof expected,
                 "Invalid Parameter format for profile_all expect boolean but value='%s'", bad[i]);
        assert_says(parse("profile_all", bad[i]), MXP_EVALUE, expected);
    }
}

static void every_class_has_its_switch(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        uint32_t class;
    } switches[] = {{"profile_symbolic", MXP_CLASS_SYMBOLIC},
                    {"profile_imperative", MXP_CLASS_IMPERATIVE},
                    {"profile_api", MXP_CLASS_API},
                    {"profile_memory", MXP_CLASS_MEMORY}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(parse(switches[i].key, "False"), MXP_OK);
        assert_int_equal(config.classes, MXP_CLASS_ALL & ~switches[i].class);
        const char *keys[] = {switches[i].key, "profile_all"};
        const char *values[] = {"0", "1"};
        assert_int_equal(mxp__config_parse(2, keys, values, &config, &server), MXP_OK);
        assert_int_equal(config.classes, MXP_CLASS_ALL);
    }
}

static void periods_in_all_their_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"2", 2},          {" .5", .5},        {"1.", 1},
                {"+3e0", 3},       {"2.5E-1", .25},    {"1e-99", 1e-99},
                {"\t0.125", .125}, {"3.4e38", 3.4e38}, {"1E+2", 100}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(checked("dump_period", good[i].text), MXP_OK);
        assert_true(config.dump_period_s == good[i].seconds);
    }
    assert_int_equal(checked("dump_period", "inf"), MXP_OK);
    assert_true(isinf(config.dump_period_s));
    assert_int_equal(parse("dump_period", "NaN"), MXP_OK);
    assert_true(isnan(config.dump_period_s));
}

static void other_periods_are_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"abc", "Invalid Parameter format for dump_period expect float but value='abc'"},
        {"", "Invalid Parameter format for dump_period expect float but value=''"},
        {" ", "Invalid Parameter format for dump_period expect float but value=' '"},
        {".", "Invalid Parameter format for dump_period expect float but value='.'"},
        {"-", "Invalid Parameter format for dump_period expect float but value='-'"},
        {"None", "Invalid Parameter format for dump_period expect float but value='None'"},
        {"1.5x", "Some trailing characters could not be parsed: 'x'"},
        {"0x10", "Some trailing characters could not be parsed: 'x10'"},
        {"1e", "Some trailing characters could not be parsed: 'e'"},
        {"1 ", "Some trailing characters could not be parsed: ' '"},
        {"0,5", "Some trailing characters could not be parsed: ',5'"},
        {"1e99", "Out of range value for dump_period, value='1e99'"},
        {"-1e99", "Out of range value for dump_period, value='-1e99'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_says(parse("dump_period", bad[i].text), MXP_EVALUE, bad[i].message);
    }
}

static void a_period_must_be_positive_if_it_counts(void **state)
{
    (void)state;
    const char *const bad[] = {"0", "-1", "nan", "-inf", "-0.0"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(checked("dump_period", bad[i]), MXP_EVALUE);
        assert_mentions("Check failed: !continuous_dump || dump_period > 0:");
        const char *keys[] = {"dump_period", "continuous_dump"};
        const char *values[] = {bad[i], "False"};
        mxp_config full;
        assert_int_equal(mxp__config_parse(2, keys, values, &config, &server), MXP_OK);
        assert_int_equal(mxp__config_check(&config, &full), MXP_OK);
    }
}

static void enums_want_the_exact_word(void **state)
{
    (void)state;
    assert_says(parse("profile_process", "foo"), MXP_EVALUE,
                "Invalid Input: 'foo', valid values are: {'server', 'worker'}");
    assert_int_equal(parse("profile_process", "Worker"), MXP_EVALUE);
    assert_int_equal(parse("profile_process", "serve"), MXP_EVALUE);
    assert_int_equal(parse("profile_process", "server|worker"), MXP_EVALUE);
    assert_int_equal(parse("profile_process", ""), MXP_EVALUE);
    assert_int_equal(parse("profile_process", "server"), MXP_OK);
    assert_int_equal(server, 1);
    assert_says(parse("store", "disk"), MXP_EVALUE,
                "Invalid Input: 'disk', valid values are: {'file', 'memory'}");
    assert_int_equal(parse("store", "file"), MXP_OK);
    assert_int_equal(config.store, MXP_STORE_FILE);
    assert_int_equal(parse("store", "memory"), MXP_OK);
    assert_says(parse("full_policy", "rings"), MXP_EVALUE,
                "Invalid Input: 'rings', valid values are: {'drop', 'grow', 'ring'}");
    assert_int_equal(parse("full_policy", "drop"), MXP_OK);
    assert_int_equal(config.full_policy, MXP_FULL_DROP);
}

static void sizes_are_whole_numbers_in_range(void **state)
{
    (void)state;
    assert_int_equal(checked("memory_limit_bytes", "1048576"), MXP_OK);
    assert_int_equal(config.memory_limit_bytes, 1 << 20);
    assert_int_equal(checked("memory_limit_bytes", "18446744073709551615"), MXP_OK);
    const char *const bad[] = {"", "1.5", "-1", "1T", "1KB", "1Kib ", "K", " 2000000", "+2000000"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(checked("memory_limit_bytes", bad[i]), MXP_EVALUE);
        assert_mentions("Invalid Parameter format for memory_limit_bytes expect");
    }
    assert_says(checked("memory_limit_bytes", "18446744073709551616"), MXP_EVALUE,
                "Out of range value for memory_limit_bytes, value='18446744073709551616'");
    assert_says(
        checked("memory_limit_bytes", "1048575"), MXP_EVALUE,
        "value 1048575 for Parameter memory_limit_bytes should be greater equal to 1048576");
}

static void sizes_take_units_and_counts_do_not(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"2048K", 2 << 20},   {"64M", 64 << 20},   {"3g", UINT64_C(3) << 30},
                {"1024KiB", 1 << 20}, {"16mib", 16 << 20}, {"1GiB", 1 << 30}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(checked("memory_limit_bytes", good[i].text), MXP_OK);
        assert_true(config.memory_limit_bytes == good[i].bytes);
    }
    assert_int_equal(checked("memory_limit_bytes", "18446744073709551615K"), MXP_EVALUE);
    assert_mentions("Out of range");
    assert_int_equal(parse("keep_crashed", "7"), MXP_OK);
    assert_int_equal(config.keep_crashed, 7);
    assert_int_equal(parse("keep_crashed", "7K"), MXP_EVALUE);
    assert_int_equal(config.names_limit, 1000000);
    assert_int_equal(parse("names_limit", "5000"), MXP_OK);
    assert_int_equal(config.names_limit, 5000);
    assert_int_equal(parse("names_limit", "9999999999"), MXP_OK);
    assert_int_equal(config.names_limit, UINT32_MAX);
}

static void a_run_has_a_name_and_its_steps_have_cpu_time_unless_told(void **state)
{
    (void)state;
    assert_int_equal(parse("keep_crashed", "7"), MXP_OK);
    assert_int_equal(config.step_cpu, 1);
    assert_string_equal(config.run_commit, "");
    assert_string_equal(config.run_label, "");
    assert_int_equal(parse("step_cpu", "False"), MXP_OK);
    assert_int_equal(config.step_cpu, 0);
    assert_int_equal(parse("step_cpu", "often"), MXP_EVALUE);
    assert_int_equal(parse("run_label", "larger batch"), MXP_OK);
    assert_string_equal(config.run_label, "larger batch");
}

static void emit_takes_its_four_words(void **state)
{
    (void)state;
    static const char *const words[] = {"auto", "off", "itt", "nvtx"};
    for (uint64_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        assert_int_equal(checked("emit", words[i]), MXP_OK);
        assert_int_equal(config.emit, MXP_EMIT_AUTO + i);
    }
    assert_int_equal(parse("emit", "vtune"), MXP_EVALUE);
    assert_mentions("'auto', 'itt', 'nvtx', 'off'");
    assert_int_equal(parse("emit", "auto"), MXP_OK);
    config.emit = MXP_EMIT_NVTX + 1;
    mxp_config full;
    assert_int_equal(mxp__config_check(&config, &full), MXP_EVALUE);
    assert_mentions("no MXP_EMIT_*");
}

static void strings_are_taken_as_they_are(void **state)
{
    (void)state;
    assert_int_equal(checked("filename", " a b\t\"\xff"), MXP_OK);
    assert_string_equal(config.filename, " a b\t\"\xff");
    assert_int_equal(checked("filename", ""), MXP_EVALUE);
    assert_mentions("must not be empty");
    assert_int_equal(checked("native_filename", ""), MXP_OK);
    assert_null(config.native_filename);
    assert_int_equal(checked("native_filename", "x.mxp"), MXP_OK);
    assert_string_equal(config.native_filename, "x.mxp");
    assert_int_equal(checked("gpu_memory_profile_filename_prefix", "g"), MXP_OK);
    assert_string_equal(config.memory_csv_prefix, "g");
}

static void an_unknown_key_shows_the_list_and_the_closest(void **state)
{
    (void)state;
    assert_int_equal(parse("filenam", "a.json"), MXP_EKEY);
    const char *text = mxp_last_error();
    const char *begin = "Cannot find argument 'filenam', Possible Arguments:\n"
                        "----------------\n"
                        "profile_all : boolean, optional, default=0\n"
                        "    Profile all. Default is False.\n";
    assert_memory_equal(text, begin, strlen(begin));
    assert_mentions("filename : string, optional, default='profile.json'\n");
    assert_mentions("dump_period : float, optional, default=1\n");
    assert_mentions("profile_process : {'server', 'worker'},optional, default='worker'\n");
    assert_mentions("memory_limit_bytes : long (non-negative), optional, default=1073741824\n");
    assert_mentions("\nDid you mean 'filename'?");
    assert_int_equal(parse("nothing like any of them", "1"), MXP_EKEY);
    assert_null(strstr(mxp_last_error(), "Did you mean"));
}

static void hidden_keys_are_ignored(void **state)
{
    (void)state;
    assert_int_equal(parse("__x__", "anything"), MXP_OK);
    assert_int_equal(parse("____", "1"), MXP_EKEY);
    assert_int_equal(parse("__x", "1"), MXP_EKEY);
    assert_int_equal(parse("", "1"), MXP_EKEY);
}

static void a_later_duplicate_wins_but_all_must_parse(void **state)
{
    (void)state;
    const char *keys[] = {"filename", "filename"};
    const char *values[] = {"a.json", "b.json"};
    assert_int_equal(mxp__config_parse(2, keys, values, &config, &server), MXP_OK);
    assert_string_equal(config.filename, "b.json");
    const char *periods[] = {"dump_period", "dump_period"};
    const char *mixed[] = {"abc", "1"};
    assert_int_equal(mxp__config_parse(2, periods, mixed, &config, &server), MXP_EVALUE);
}

static void null_pointers_and_negative_counts(void **state)
{
    (void)state;
    const char *one = "1", *null = NULL;
    assert_int_equal(mxp__config_parse(-1, NULL, NULL, &config, &server), MXP_EINVAL);
    assert_mentions("num_params must not be negative");
    assert_says(mxp__config_parse(1, &null, &one, &config, &server), MXP_EINVAL,
                "Check  notnull: keys[i]");
    assert_says(mxp__config_parse(1, &one, &null, &config, &server), MXP_EINVAL,
                "Check  notnull: vals[i]");
    assert_int_equal(mxp__config_parse(1, NULL, &one, &config, &server), MXP_EINVAL);
    assert_int_equal(mxp__config_parse(1, &one, NULL, &config, &server), MXP_EINVAL);
}

static void long_values_are_quoted_in_part_between_characters(void **state)
{
    (void)state;
    size_t length = 10u << 20;
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, 'x', length);
    text[length] = '\0';
    assert_int_equal(parse("profile_all", text), MXP_EVALUE);
    assert_true(strlen(mxp_last_error()) < 300);
    assert_int_equal(parse(text, "1"), MXP_EKEY);
    assert_true(strlen(mxp_last_error()) < 8000);
    memcpy(text + MXP__QUOTE_MAX - 1, "\xc3\xa4", 2);
    assert_int_equal(mxp__quote_length(text), MXP__QUOTE_MAX - 1);
    assert_int_equal(mxp__quote_length("short"), 5);
    free(text);
}

static void the_environment_gives_defaults_that_keys_override(void **state)
{
    (void)state;
    setenv("MXPROF_NATIVE_FILENAME", "env.mxp", 1);
    setenv("MXPROF_MEMORY_LIMIT_BYTES", "2097152", 1);
    setenv("MXPROF_FULL_POLICY", "drop", 1);
    setenv("MXPROF_STATISTICS_ONLY", "true", 1);
    setenv("MXPROF_STORE", "", 1);
    assert_int_equal(parse("memory_limit_bytes", "4194304"), MXP_OK);
    assert_string_equal(config.native_filename, "env.mxp");
    assert_int_equal(config.memory_limit_bytes, 4 << 20);
    assert_int_equal(config.full_policy, MXP_FULL_DROP);
    assert_int_equal(config.statistics_only, 1);
    mxp_config_init(&config);
    assert_int_equal(config.memory_limit_bytes, 2 << 20);
    setenv("MXPROF_STORE", "disk", 1);
    assert_int_equal(parse("filename", "a"), MXP_OK);  // warns and continues
    assert_int_equal(config.store, MXP_STORE_MEMORY);
    assert_string_equal(config.native_filename, "env.mxp");
    unsetenv("MXPROF_NATIVE_FILENAME");
    unsetenv("MXPROF_MEMORY_LIMIT_BYTES");
    unsetenv("MXPROF_FULL_POLICY");
    unsetenv("MXPROF_STATISTICS_ONLY");
    unsetenv("MXPROF_STORE");
}

// What a call would refuse is told, and the default used; the rest counts.
static void the_environment_is_checked_as_a_call_is(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"MXPROF_MEMORY_LIMIT_BYTES", "10"}, {"MXPROF_SNAPSHOT_MS", "-5"},
        {"MXPROF_STATISTICS_ONLY", "1"},     {"MXPROF_SNAPSHOT_COUNTER", "nothing"},
        {"MXPROF_DUMP_PERIOD", "0"},         {"MXPROF_FILENAME", ""}};
    setenv("MXPROF_FULL_POLICY", "ring", 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setenv(wrong[i][0], wrong[i][1], 1);
    }
    mxp_config full;
    mxp_config_init(&config);
    assert_int_equal(config.full_policy, MXP_FULL_RING);
    assert_true(config.memory_limit_bytes >= 1 << 20);
    assert_true(config.snapshot_ms == 10000 && config.dump_period_s == 1);
    assert_int_equal(config.statistics_only, 0);
    assert_string_equal(config.snapshot_counter, "");
    assert_int_equal(mxp__config_check(&config, &full), MXP_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        unsetenv(wrong[i][0]);
    }
    unsetenv("MXPROF_FULL_POLICY");
}

// A handler of these would return to the instruction that raised them, and the program would hang.
static void signals_of_faults_take_no_snapshots(void **state)
{
    (void)state;
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    static const int others[] = {0, 1, SIGUSR1, SIGHUP, SIGABRT};
    mxp_config full;
    mxp_config_init(&config);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        config.snapshot_signal = faults[i];
        assert_int_equal(mxp__config_check(&config, &full), MXP_EVALUE);
        assert_non_null(strstr(mxp_last_error(), "after which a program goes on"));
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        config.snapshot_signal = others[i];
        assert_int_equal(mxp__config_check(&config, &full), MXP_OK);
    }
}

static void two_outputs_of_one_name_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *trace, *native;
        int store, error;
    } cases[] = {{"same.json", "same.json", MXP_STORE_MEMORY, MXP_EVALUE},
                 {"same.json", "./same.json", MXP_STORE_MEMORY, MXP_EVALUE},
                 {"same.json", "/proc/self/cwd/same.json", MXP_STORE_MEMORY, MXP_EVALUE},
                 {"x.mxp", NULL, MXP_STORE_FILE, MXP_EVALUE},
                 {"x.mxp", NULL, MXP_STORE_MEMORY, MXP_OK},
                 {"a.%p.json", "a.%p.%%.json", MXP_STORE_MEMORY, MXP_OK},
                 {"a.%%.json", "a.%.json", MXP_STORE_MEMORY, MXP_EVALUE},
                 {"none", "none.mxp", MXP_STORE_FILE, MXP_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxp_config full;
        mxp_config_init(&config);
        config.filename = cases[i].trace;
        config.native_filename = cases[i].native;
        config.store = cases[i].store;
        assert_int_equal(mxp__config_check(&config, &full), cases[i].error);
    }
}

static void a_structure_that_ends_inside_of_a_member_is_refused(void **state)
{
    (void)state;
    mxp_config full;
    mxp_config_init(&config);
    const uint32_t inside[] = {
        0, 4, 9, 12, 15, 20, offsetof(mxp_config, dump_period_s) + 4, sizeof(mxp_config) - 1, 5000};
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++) {
        config.size_bytes = inside[i];
        assert_int_equal(mxp__config_check(&config, &full), MXP_EINVAL);
        assert_mentions("mxp_config_init");
    }
    config.size_bytes = offsetof(mxp_config, native_filename);
    assert_int_equal(mxp__config_check(&config, &full), MXP_OK);
}

// What a program has that was compiled for a later version of the library.
typedef struct later_config {
    mxp_config known;
    const char *later_filename;
    double later_s;
} later_config;

static void a_member_that_the_library_does_not_know_is_refused_once_it_is_set(void **state)
{
    (void)state;
    mxp_config full;
    later_config later;
    memset(&later, 0xab, sizeof later);
    mxp_config_init_size(&later.known, sizeof later);
    assert_int_equal(later.known.size_bytes, sizeof later);
    assert_null(later.later_filename);
    assert_int_equal(mxp__config_check(&later.known, &full), MXP_OK);
    assert_int_equal(full.size_bytes, sizeof full);
    later.later_s = 1;
    assert_int_equal(mxp__config_check(&later.known, &full), MXP_ENOTSUP);
    assert_mentions("a member of mxp_config is set");
    later.later_s = 0;
    later.known.names_limit = 1;
    assert_int_equal(mxp__config_check(&later.known, &full), MXP_OK);
    assert_int_equal(full.names_limit, 1);
}

static void the_defaults_stay_within_an_older_and_shorter_structure(void **state)
{
    (void)state;
    memset(&config, 0xab, sizeof config);
    mxp_config_init_size(&config, offsetof(mxp_config, store));
    assert_int_equal(config.size_bytes, offsetof(mxp_config, store));
    assert_string_equal(config.filename, "profile.json");
    assert_int_equal((unsigned)config.store, 0xabababab);
    mxp_config_init_size(&config, 4);
    assert_int_equal(config.size_bytes, offsetof(mxp_config, store));
    mxp_config_init_size(NULL, sizeof config);
}

static void members_out_of_range_are_rejected(void **state)
{
    (void)state;
    mxp_config full;
    mxp_config_init(&config);
    assert_int_equal(mxp__config_check(NULL, &full), MXP_EINVAL);
    config.classes = 0x100;
    assert_int_equal(mxp__config_check(&config, &full), MXP_EVALUE);
    mxp_config_init(&config);
    config.store = 2;
    assert_int_equal(mxp__config_check(&config, &full), MXP_EVALUE);
    assert_mentions("{'file', 'memory'}");
    mxp_config_init(&config);
    config.full_policy = 7;
    assert_int_equal(mxp__config_check(&config, &full), MXP_EVALUE);
    mxp_config_init(&config);
    config.filename = NULL;
    assert_int_equal(mxp__config_check(&config, &full), MXP_EVALUE);
    mxp_config_init(&config);
    config.size_bytes = 0;
    assert_int_equal(mxp__config_check(&config, &full), MXP_EINVAL);
    assert_mentions("mxp_config_init");
}

static void an_older_and_shorter_structure_is_completed(void **state)
{
    (void)state;
    mxp_config full;
    mxp_config_init(&config);
    config.filename = "old.json";
    config.memory_limit_bytes = 1;  // beyond what the old structure has
    config.size_bytes = offsetof(mxp_config, memory_limit_bytes);
    assert_int_equal(mxp__config_check(&config, &full), MXP_OK);
    assert_string_equal(full.filename, "old.json");
    assert_true(full.memory_limit_bytes >= 1 << 20);
    assert_int_equal(full.size_bytes, sizeof full);
    config.classes = 0;
    assert_int_equal(mxp__config_check(&config, &full), MXP_OK);
    assert_int_equal(full.classes, MXP_CLASS_USER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pairs_give_the_defaults),
        cmocka_unit_test(booleans_in_all_their_forms),
        cmocka_unit_test(other_booleans_are_rejected),
        cmocka_unit_test(every_class_has_its_switch),
        cmocka_unit_test(periods_in_all_their_forms),
        cmocka_unit_test(other_periods_are_rejected),
        cmocka_unit_test(a_period_must_be_positive_if_it_counts),
        cmocka_unit_test(enums_want_the_exact_word),
        cmocka_unit_test(sizes_are_whole_numbers_in_range),
        cmocka_unit_test(sizes_take_units_and_counts_do_not),
        cmocka_unit_test(a_run_has_a_name_and_its_steps_have_cpu_time_unless_told),
        cmocka_unit_test(emit_takes_its_four_words),
        cmocka_unit_test(strings_are_taken_as_they_are),
        cmocka_unit_test(an_unknown_key_shows_the_list_and_the_closest),
        cmocka_unit_test(hidden_keys_are_ignored),
        cmocka_unit_test(a_later_duplicate_wins_but_all_must_parse),
        cmocka_unit_test(null_pointers_and_negative_counts),
        cmocka_unit_test(long_values_are_quoted_in_part_between_characters),
        cmocka_unit_test(the_environment_gives_defaults_that_keys_override),
        cmocka_unit_test(the_environment_is_checked_as_a_call_is),
        cmocka_unit_test(signals_of_faults_take_no_snapshots),
        cmocka_unit_test(two_outputs_of_one_name_are_refused),
        cmocka_unit_test(a_structure_that_ends_inside_of_a_member_is_refused),
        cmocka_unit_test(a_member_that_the_library_does_not_know_is_refused_once_it_is_set),
        cmocka_unit_test(the_defaults_stay_within_an_older_and_shorter_structure),
        cmocka_unit_test(members_out_of_range_are_rejected),
        cmocka_unit_test(an_older_and_shorter_structure_is_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
