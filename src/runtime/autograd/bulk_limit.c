// SPDX-License-Identifier: Apache-2.0
// The variables are read once: a backward runs many times, and the environment may be changing.
#include "runtime/autograd/bulk_limit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"

enum { DEFAULT_SIZE = 15, LARGEST = 65535 };

static int limit;
static const char *bad_variable;  // name of the first one that is ill-formed
static long bad_largest;
static pthread_once_t limit_once = PTHREAD_ONCE_INIT;

static long read_number(const char *name, long largest, long otherwise)
{
    const char *text = getenv(name);
    if (text == NULL || text[0] == '\0') {
        return otherwise;
    }
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < 0 || value > largest) {
        bad_variable = bad_variable == NULL ? name : bad_variable;
        bad_largest = largest;
        return otherwise;
    }
    return value;
}

static void read_limit(void)
{
    long size = read_number("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", LARGEST, DEFAULT_SIZE);
    size = read_number("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", LARGEST, size);
    limit = read_number("MXNET_EXEC_BULK_EXEC_TRAIN", 1, 1) == 0 ? 0 : (int)size;
}

int mxn__bulk_limit_backward(int *size)
{
    pthread_once(&limit_once, read_limit);
    *size = limit;
    if (bad_variable != NULL) {
        return mxp__fail(MXP_EVALUE,
                         "The environment variable %s is ill-formed: it must be a number from 0 to "
                         "%ld",
                         bad_variable, bad_largest);
    }
    return MXP_OK;
}
