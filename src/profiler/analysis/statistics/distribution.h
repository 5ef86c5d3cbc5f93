// SPDX-License-Identifier: Apache-2.0
// Normal and t distribution: probabilities, and the values that belong to them.
#ifndef MXP_STATISTICS_DISTRIBUTION_H
#define MXP_STATISTICS_DISTRIBUTION_H

#include <stddef.h>

double mxp__normal_probability(double z);  // of a value not above z
double mxp__normal_quantile(double probability);  // 0 < probability < 1
double mxp__t_probability(double t, double freedom);  // freedom > 0
double mxp__t_quantile(double probability, double freedom);

// The smallest difference of two means that a test at 5 % finds with 80 % probability, where values
// of n and of m have this deviation: (t(0.975) + t(0.8)) * s * sqrt(1/n + 1/m). n + m > 2.
double mxp__smallest_difference(double deviation, size_t n, size_t m);
// The same for n differences of pairs; n > 1.
double mxp__smallest_difference_of_pairs(double deviation, size_t n);

#endif
