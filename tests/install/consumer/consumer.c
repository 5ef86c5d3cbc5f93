// SPDX-License-Identifier: Apache-2.0
// What a user's first program with an installed mxprof looks like; C and C++ alike.
#include <mxprof/error.h>
#include <mxprof/version.h>

#include <stdio.h>

int main(void)
{
    if (mxp_strerror(MXP_EINVAL)[0] == '\0') {
        return 1;
    }
    puts(mxp_version());
    return 0;
}
