# SPDX-License-Identifier: Apache-2.0
"""At sizes where kernels work in blocks and with several threads (large.txt), every choice of kernels
gives what the plain C reference gives, gradients included."""
import os
import pathlib

import pytest

import oracle_case
import oracle_run
from test_oracle import expect_all, expect_equal

LIBRARY = os.path.join(os.environ["MXPROF_BUILD"], "libmxnet.so")
CASES = oracle_case.read(pathlib.Path(__file__).parent / "large.txt")


def answers(kernels):
    tasks = [(case, case.make_inputs(), None, case.view) for case in CASES]
    given = oracle_run.answers(LIBRARY, tasks, oracle_run.with_kernels(kernels))
    if isinstance(given[0], str) and "MXNET_CPU_KERNELS" in given[0]:
        pytest.skip(given[0])
    return {case.id: answer for case, answer in zip(CASES, given)}


@pytest.fixture(scope="module")
def plain():
    return answers("ref")


@pytest.fixture(scope="module", params=["default", "own", "dnnl"])
def chosen(request):
    return answers(request.param)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_kernels_give_what_the_reference_gives(case, plain, chosen):
    wanted, given = plain[case.id], chosen[case.id]
    assert not isinstance(wanted, str) and not isinstance(given, str), (wanted, given)
    expect_all("result", given["outputs"], wanted["outputs"], case.tolerance)
    for part in ("gradients", "after"):
        assert set(given.get(part, {})) == set(wanted.get(part, {}))
        for index, values in wanted.get(part, {}).items():
            expect_equal(f"{part} {index}", given[part][index], values, case.tolerance)
    if "into views" in given:
        expect_all("result in a view", given["into views"], wanted["outputs"], case.tolerance)
