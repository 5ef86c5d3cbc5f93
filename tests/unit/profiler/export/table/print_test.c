// SPDX-License-Identifier: Apache-2.0
// The printers: MXNet's layout byte for byte, every digit that matters, any name, any locale.
#include <locale.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "comma_locale.h"
#include "export_text.h"
#include "fake_source.h"

static void nothing_prints_as_the_original_does(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    char *table = export_text("table", source, NULL), *json = export_text("json", source, NULL);
    assert_string_equal(table, "\nProfile Statistics:\n"
                               "\tNote the difference in units for different entries.\n");
    assert_string_equal(json, "{\n    \"Time\": {\n    }\n    ,\n    \"Memory\": {\n    }\n,\n"
                              "    \"Unit\": {\n        \"Time\": \"ms\",\n"
                              "        \"Memory\": \"kB\"\n    }\n}\n");
    assert_json(json, strlen(json));
    free(table);
    free(json);
    mxp__source_close(source);
}

static mxp_source *sample(void)
{
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    uint32_t task = fake_span_name(source, "Dom", "task1");
    fake_span(source, thread, task, 0, 4479000);
    fake_span(source, thread, task, 0, 1104001);
    fake_span(source, thread,
              fake_span_name(source, "event",
                             "a name that is longer than twenty-five "
                             "characters"),
              0, 2000);
    uint32_t counter = fake_name(source, "Dom", "counter1", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    fake_counter_u64(source, thread, counter, 5000000, 5);
    fake_counter_u64(source, thread, counter, 6000000, 112);
    fake_counter_u64(source, thread, counter, 7000000, 7);
    fake_memory(source, thread, 7000000, &(mxp_memory){.live_bytes = 96060});
    fake_memory(source, thread, 7000000, &(mxp_memory){.live_bytes = 96076});
    return source;
}

static void the_table_is_the_original_ones(void **state)
{
    (void)state;
    mxp_source *source = sample();
    char *table = export_text("table", source, NULL);
    assert_string_equal(
        table,
        "\nProfile Statistics:\n"
        "\tNote the difference in units for different entries.\n"
        "Device Storage\n"
        "=================\n"
        "Name                          Total Count    Min Use  (kB)    Max Use  (kB)    Avg Use  "
        "(kB)\n"
        "----                          -----------    -------------    -------------    "
        "-------------\n"
        "Memory: cpu/0                           2          96.0600          96.0760          "
        "96.0760\n"
        "\n"
        "Dom\n"
        "=================\n"
        "Name                          Total Count        Time (ms)    Min Time (ms)    Max Time "
        "(ms)    Avg Time (ms)\n"
        "----                          -----------        ---------    -------------    "
        "-------------    -------------\n"
        "counter1                                3                7                5              "
        "112          58.5000\n"
        "task1                                   2           5.5830           1.1040           "
        "4.4790           2.7915\n"
        "\n"
        "event\n"
        "=================\n"
        "Name                          Total Count        Time (ms)    Min Time (ms)    Max Time "
        "(ms)    Avg Time (ms)\n"
        "----                          -----------        ---------    -------------    "
        "-------------    -------------\n"
        "a name that is longer than twenty-five characters               1           0.0020       "
        "    0.0020           0.0020           0.0020\n"
        "\n");
    free(table);
    mxp__source_close(source);
}

static void the_json_is_the_original_ones_with_all_digits(void **state)
{
    (void)state;
    mxp_source *source = sample();
    char *json = export_text("json", source, NULL);
    assert_string_equal(json,
                        "{\n"
                        "    \"Time\": {\n"
                        "        \"Dom\": {\n"
                        "            \"counter1\": {\n"
                        "                \"Count\": 3,\n"
                        "                \"Total\": 7,\n"
                        "                \"Min\": 5,\n"
                        "                \"Max\": 112,\n"
                        "                \"Avg\": 58.5\n"
                        "            }\n"
                        "            ,\n"
                        "            \"task1\": {\n"
                        "                \"Count\": 2,\n"
                        "                \"Total\": 5.583001,\n"
                        "                \"Min\": 1.104001,\n"
                        "                \"Max\": 4.479,\n"
                        "                \"Avg\": 2.7915005\n"
                        "            }\n"
                        "        }\n"
                        "        ,\n"
                        "        \"event\": {\n"
                        "            \"a name that is longer than twenty-five characters\": {\n"
                        "                \"Count\": 1,\n"
                        "                \"Total\": 0.002,\n"
                        "                \"Min\": 0.002,\n"
                        "                \"Max\": 0.002,\n"
                        "                \"Avg\": 0.002\n"
                        "            }\n"
                        "        }\n"
                        "    }\n"
                        "    ,\n"
                        "    \"Memory\": {\n"
                        "        \"Device Storage\": {\n"
                        "            \"Memory: cpu/0\": {\n"
                        "                \"Count\": 2,\n"
                        "                \"Min\": 96.06,\n"
                        "                \"Max\": 96.076,\n"
                        "                \"Avg\": 96.076\n"
                        "            }\n"
                        "        }\n"
                        "    }\n"
                        ",\n"
                        "    \"Unit\": {\n"
                        "        \"Time\": \"ms\",\n"
                        "        \"Memory\": \"kB\"\n"
                        "    }\n"
                        "}\n");
    assert_json(json, strlen(json));
    free(json);
    mxp__source_close(source);
}

static void csv_has_a_line_for_each_row(void **state)
{
    (void)state;
    mxp_source *source = sample();
    char *csv = export_text("csv", source, NULL);
    assert_string_equal(csv,
                        "section,name,kind,unit,count,total,min,max,avg,p50,p90,p99\n"
                        "\"Device Storage\",\"Memory: cpu/0\",memory,kB,2,96.076,96.06,96.076,"
                        "96.076,,,\n"
                        "\"Dom\",\"counter1\",counter,,3,7,5,112,58.5,,,\n"
                        "\"Dom\",\"task1\",duration,ms,2,5.583001,1.104001,4.479,2.7915005,"
                        "1.104001,4.479,4.479\n"
                        "\"event\",\"a name that is longer than twenty-five characters\",duration,"
                        "ms,1,0.002,0.002,0.002,0.002,0.002,0.002,0.002\n");
    free(csv);
    mxp__source_close(source);
}

static void units_decide_how_counters_are_shown(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    static const struct {
        const char *name;
        int unit;
    } units[] = {{"ns", MXP_UNIT_NS}, {"bytes", MXP_UNIT_BYTES}, {"percent", MXP_UNIT_PERCENT}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        uint32_t name = fake_name(source, "Dom", units[i].name, MXP_STYLE_COUNTER, units[i].unit);
        fake_counter_u64(source, thread, name, 100, 2500000);
    }
    uint32_t temperature = fake_name(source, "Dom", "temperature", MXP_STYLE_COUNTER, 0);
    fake_counter_f64(source, thread, temperature, 100, -12.25);
    fake_counter_f64(source, thread, temperature, 100, 1e18);
    char *table = export_text("table", source, NULL), *csv = export_text("csv", source, NULL);
    assert_non_null(strstr(table, "\nns                                      1           2.5000 "));
    assert_non_null(strstr(table, "\nbytes                                   1          2500000 "));
    assert_non_null(strstr(table, " 1000000000000000000.0000         -12.2500 "));
    assert_non_null(strstr(csv, "\"ns\",counter,ms,1,2.5,"));
    assert_non_null(strstr(csv, "\"bytes\",counter,bytes,1,2500000,"));
    assert_non_null(strstr(csv, "\"percent\",counter,percent,1,"));
    free(table);
    free(csv);
    mxp__source_close(source);
}

static void names_of_any_bytes_stay_on_their_line(void **state)
{
    (void)state;
    static const char *const names[] = {"two\nlines",
                                        "quote \" and \\",
                                        "bell\a\x1b[31m",
                                        "bad \xff\xc3",
                                        "emoji \xf0\x9f\x98\x80",
                                        "a,b",
                                        ""};
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        fake_span(source, thread, fake_span_name(source, "c", names[i]), 100, 200);
    }
    char *table = export_text("table", source, NULL), *csv = export_text("csv", source, NULL);
    char *json = export_text("json", source, NULL);
    assert_json(json, strlen(json));
    assert_non_null(strstr(json, "\"two\\nlines\": {"));
    assert_non_null(strstr(table, "\ntwo\\nlines                              1 "));
    assert_non_null(strstr(table, "\nquote \" and \\                           1 "));
    assert_non_null(strstr(table, "\nbell\\u0007\\u001b[31m "));
    assert_non_null(strstr(table, "\nbad \xef\xbf\xbd\xef\xbf\xbd "));
    assert_non_null(strstr(table, "\nemoji \xf0\x9f\x98\x80 "));
    assert_int_equal(count_text(table, "\n"), 3 + 4 + 7 + 1);
    assert_int_equal(count_text(csv, "\n"), 1 + 7);
    assert_non_null(strstr(csv, "\"quote \"\" and \\\","));
    free(table);
    free(csv);
    free(json);
    mxp__source_close(source);
}

static void a_locale_with_a_comma_changes_nothing(void **state)
{
    (void)state;
    if (!comma_locale_set()) {
        skip();
    }
    char number[8];
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5");
    mxp_source *source = sample();
    static const char *const exporters[] = {"table", "json", "csv", "chrome"};
    for (size_t i = 0; i < sizeof exporters / sizeof exporters[0]; i++) {
        char *with_comma = export_text(exporters[i], source, NULL);
        setlocale(LC_ALL, "C");
        char *plain = export_text(exporters[i], source, NULL);
        assert_string_equal(with_comma, plain);
        free(with_comma);
        free(plain);
        setlocale(LC_ALL, "de_DE.UTF-8");
    }
    setlocale(LC_ALL, "C");
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_prints_as_the_original_does),
        cmocka_unit_test(the_table_is_the_original_ones),
        cmocka_unit_test(the_json_is_the_original_ones_with_all_digits),
        cmocka_unit_test(csv_has_a_line_for_each_row),
        cmocka_unit_test(units_decide_how_counters_are_shown),
        cmocka_unit_test(names_of_any_bytes_stay_on_their_line),
        cmocka_unit_test(a_locale_with_a_comma_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
