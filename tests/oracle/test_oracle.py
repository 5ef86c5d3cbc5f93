# SPDX-License-Identifier: Apache-2.0
"""Every case of the tables gives what the original gives (fixture/, written by scripts/oracle): types
and shapes of results, their values, gradients, states that operators change; with every
choice of kernels."""
import os

import numpy
import pytest

import oracle_case
import oracle_fixture
import oracle_run

LIBRARY = os.path.join(os.environ["MXPROF_BUILD"], "libmxnet.so")
CASES = oracle_case.load()
FIXTURE = oracle_fixture.load()
# Values below this part of the tolerance differ by rounding only.
ABSOLUTE = 0.1


@pytest.fixture(scope="module", params=["default", "own", "dnnl", "ref"])
def answers(request):
    known = [case for case in CASES if case.id in FIXTURE]
    tasks = [(case, FIXTURE[case.id]["inputs"], FIXTURE[case.id].get("heads"), case.view)
             for case in known]
    given = oracle_run.answers(LIBRARY, tasks, oracle_run.with_kernels(request.param))
    if isinstance(given[0], str) and "MXNET_CPU_KERNELS" in given[0]:
        pytest.skip(given[0])
    return {case.id: answer for case, answer in zip(known, given)}


def expect_equal(what, given, wanted, tolerance):
    assert given.dtype == wanted.dtype, f"{what}: type {given.dtype}, not {wanted.dtype}"
    assert given.shape == wanted.shape, f"{what}: shape {given.shape}, not {wanted.shape}"
    if wanted.dtype.kind == "f":
        numpy.testing.assert_allclose(given, wanted, tolerance, tolerance * ABSOLUTE, err_msg=what)
    else:
        numpy.testing.assert_array_equal(given, wanted, err_msg=what)


def expect_all(what, given, wanted, tolerance):
    assert len(given) == len(wanted), f"{len(given)} {what}s, not {len(wanted)}"
    for index, (one, other) in enumerate(zip(given, wanted)):
        expect_equal(f"{what} {index}", one, other, tolerance)


def test_fixture_has_every_case_and_no_other():
    assert sorted(FIXTURE) == sorted(case.id for case in CASES), "type: scripts/oracle"


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_gives_what_the_original_gives(case, answers):
    wanted, given = FIXTURE[case.id], answers[case.id]
    assert not isinstance(given, str), given
    expect_all("result", given["outputs"], wanted["outputs"], case.tolerance)
    for index, gradient in wanted.get("gradients", {}).items():
        expect_equal(f"gradient of input {index}", given["gradients"][index], gradient,
                     case.tolerance)
    written = given["after"]
    if "writes" in case.options:
        del written[int(case.options["writes"])]
    assert set(written) == set(wanted.get("after", {})), "inputs that were changed"
    for index, values in written.items():
        expect_equal(f"input {index} afterwards", values, wanted["after"][index], case.tolerance)
    if "into views" in given:
        expect_all("result in a view", given["into views"], wanted["outputs"], case.tolerance)
