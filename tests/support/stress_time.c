// SPDX-License-Identifier: Apache-2.0
#include "stress_time.h"

#include <stdlib.h>

bool stress_is_long(void)
{
    return getenv("MXPROF_TEST_LONG") != NULL;
}

double stress_seconds(double usual_s, double long_s)
{
    const char *seconds = getenv("MXPROF_TEST_SECONDS");
    if (seconds != NULL) {
        return atof(seconds);
    }
    if (stress_is_long()) {
        return long_s;
    }
#if defined(NDEBUG)
    return usual_s;
#else
    return usual_s < 1 ? usual_s : 1;
#endif
}
