// SPDX-License-Identifier: Apache-2.0
// Handles of every kind: what is none, of another kind, or freed is an error that names both.
#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"

typedef struct handle_kind {
    const char *name;
    int (*free)(void *handle);
} handle_kind;

static const handle_kind kinds[] = {{"a symbol", MXSymbolFree},
                                    {"a cached operator", MXFreeCachedOp},
                                    {"an executor", MXExecutorFree},
                                    {"a key-value store", MXKVStoreFree},
                                    {"a data iterator", MXDataIterFree}};

enum { SYMBOL = 0, KVSTORE = 3, KINDS = sizeof kinds / sizeof kinds[0] };

static void *make(int kind)
{
    void *handle = NULL;
    int failed =
        kind == SYMBOL ? MXSymbolCreateVariable("x", &handle) : MXKVStoreCreate("local", &handle);
    assert_int_equal(failed, 0);
    return handle;
}

static void assert_refused(const handle_kind *as, void *handle, const char *how, const char *after)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%s%s%s", how, as->name, after);
    assert_int_equal(as->free(handle), -1);
    if (strstr(MXGetLastError(), wanted) == NULL) {
        print_error("'%s' is not in '%s'\n", wanted, MXGetLastError());
    }
    assert_non_null(strstr(MXGetLastError(), wanted));
}

static void each_kind_refuses_null_and_what_is_no_handle(void **state)
{
    (void)state;
    int here;
    for (int i = 0; i < KINDS; i++) {
        assert_refused(&kinds[i], NULL, " is a null handle: ", " was expected");
        assert_refused(&kinds[i], &here, " is no handle of ", "");
    }
}

static void each_kind_refuses_others_by_both_names(void **state)
{
    (void)state;
    static const int made[] = {SYMBOL, KVSTORE};
    for (int m = 0; m < 2; m++) {
        void *handle = make(made[m]);
        char is[64];
        snprintf(is, sizeof is, " is the handle of %s: ", kinds[made[m]].name);
        for (int i = 0; i < KINDS; i++) {
            if (i != made[m]) {
                assert_refused(&kinds[i], handle, is, " was expected");
            }
        }
        assert_int_equal(kinds[made[m]].free(handle), 0);
    }
}

static void a_freed_handle_stays_so_when_its_place_is_taken_again(void **state)
{
    (void)state;
    void *first = make(KVSTORE);
    assert_int_equal(MXKVStoreFree(first), 0);
    assert_refused(&kinds[KVSTORE], first, " is ", " that has been freed");
    void *second = make(KVSTORE);
    assert_refused(&kinds[KVSTORE], first, " is ", " that has been freed");
    assert_int_equal(MXKVStoreFree(second), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_refuses_null_and_what_is_no_handle),
        cmocka_unit_test(each_kind_refuses_others_by_both_names),
        cmocka_unit_test(a_freed_handle_stays_so_when_its_place_is_taken_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
