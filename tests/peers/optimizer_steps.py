# SPDX-License-Identifier: Apache-2.0
"""Some steps of each optimizer, in MXNet's published package of 1.9.1 or in the package of this tree:

    optimizer_steps.py [--theirs]       prints a line of JSON, {case: {type: [numbers]}}

The numbers are two weights after the steps; weights and gradients come from NumPy. Those of float16 have a float32
copy."""
import json
import sys

import numpy

STEPS = 5
SHAPES = (4, 3), (5, 1)
COMMON = {"wd": 0.01, "rescale_grad": 0.5}
CASES = {
    "adam": ("adam", {"learning_rate": 0.02, "clip_gradient": 0.4}),
    "ftml": ("ftml", {"learning_rate": 0.02}),
    "ftml_clipped": ("ftml", {"learning_rate": 0.02, "clip_gradient": 0.4, "beta1": 0.5, "epsilon": 1e-4}),
    "ftrl": ("ftrl", {"learning_rate": 0.2}),
    "ftrl_clipped": ("ftrl", {"lamda1": 0.2, "beta": 0.5, "clip_gradient": 0.4}),
    "lamb": ("lamb", {"learning_rate": 0.02}),
    "lamb_bounded": ("lamb", {"learning_rate": 0.02, "lower_bound": 0.5, "upper_bound": 1.5, "clip_gradient": 0.4,
                              "bias_correction": False}),
    "rmsprop": ("rmsprop", {"learning_rate": 0.02, "clip_weights": 1.5}),
    "rmsprop_centered": ("rmsprop", {"gamma1": 0.8, "gamma2": 0.7, "centered": True, "epsilon": 1e-4}),
    "signsgd": ("signum", {"learning_rate": 0.03, "momentum": 0.0}),
    "sgd": ("sgd", {"learning_rate": 0.1, "momentum": 0.9}),
    "signum": ("signum", {"learning_rate": 0.03, "wd_lh": 0.1, "clip_gradient": 0.4}),
}
# Which the package of this tree has not, or as MXNet's line 2.0 has them.
THEIRS = {
    "adadelta": ("adadelta", {}),
    "adagrad": ("adagrad", {"learning_rate": 0.1}),
    "adamax": ("adamax", {"learning_rate": 0.02}),
    "ccsgd": ("ccsgd", {"learning_rate": 0.1, "momentum": 0.9}),
    "dcasgd": ("dcasgd", {"learning_rate": 0.1}),
    "groupadagrad": ("groupadagrad", {"learning_rate": 0.1, "wd": 0}),
    "lars": ("lars", {"learning_rate": 0.1, "momentum": 0.9}),
    "lbsgd": ("lbsgd", {"learning_rate": 0.1, "momentum": 0.9}),
    "nadam": ("nadam", {"learning_rate": 0.02}),
    "nag": ("nag", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0}),  # docs/migration.md: its decay
    "test": ("test", {"learning_rate": 0.1}),
}


def steps(name, settings, dtype):
    import mxnet as mx  # not above: the tests read the cases, and have no such package

    draw = numpy.random.RandomState(17)
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, multi_precision=True, **{**COMMON, **settings}))
    weights = [mx.nd.array(draw.normal(0, 1, shape), dtype=dtype) for shape in SHAPES]
    for _ in range(STEPS):
        grads = [mx.nd.array(draw.normal(0, 1, weight.shape), dtype=dtype) for weight in weights]
        if updater.optimizer.aggregate_num > 1:
            updater(list(range(len(weights))), grads, weights)
        for index, weight in enumerate(weights if updater.optimizer.aggregate_num <= 1 else ()):
            updater(index, grads[index], weight)
    return [float(value) for weight in weights for value in weight.asnumpy().ravel()]


def main():
    cases = {**CASES, **(THEIRS if "--theirs" in sys.argv else {})}
    print(json.dumps({case: {dtype: steps(name, settings, dtype) for dtype in ("float32", "float16")}
                      for case, (name, settings) in cases.items()}))


if __name__ == "__main__":
    main()
