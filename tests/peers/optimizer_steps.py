# SPDX-License-Identifier: Apache-2.0
"""Some steps of each optimizer, in MXNet's published package of 1.9.1 or in the package of this tree:

    optimizer_steps.py          prints a line of JSON, {case: {type: [numbers]}}

The numbers are two weights after the steps; weights and gradients come from NumPy."""
import json

import numpy

import mxnet as mx

STEPS = 5
SHAPES = (4, 3), (5,)
COMMON = {"wd": 0.01, "rescale_grad": 0.5}
CASES = {
    "ftml": ("ftml", {"learning_rate": 0.02}),
    "ftml_clipped": ("ftml", {"learning_rate": 0.02, "clip_gradient": 0.4, "beta1": 0.5, "epsilon": 1e-4}),
    "ftrl": ("ftrl", {"learning_rate": 0.2}),
    "ftrl_clipped": ("ftrl", {"lamda1": 0.2, "beta": 0.5, "clip_gradient": 0.4}),
    "rmsprop": ("rmsprop", {"learning_rate": 0.02, "clip_weights": 1.5}),
    "rmsprop_centered": ("rmsprop", {"gamma1": 0.8, "gamma2": 0.7, "centered": True, "epsilon": 1e-4}),
    "signsgd": ("signum", {"learning_rate": 0.03, "momentum": 0.0}),
    "signum": ("signum", {"learning_rate": 0.03, "wd_lh": 0.1, "clip_gradient": 0.4}),
}


def steps(name, settings, dtype):
    draw = numpy.random.RandomState(17)
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, **settings, **COMMON))
    weights = [mx.nd.array(draw.normal(0, 1, shape), dtype=dtype) for shape in SHAPES]
    for _ in range(STEPS):
        for index, weight in enumerate(weights):
            updater(index, mx.nd.array(draw.normal(0, 1, weight.shape), dtype=dtype), weight)
    return [float(value) for weight in weights for value in weight.asnumpy().ravel()]


def main():
    print(json.dumps({case: {dtype: steps(name, settings, dtype) for dtype in ("float32",)}
                      for case, (name, settings) in CASES.items()}))


if __name__ == "__main__":
    main()
