# SPDX-License-Identifier: Apache-2.0
"""Runs cases in a process of its own, because a library may crash, and because it reads its choice
of kernels once:  oracle_run.py LIBRARY TASKS ANSWERS

TASKS is a pickled list of (case, inputs), or (case, inputs, gradients to begin with, whether results
are to be written into views too). ANSWERS receives, one pickle after the
other, the index of a case when it begins and its answer when it is done."""
import os
import pickle
import subprocess
import sys
import tempfile

import numpy

import oracle_runtime


def heads_for(outputs):
    """Gradients to begin with: of every result that has one, numbers that differ."""
    return [(numpy.arange(output.size) % 7 * 0.25 - 0.6).reshape(output.shape).astype(output.dtype)
            for output in outputs]


def _forward(runtime, case, arrays, variables, gradients):
    runtime.train_mode(bool(variables), case.train)
    try:
        if variables:
            runtime.mark(variables, gradients)
        return runtime.invoke(case.operator, arrays, case.parameters,
                              [arrays[index] for index in case.written])
    finally:
        runtime.train_mode(False, False)


def _into_views(runtime, case, inputs, outputs):
    """The results written to the middle of other values, which stay."""
    runtime.train_mode(False, case.train)
    places = [runtime.view(numpy.zeros_like(output)) for output in outputs]
    runtime.invoke(case.operator, [runtime.view(values) for values in inputs], case.parameters,
                   places)
    runtime.train_mode(False, False)
    written = [place.numpy() for place in places]
    assert all(place.guards_hold() for place in places), "written beside the view"
    return written


def run(runtime, case, inputs, heads=None, into_views=False):
    """What the case gives: outputs, gradients by input, and inputs that were changed."""
    runtime.numpy_shapes(case.numpy_shapes)
    make = runtime.view if case.view else runtime.array
    arrays = [make(values) for values in inputs]
    variables = [arrays[index] for index in case.variables]
    gradients = [runtime.array(numpy.zeros_like(inputs[index])) for index in case.variables]
    outputs = _forward(runtime, case, arrays, variables, gradients)
    answer = {"outputs": [output.numpy() for output in outputs]}
    if variables:
        heads = heads_for(answer["outputs"]) if heads is None else heads
        runtime.backward(outputs, [runtime.array(head) for head in heads], case.train)
        answer["heads"] = heads
        answer["gradients"] = {index: gradient.numpy()
                               for index, gradient in zip(case.variables, gradients)}
    after = [array.numpy() for array in arrays]
    answer["after"] = {index: values for index, values in enumerate(after)
                       if not numpy.array_equal(values, inputs[index], equal_nan=True)}
    assert all(array.guards_hold() for array in arrays if array.base), "written beside the view"
    if into_views and not case.written:
        answer["into views"] = _into_views(runtime, case, inputs, answer["outputs"])
    return answer


def answers(library, tasks, environment=None):
    """Answers to all tasks: a dictionary, or the text of what went wrong. A case that kills the
    process is left out, and the rest are run in another one."""
    results = [None] * len(tasks)
    waiting = list(range(len(tasks)))
    while waiting:
        with tempfile.NamedTemporaryFile() as wanted, tempfile.NamedTemporaryFile() as given:
            pickle.dump([tasks[index] for index in waiting], wanted)
            wanted.flush()
            child = subprocess.run([sys.executable, __file__, library, wanted.name, given.name],
                                   env=environment, capture_output=True, text=True, check=False)
            began = -1
            while True:
                try:
                    began = pickle.load(given)
                    results[waiting[began]] = pickle.load(given)
                except EOFError:
                    break
        if began >= 0 and results[waiting[began]] is None:
            results[waiting[began]] = f"the process died: {child.returncode} {child.stderr[-500:]}"
        elif child.returncode != 0:
            raise RuntimeError(child.stderr)
        waiting = [index for index in waiting if results[index] is None]
    return results


def with_kernels(kernels):
    """The environment for a choice of MXNET_CPU_KERNELS."""
    environment = {key: value for key, value in os.environ.items() if key != "MXNET_CPU_KERNELS"}
    return environment if kernels == "default" else {**environment, "MXNET_CPU_KERNELS": kernels}


def main(library, wanted, given):
    with open(wanted, "rb") as file:
        tasks = pickle.load(file)
    runtime = oracle_runtime.Runtime(library)
    with open(given, "wb", buffering=0) as file:
        for index, task in enumerate(tasks):
            pickle.dump(index, file)
            try:
                answer = run(runtime, *task)
            except (oracle_runtime.RuntimeFailure, AssertionError) as failure:
                answer = str(failure) or "no text"
            file.write(pickle.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
