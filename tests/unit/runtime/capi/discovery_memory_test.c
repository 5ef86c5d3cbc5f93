// SPDX-License-Identifier: Apache-2.0
// Front ends list the operators when they are imported: a lack of memory is an error then, no empty
// list, and the next call tries again.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <mxprof/error.h>
#include <nnvm/c_api.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_alloc.h"

static int names(mx_uint *count)
{
    const char **list = NULL;
    return MXListAllOpNames(count, &list);
}

static int creators(mx_uint *count)
{
    AtomicSymbolCreator *list = NULL;
    return MXSymbolListAtomicSymbolCreators(count, &list);
}

// Fails, and says why, until there is memory enough.
static bool fails_then_works(int (*lists)(mx_uint *count))
{
    for (size_t allocations = 0;; allocations++) {
        mx_uint count = 0;
        mxp_set_last_error(MXP_OK, "");
        fake_alloc_fail_after(allocations);
        int code = lists(&count);
        fake_alloc_fail_never();
        if (code == 0) {
            return allocations > 0 && count > 0;
        }
        if (strstr(MXGetLastError(), "out of memory") == NULL) {
            return false;
        }
    }
}

// In a process where nobody has asked before; what failed attempts have taken ends with it.
static void assert_fails_then_works(int (*lists)(mx_uint *count))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        _exit(fails_then_works(lists) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void names_are_listed_or_an_error(void **state)
{
    (void)state;
    assert_fails_then_works(names);
}

static void creators_are_listed_or_an_error(void **state)
{
    (void)state;
    assert_fails_then_works(creators);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_listed_or_an_error),
        cmocka_unit_test(creators_are_listed_or_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
