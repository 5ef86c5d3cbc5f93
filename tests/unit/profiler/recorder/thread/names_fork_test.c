// SPDX-License-Identifier: Apache-2.0
// A fork beside the first names of a process without a session, which another thread gives: the
// child can give names too.
#include "cmocka_all.h"

#include <mxprof/record.h>
#include <stdio.h>
#include <string.h>

#include "fork_beside.h"

enum { NAMES = 200 };

static void *give_names(void *unused)
{
    for (int i = 0; i < NAMES; i++) {
        char text[24];
        snprintf(text, sizeof text, "name %d", i);
        mxp_span_name("names", text);
    }
    return unused;
}

static int use(void)
{
    give_names(NULL);
    const mxp_name last = mxp_span_name("names", "name 199");
    return strcmp(mxp_name_text(MXP_NAME_NONE), "") == 0 &&
           strcmp(mxp_name_text(MXP_NAME_FULL), "<names full>") == 0 &&
           strcmp(mxp_name_text(last), "name 199") == 0;
}

static void a_child_that_is_forked_beside_the_first_names_can_give_some(void **state)
{
    (void)state;
    fork_beside(give_names, use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_that_is_forked_beside_the_first_names_can_give_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
