// SPDX-License-Identifier: Apache-2.0
// Names that are interned at their first use.
#include "base/name_once.h"

#include <string.h>

#include "cmocka_all.h"

static void name_is_interned_once_and_kept(void **state)
{
    (void)state;
    mxp_atomic_u32 span = {0}, text = {0};
    mxp_name first = mxp__span_name_once(&span, "test", "of a span");
    assert_int_not_equal(first, MXP_NAME_NONE);
    assert_int_equal(first, mxp_span_name("test", "of a span"));
    assert_string_equal(mxp_name_text(first), "of a span");
    assert_int_equal(mxp__string_once(&text, "a text"), mxp_string("a text"));
    assert_int_not_equal(mxp_atomic_own(&text), first);
    // What is kept is what counts from then on: nobody looks at the table again.
    assert_int_equal(mxp__span_name_once(&span, "test", "another"), first);
    assert_int_equal(mxp__string_once(&text, "another"), mxp_string("a text"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(name_is_interned_once_and_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
