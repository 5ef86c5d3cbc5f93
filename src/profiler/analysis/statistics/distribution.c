// SPDX-License-Identifier: Apache-2.0
// The t distribution is an incomplete beta function, by its continued fraction. Quantiles are found
// by halving: probabilities ascend, and a few hundred evaluations are nothing here.
#include "profiler/analysis/statistics/distribution.h"

#include <assert.h>
#include <math.h>

enum { FRACTION_STEPS = 10000, HALVINGS = 200 };

double mxp__normal_probability(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

static double away_from_0(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

// One factor of the fraction (Lentz).
static double take_in(double numerator, double *c, double *d)
{
    *d = 1 / away_from_0(1 + numerator * *d);
    *c = away_from_0(1 + numerator / *c);
    return *c * *d;
}

// Converges within some sqrt(a, b) steps where x is below (a + 1) / (a + b + 2).
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1));
    double result = d;
    for (int i = 1; i <= FRACTION_STEPS; i++) {
        const double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
        const double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
        result *= take_in(even, &c, &d);
        const double factor = take_in(odd, &c, &d);
        result *= factor;
        if (fabs(factor - 1) < 1e-15) {
            break;
        }
    }
    return result;
}

// Regularised incomplete beta function, with 1 - x beside x because one of them may be tiny.
static double beta_share(double a, double b, double x, double rest)
{
    if (x <= 0 || rest <= 0) {
        return x <= 0 ? 0 : 1;
    }
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, rest) / b;
}

double mxp__t_probability(double t, double freedom)
{
    assert(freedom > 0);
    const double squares = freedom + t * t;
    const double tail = beta_share(freedom / 2, 0.5, freedom / squares, t * t / squares) / 2;
    return t < 0 ? tail : 1 - tail;
}

// Where the probability is 1/2 and more; the lower half is its mirror image.
static double upper_quantile(double probability, double freedom)
{
    double low = 0, high = 1;
    for (; high < 1e300; high *= 2) {
        const double reached =
            freedom > 0 ? mxp__t_probability(high, freedom) : mxp__normal_probability(high);
        if (reached >= probability) {
            break;
        }
    }
    for (int i = 0; i < HALVINGS && low < high; i++) {
        const double middle = low + (high - low) / 2;
        const double reached =
            freedom > 0 ? mxp__t_probability(middle, freedom) : mxp__normal_probability(middle);
        if (reached < probability) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

static double quantile(double probability, double freedom)
{
    assert(probability > 0 && probability < 1);
    return probability == 0.5  ? 0
           : probability > 0.5 ? upper_quantile(probability, freedom)
                               : -upper_quantile(1 - probability, freedom);
}

double mxp__normal_quantile(double probability)
{
    return quantile(probability, 0);
}

double mxp__t_quantile(double probability, double freedom)
{
    assert(freedom > 0);
    return quantile(probability, freedom);
}

double mxp__smallest_difference(double deviation, size_t n, size_t m)
{
    assert(n > 0 && m > 0 && n + m > 2);
    const double freedom = (double)(n + m - 2);
    return (mxp__t_quantile(0.975, freedom) + mxp__t_quantile(0.8, freedom)) * deviation *
           sqrt(1 / (double)n + 1 / (double)m);
}

double mxp__smallest_difference_of_pairs(double deviation, size_t n)
{
    assert(n > 1);
    const double freedom = (double)(n - 1);
    return (mxp__t_quantile(0.975, freedom) + mxp__t_quantile(0.8, freedom)) * deviation /
           sqrt((double)n);
}
