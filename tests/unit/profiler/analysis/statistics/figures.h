// SPDX-License-Identifier: Apache-2.0
// Written by write_figures.py.
#ifndef STATISTICS_FIGURES_H
#define STATISTICS_FIGURES_H

static const double runs_a[] = {10.06, 9.87, 10.44, 9.93, 10.21, 10.02};
static const double runs_b[] = {11.17, 10.61, 10.3, 11.05, 10.9, 11.4, 10.35};
static const double pair_a[] = {10.06, 9.87, 10.44, 9.93, 10.21, 10.02, 10.6, 9.9};
static const double pair_b[] = {10.36, 10.27, 10.34, 10.43, 10.71, 10.42, 10.9, 10.3};
static const double series[] = {5,  1,  4,  4,  8,  7,  9,  9,  12, 10, 11, 15,
                                15, 15, 13, 18, 21, 20, 22, 25, 19, 26, 30};
static const double steps[] = {
    105,     109.144, 106.586, 104.076, 98.562, 101.448, 90.644,  91.678,  95.647,  104.052,
    110.881, 109.638, 112.902, 107.183, 98.048, 93.04,   90.009,  98.817,  95.763,  101.895,
    107.28,  110.376, 107.937, 97.933,  88.805, 85.322,  89.709,  105.448, 107.679, 112.849,
    108.698, 107.605, 100.961, 88.927,  95.254, 98.965,  100.208, 110.653, 112.068, 112.733,
    99.717,  91.024,  90.953,  89.464,  97.781, 99.634,  107.746};
static const double p_values[] = {0.01, 0.04, 0.03, 0.005, 0.5, 0.04, 0.8, 0.0002};

static const double fractions[] = {0, 0.01, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99, 1};
static const double percentiles_of_steps[] = {85.322,  85.322,  89.709,  95.254, 100.961,
                                              110.881, 112.733, 112.902, 112.902};
static const double median_of_steps = 100.961;
static const double deviation_of_steps = 7.91713937016777;
static const double autocorrelation_of_steps[] = {1, 0.659223577381992, 0.151158616429421,
                                                  -0.410402887375361};
static const double bootstrap_deviation_of_steps = 1.02571256314135;

static const double z_values[] = {-8, -1.95996398454005, -0.5, 0, 1, 3};
static const double normal_probabilities[] = {
    6.22096057427174e-16, 0.025, 0.308537538725987, 0.5, 0.841344746068543, 0.99865010196837};
static const double freedoms[] = {1, 2, 5, 8, 18, 58, 1000};
static const double t_values[] = {-20, -2.5, -0.3, 0, 1.1, 4, 0.01};
static const double t_probabilities[] = {
    0.0159022512561764, 0.0648058601107554, 0.388124521131637, 0.5,
    0.857086772392274,  0.99990914090947,   0.503988359033906};
static const double t_975[] = {12.7062047361747, 4.30265272974946, 2.57058183563631,
                               2.30600413520417, 2.10092204024104, 2.00171748414524,
                               1.96233908082641};
static const double t_80[] = {1.37638192047117, 1.06066017177982,  0.919543780240827,
                              0.88888951776702, 0.862048667989599, 0.847862467103034,
                              0.841980822162429};

static const double groups_change = 0.0700769922449216;
static const double groups_p = 0.00466200466200466;
static const double groups_low = 0.0308651344729858;
static const double groups_high = 0.110393025476158;
static const double pairs_change = 0.0328856799249895;
static const double pairs_p = 0.015625;
static const double pairs_low = 0.0150512285584334;
static const double pairs_high = 0.0453599946370618;

static const double holm_of_p_values[] = {0.06, 0.16, 0.15, 0.035, 1, 0.16, 1, 0.0016};
static const double benjamini_hochberg_of_p_values[] = {0.0266666666666667,
                                                        0.0533333333333333,
                                                        0.0533333333333333,
                                                        0.02,
                                                        0.571428571428571,
                                                        0.0533333333333333,
                                                        0.8,
                                                        0.0016};

static const double kendall_score = 220;
static const double kendall_variance = 1428;
static const double kendall_z = 5.79535455807335;
static const double kendall_p = 6.8176990391112e-09;
static const double sen_slope = 1.13333333333333;
static const double sen_low = 1;
static const double sen_high = 1.27272727272727;
static const double sign_tests[] = {0.021484375, 1, 0.00048828125, 0.0352002002177049,
                                    2.07603369592061e-09};

#endif
