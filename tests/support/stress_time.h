// SPDX-License-Identifier: Apache-2.0
// How long a stress test continues.
#ifndef STRESS_TIME_H
#define STRESS_TIME_H

#include <stdbool.h>

bool stress_is_long(void);  // MXPROF_TEST_LONG is set
// MXPROF_TEST_SECONDS if that is set, else what belongs to the run; a second at most in a build
// with asserts, because the optimised one finds what takes its time.
double stress_seconds(double usual_s, double long_s);

#endif
