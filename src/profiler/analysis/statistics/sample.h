// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/statistics: what can be said of figures that vary. It knows no traces.
// Everything is a function of its arguments: what is drawn at random is drawn from a fixed seed.
//
// Figures of one sample. All values are finite.
#ifndef MXP_STATISTICS_SAMPLE_H
#define MXP_STATISTICS_SAMPLE_H

#include <stddef.h>

double mxp__sample_mean(const double *values, size_t count);  // 0 of none
// Of the sample (count - 1 below the sum of squares); 0 of fewer than two values.
double mxp__sample_deviation(const double *values, size_t count);
// Correlation of the values with those `lag` places later, as autocorrelation is estimated: over
// the sum of squares of all. 0 where nothing varies or no pair is so far apart.
double mxp__sample_autocorrelation(const double *values, size_t count, size_t lag);

void mxp__sample_sort(double *values, size_t count);  // ascending
// The value that would be at `place` were they sorted; moves them around. place < count. Time: in
// the mean a few passes, against the twenty and more of a sort.
double mxp__sample_select(double *values, size_t count, size_t place);
// The smallest value that at least the fraction (0..1) of all do not exceed: a value of the sample,
// as the percentiles of a report are. `sorted` ascends; count is not 0.
double mxp__sample_percentile(const double *sorted, size_t count, double fraction);
// The middle one of ascending values, of an even number the mean of both; count is not 0.
double mxp__sample_median(const double *sorted, size_t count);
// The median of values in any order; moves them around. count is not 0.
double mxp__sample_middle(double *values, size_t count);

#endif
