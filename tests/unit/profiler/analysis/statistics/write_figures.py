#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes figures.h: what SciPy, statsmodels and plain sums say of the samples that the tests of statistics use.

    python3 write_figures.py > figures.h        (needs numpy, scipy, statsmodels)
"""
import itertools
import math

import numpy
import scipy.stats
from statsmodels.stats.multitest import multipletests
from statsmodels.tsa.stattools import acf

RUNS_A = [10.06, 9.87, 10.44, 9.93, 10.21, 10.02]
RUNS_B = [11.17, 10.61, 10.30, 11.05, 10.90, 11.40, 10.35]
PAIR_A = [10.06, 9.87, 10.44, 9.93, 10.21, 10.02, 10.6, 9.9]
PAIR_B = [10.36, 10.27, 10.34, 10.43, 10.71, 10.42, 10.9, 10.3]
SERIES = [5, 1, 4, 4, 8, 7, 9, 9, 12, 10, 11, 15, 15, 15, 13, 18, 21, 20, 22, 25, 19, 26, 30]
STEPS = [round(100 + 10 * math.sin(i * 0.7) + 5 * math.cos(i * i), 3) for i in range(47)]
P_VALUES = [0.01, 0.04, 0.03, 0.005, 0.5, 0.04, 0.8, 0.0002]


def array(name, values):
    text = ", ".join(f"{value!r}" if isinstance(value, int) else f"{value:.15g}" for value in values)
    lines = [f"static const double {name}[] = {{"]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) + 1 > 96:
            lines.append("   ")
        lines[-1] += (" " if lines[-1][-1] != "{" else "") + word
    print("\n".join(lines) + "};")


def number(name, value):
    print(f"static const double {name} = {value:.15g};")


def p_of_groups(a, b):
    test = scipy.stats.permutation_test((a, b), lambda x, y, axis: abs(x.mean(axis) - y.mean(axis)), vectorized=True,
                                        n_resamples=numpy.inf, alternative="greater")
    return test.pvalue


def p_of_pairs(a, b):
    test = scipy.stats.permutation_test((a, b), lambda x, y, axis: abs((x - y).mean(axis)), vectorized=True,
                                        n_resamples=numpy.inf, permutation_type="samples", alternative="greater")
    return test.pvalue


def splits_p(a, b):
    """The same as p_of_groups by plain enumeration, to invert it fast."""
    both = numpy.array(a + b)
    indices = numpy.array(list(itertools.combinations(range(len(both)), len(a))))
    sums = both[indices].sum(1)
    rest = both.sum() - sums
    ways = abs(rest / len(b) - sums / len(a))
    seen = abs(numpy.mean(b) - numpy.mean(a))
    return (ways >= seen - 1e-12).mean()


def signs_p(a, b):
    differences = numpy.array(b) - numpy.array(a)
    signs = numpy.array(list(itertools.product([1, -1], repeat=len(differences))))
    return (abs((signs * differences).mean(1)) >= abs(differences.mean()) - 1e-12).mean()


def bound(p_at, accepted, refused):
    for _ in range(60):
        middle = (accepted + refused) / 2
        if p_at(middle) > 0.05:
            accepted = middle
        else:
            refused = middle
    return accepted


def block_bootstrap_deviation(values, block):
    """Exact deviation of the mean: blocks are independent, each begins anywhere in the ring."""
    x = numpy.array(values)
    n = len(x)
    ring = numpy.concatenate([x, x])

    def variance(length):
        return numpy.var([ring[i:i + length].sum() for i in range(n)])
    whole, rest = divmod(n, block)
    return math.sqrt(whole * variance(block) + (variance(rest) if rest else 0)) / n


def mann_kendall(values):
    score = sum(numpy.sign(y - x) for x, y in itertools.combinations(values, 2))
    counts = numpy.unique(values, return_counts=True)[1]
    n = len(values)
    variance = (n * (n - 1) * (2 * n + 5) - sum(c * (c - 1) * (2 * c + 5) for c in counts)) / 18
    z = (score - numpy.sign(score)) / math.sqrt(variance)
    return score, variance, z, 2 * scipy.stats.norm.sf(abs(z))


print("// SPDX-License-Identifier: Apache-2.0\n// Written by write_figures.py.\n#ifndef STATISTICS_FIGURES_H\n"
      "#define STATISTICS_FIGURES_H\n")
for name, values in [("runs_a", RUNS_A), ("runs_b", RUNS_B), ("pair_a", PAIR_A), ("pair_b", PAIR_B),
                     ("series", SERIES), ("steps", STEPS), ("p_values", P_VALUES)]:
    array(name, values)
print()
array("fractions", [0, 0.01, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99, 1])
array("percentiles_of_steps", numpy.quantile(STEPS, [0, 0.01, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99, 1], method="inverted_cdf"))
number("median_of_steps", numpy.median(STEPS))
number("deviation_of_steps", numpy.std(STEPS, ddof=1))
array("autocorrelation_of_steps", acf(STEPS, nlags=3))
number("bootstrap_deviation_of_steps", block_bootstrap_deviation(STEPS, round(2 * len(STEPS) ** (1 / 3))))
print()
array("z_values", [-8, -1.959963984540054, -0.5, 0, 1, 3])
array("normal_probabilities", scipy.stats.norm.cdf([-8, -1.959963984540054, -0.5, 0, 1, 3]))
array("freedoms", [1, 2, 5, 8, 18, 58, 1000])
array("t_values", [-20, -2.5, -0.3, 0, 1.1, 4, 0.01])
array("t_probabilities", [scipy.stats.t.cdf(t, f) for t, f in zip([-20, -2.5, -0.3, 0, 1.1, 4, 0.01], [1, 2, 5, 8, 18, 58, 1000])])
array("t_975", scipy.stats.t.ppf(0.975, [1, 2, 5, 8, 18, 58, 1000]))
array("t_80", scipy.stats.t.ppf(0.8, [1, 2, 5, 8, 18, 58, 1000]))
print()
LOG_A, LOG_B = [math.log(x) for x in RUNS_A], [math.log(x) for x in RUNS_B]
CHANGE = numpy.mean(LOG_B) - numpy.mean(LOG_A)
number("groups_change", CHANGE)
number("groups_p", p_of_groups(LOG_A, LOG_B))
assert abs(splits_p(LOG_A, LOG_B) - p_of_groups(LOG_A, LOG_B)) < 1e-12
number("groups_low", bound(lambda x: splits_p(LOG_A, [b - x for b in LOG_B]), CHANGE, CHANGE - 1))
number("groups_high", bound(lambda x: splits_p(LOG_A, [b - x for b in LOG_B]), CHANGE, CHANGE + 1))
LOG_A, LOG_B = [math.log(x) for x in PAIR_A], [math.log(x) for x in PAIR_B]
CHANGE = numpy.mean(LOG_B) - numpy.mean(LOG_A)
number("pairs_change", CHANGE)
number("pairs_p", p_of_pairs(LOG_A, LOG_B))
assert abs(signs_p(LOG_A, LOG_B) - p_of_pairs(LOG_A, LOG_B)) < 1e-12
number("pairs_low", bound(lambda x: signs_p(LOG_A, [b - x for b in LOG_B]), CHANGE, CHANGE - 1))
number("pairs_high", bound(lambda x: signs_p(LOG_A, [b - x for b in LOG_B]), CHANGE, CHANGE + 1))
print()
array("holm_of_p_values", multipletests(P_VALUES, method="holm")[1])
array("benjamini_hochberg_of_p_values", multipletests(P_VALUES, method="fdr_bh")[1])
print()
for name, value in zip(["kendall_score", "kendall_variance", "kendall_z", "kendall_p"], mann_kendall(SERIES)):
    number(name, value)
SLOPES = scipy.stats.theilslopes(SERIES, alpha=0.95)
for name, value in zip(["sen_slope", "sen_low", "sen_high"], [SLOPES[0], SLOPES[2], SLOPES[3]]):
    number(name, value)
array("sign_tests", [scipy.stats.binomtest(*x).pvalue for x in [(9, 10), (5, 10), (0, 12), (61, 100), (5300, 10000)]])
print("\n#endif")
