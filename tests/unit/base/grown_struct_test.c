// SPDX-License-Identifier: Apache-2.0
// What comes after the members that the library knows.
#include "cmocka_all.h"

#include "base/grown_struct.h"

static void only_what_is_set_behind_the_known_members_counts(void **state)
{
    (void)state;
    const unsigned char bytes[8] = {1, 2, 3, 4, 0, 0, 0, 9};
    assert_false(mxp__struct_has_more(bytes, 4, 4));
    assert_false(mxp__struct_has_more(bytes, 7, 4));
    assert_true(mxp__struct_has_more(bytes, 8, 4));
    assert_false(mxp__struct_has_more(bytes, 2, 4));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_set_behind_the_known_members_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
