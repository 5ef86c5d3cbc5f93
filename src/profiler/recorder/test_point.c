// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/test_point.h"

#ifdef MXP_TEST_POINTS
mxp_test_point_slot mxp__test_point_hook;
#endif
