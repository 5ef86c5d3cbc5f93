// SPDX-License-Identifier: Apache-2.0
#include "text/json_writer.h"

#include <math.h>

#include "cmocka_all.h"

static void members_are_indented_and_rows_stay_on_a_line(void **state)
{
    (void)state;
    mxp_strbuf out = {0};
    mxp_json json = {.out = &out};
    mxp__json_object(&json, NULL);
    mxp__json_u64(&json, "steps", 60);
    mxp__json_array(&json, "rows");
    mxp__json_row(&json, NULL);
    mxp__json_text(&json, "name", "a\"b");
    mxp__json_list(&json, "at_ns");
    mxp__json_i64(&json, NULL, -1);
    mxp__json_number(&json, NULL, 1.5);
    mxp__json_end(&json);
    mxp__json_end(&json);
    mxp__json_row(&json, NULL);
    mxp__json_number(&json, "p", NAN);
    mxp__json_bool(&json, "exact", true);
    mxp__json_end(&json);
    mxp__json_end(&json);
    mxp__json_object(&json, "empty");
    mxp__json_end(&json);
    mxp__json_null(&json, "path");
    mxp__json_bytes(&json, "cut", "abc", 2);
    mxp__json_end(&json);
    assert_int_equal(json.depth, 0);
    assert_string_equal(mxp__strbuf_text(&out),
                        "{\n"
                        "    \"steps\": 60,\n"
                        "    \"rows\": [\n"
                        "        {\"name\": \"a\\\"b\", \"at_ns\": [-1, 1.5]},\n"
                        "        {\"p\": null, \"exact\": true}\n"
                        "    ],\n"
                        "    \"empty\": {},\n"
                        "    \"path\": null,\n"
                        "    \"cut\": \"ab\"\n"
                        "}\n");
    mxp__strbuf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_indented_and_rows_stay_on_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
