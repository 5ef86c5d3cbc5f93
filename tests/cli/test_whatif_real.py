# SPDX-License-Identifier: Apache-2.0
"""Replays of recorded programs: without a change they are exact, or whatif refuses; the path fills each step, and a
thousandth of an operator gains a thousandth of its time on the path."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
PROGRAM = pathlib.Path(__file__).parent / "whatif_programs.py"
PROGRAMS = ["eager", "hybridized", "custom", "branches", "tenth", "ahead", "slow_input", "short"]
FEWEST_NS = 20_000  # on the path: of less, a thousandth is too little to compare


def answer(*arguments):
    result = subprocess.run([BUILD / "mxprof", *map(str, arguments), "--json"], capture_output=True, text=True,
                            timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    (process,) = json.loads(result.stdout)["processes"]
    return process


@pytest.fixture(scope="module", name="trace", params=PROGRAMS)
def trace_fixture(request, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param) / "t.mxp"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE / "python"), "MXNET_LIBRARY_PATH": str(BUILD)}
    subprocess.run([sys.executable, PROGRAM, request.param, path], check=True, timeout=120, env=environment)
    return path


def test_unchanged_replay_is_exact_and_all_is_known(trace):
    found = answer("whatif", trace, "--host", "0.5")  # refused unless it is
    assert found["steps"] > 0 and found["unknown"] < 0.01
    (half,) = found["predictions"]
    # Who comes earlier may have to wait where nobody waited, and waiting has its price.
    assert half["changed"] > 0 and (half["gain_ns"] >= 0 or half["situations_changed"] > 0)


def on_path(trace, step):
    """Time of each operator on the path of a step, and the step's length."""
    path = answer("path", trace, "--step", step)
    pieces = path["pieces"]
    at = pieces[0]["from_ns"]
    for piece in pieces:
        assert piece["from_ns"] == at and piece["to_ns"] > at
        at = piece["to_ns"]
    names = {}
    for piece in pieces:
        if piece["what"] in ("run", "custom") and piece.get("operator"):
            name = piece["where"].rsplit("/", 1)[-1]
            names[name] = names.get(name, 0) + piece["to_ns"] - piece["from_ns"]
    return names, at - pieces[0]["from_ns"]


def test_a_thousandth_of_an_operator_gains_a_thousandth_of_its_path(trace):
    steps = [one["step"] for one in answer("whatif", trace, "--host", "1.001")["predictions"][0]["steps"]]
    compared = overtaken = 0  # by another path that was as long but for some ns
    for step in steps[:6]:
        names, length_ns = on_path(trace, step)
        for name, path_ns in names.items():
            if path_ns < FEWEST_NS or set(name) & set("*?[="):
                continue
            found = answer("whatif", trace, "--step", step, "--name", f"{name}=0.999")
            assert found["recorded_mean_ns"] == length_ns
            (one,) = found["predictions"]
            if one["situations_changed"] == 0:
                assert one["gain_ns"] * 1000 <= path_ns * 1.001, (step, name)
                overtaken += one["gain_ns"] * 1000 < path_ns * 0.999
                compared += 1
    assert compared > 0 and overtaken <= compared // 50
