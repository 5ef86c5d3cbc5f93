// SPDX-License-Identifier: Apache-2.0
// The variables are read once: a backward runs many times, and the environment may be changing.
#include "runtime/autograd/bulk_limit.h"

#include <mxprof/error.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/setting.h"

enum { DEFAULT_SIZE = 15, LARGEST = 65535, MESSAGE_CHARS = 192 };

static int backward_limit, forward_limit;
static bool train_allowed, inference_allowed;
static char message[MESSAGE_CHARS];  // of the first one that is ill-formed
static pthread_once_t limit_once = PTHREAD_ONCE_INIT;

static uint64_t read_number(const char *name, uint64_t largest, uint64_t otherwise)
{
    uint64_t value;
    if (mxp__setting_read(name, otherwise, 0, largest, &value) != MXP_OK && message[0] == '\0') {
        snprintf(message, sizeof message, "%s", mxp_last_error());
    }
    return value;
}

static void read_limits(void)
{
    uint64_t size = read_number("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", LARGEST, DEFAULT_SIZE);
    forward_limit = (int)read_number("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", LARGEST, size);
    size = read_number("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", LARGEST, size);
    train_allowed = read_number("MXNET_EXEC_BULK_EXEC_TRAIN", 1, 1) != 0;
    inference_allowed = read_number("MXNET_EXEC_BULK_EXEC_INFERENCE", 1, 1) != 0;
    backward_limit = train_allowed ? (int)size : 0;
}

static int limit_of(const int *limit, int *size)
{
    pthread_once(&limit_once, read_limits);
    *size = *limit;
    return message[0] == '\0' ? MXP_OK : mxp__fail(MXP_EVALUE, "%s", message);
}

int mxn_bulk_limit_backward(int *size)
{
    return limit_of(&backward_limit, size);
}

int mxn_bulk_limit_forward(int *size)
{
    return limit_of(&forward_limit, size);
}

bool mxn_bulk_allowed(bool training)
{
    pthread_once(&limit_once, read_limits);
    return training ? train_allowed : inference_allowed;
}
