# SPDX-License-Identifier: Apache-2.0
"""mxprof whatif --roof: operators that take what the machine needs for them at least, computed here as well, and the
ceilings without which nothing is said."""
import json
import os
import subprocess

import pytest

import native_file
import test_roof
from test_whatif import BUILD, US, operator, wait

STEPS = 5
# Name, scope, flops, bytes, ns that it took: a product at half its ceiling, a memory-bound one, one of unknown cost.
OPERATORS = [("product", "conv1", 20e6, 40_000, 200 * US), ("sum", "conv1", 100e3, 8_000_000, 100 * US),
             ("product", "dense", 10e6, 20_000, 80 * US), ("Custom", "dense", 0, 0, 30 * US)]
LEAST = [20e6 / test_roof.RATES["f32"] * 1e9, 8_000_000 / test_roof.RATES["l3"] * 1e9,
         10e6 / test_roof.RATES["f32"] * 1e9, 30 * US]
TAKES = [ns for *_, ns in OPERATORS]
BESIDE = 60 * US  # a step's pushing, what the worker takes to wake up, and what the program does behind its wait


def trace(operators=tuple(OPERATORS), machine=None):
    """All operators write one variable, so that each waits for the one before; the program waits for the last."""
    file = native_file.NativeFile()
    main, worker = file.thread("main"), file.thread("compute worker")
    waits = file.name("WaitForVar", "operator", "span")
    net = file.name("net", 0, "scope")
    length = BESIDE + sum(ns for *_, ns in operators)
    for step in range(STEPS + 1):
        t = 50 * US + step * length
        file.meta(main, "step", t, value=step)
        if step == STEPS:
            break
        at = t + 15 * US
        for i, (name, scope, flops, size, ns) in enumerate(operators):
            number = step * len(operators) + i + 1
            operator(file, worker, file.name(name, "operator", "span"), number, t + 10 * US, at, at + ns,
                     ready=at if i else None, released_by=number - 1 if i else 0, uses=(7,),
                     scope=file.name(scope, net, "scope"), cost=test_roof.f32(flops, size))
            at += ns
        wait(file, main, waits, t + 11 * US, at + 3 * US, number)
    file.info = [("mxprof_version", test_roof.VERSION)]
    file.info += [(f"machine.{key}", value)
                  for key, value in (test_roof.MACHINE if machine is None else machine).items()]
    return file.to_bytes()


@pytest.fixture(name="work")
def work_fixture(tmp_path):
    (tmp_path / "run.mxp").write_bytes(trace())
    (tmp_path / "ceilings.txt").write_text(test_roof.ceilings())
    return tmp_path


def whatif(work, *arguments, code=0):
    done = subprocess.run([BUILD / "mxprof", "whatif", *arguments, "run.mxp"], cwd=work, capture_output=True, text=True,
                          timeout=60, check=False,
                          env=dict(os.environ, XDG_CACHE_HOME=str(work / "cache"), LC_ALL="C.UTF-8"))
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


def prediction(work, *arguments):
    done = whatif(work, "--ceilings", "ceilings.txt", "--json", *arguments)
    (process,) = json.loads(done.stdout)["processes"]
    assert process["steps"] == STEPS and process["recorded_mean_ns"] == BESIDE + sum(TAKES)
    (one,) = process["predictions"]
    return one


@pytest.mark.parametrize("globs, chosen, without", [
    (["product"], {0, 2}, 0),
    (["net/conv1"], {0, 1}, 0),  # a scope
    (["*conv1"], {0, 1}, 0),
    (["net/dense", "sum"], {1, 2}, 1),  # of a name or in a scope; what Custom computes is not known
    (["*"], {0, 1, 2}, 1),
    (["Custom"], set(), 1),
])
def test_operators_take_what_their_roof_allows(work, globs, chosen, without):
    one = prediction(work, *(word for glob in globs for word in ("--roof", glob)))
    length = BESIDE + sum(LEAST[i] if i in chosen else TAKES[i] for i in range(len(TAKES)))
    assert [step["predicted_ns"] for step in one["steps"]] == [length] * STEPS
    assert one["changed"] == STEPS * len(chosen) and one["without_roof"] == STEPS * without
    assert not one["model"] and {change["change"] for change in one["changes"]} == {"roof"}


def test_a_call_below_its_roof_keeps_its_time(work):
    faster = list(OPERATORS)
    faster[1] = faster[1][:4] + (int(LEAST[1] / 1.04),)  # within what voids no ceilings
    (work / "run.mxp").write_bytes(trace(faster))
    done = whatif(work, "--ceilings", "ceilings.txt", "--json", "--roof", "sum")
    (one,) = json.loads(done.stdout)["processes"][0]["predictions"]
    assert one["gain_ns"] == 0 and one["changed"] == STEPS


def test_roofs_and_other_changes_are_made_together(work):
    one = prediction(work, "--roof", "product", "--name", "Custom=0")
    assert one["mean_ns"] == BESIDE + LEAST[0] + TAKES[1] + LEAST[2]


def test_people_are_told_what_has_no_roof(work):
    shown = whatif(work, "--ceilings", "ceilings.txt", "--roof", "*dense").stdout
    assert "*dense at the roof" in shown and f"{STEPS} of the operators have no roof" in shown
    assert "have no roof" not in whatif(work, "--ceilings", "ceilings.txt", "--roof", "product").stdout


def test_ceilings_are_found_in_the_cache(work):
    reason = whatif(work, "--roof", "product", code=3).stderr
    assert "there are no ceilings of the machine of this trace (Test CPU 9000, 2 cores" in reason
    (work / "run.mxp").write_bytes(trace(machine={}))
    assert "does not say which machine" in whatif(work, "--roof", "product", code=3).stderr


@pytest.mark.parametrize("text, reason", [
    (test_roof.ceilings(cores="64"), "with 64 cores, and the trace is of Test CPU 9000 with 2"),
    (test_roof.ceilings({key: rate / 3 for key, rate in test_roof.RATES.items()}),
     "the ceilings are void, for 'sum' is at 240 % of its own"),
])
def test_ceilings_that_do_not_hold_are_refused(work, text, reason):
    (work / "ceilings.txt").write_text(text)
    done = whatif(work, "--ceilings", "ceilings.txt", "--roof", "product", code=3)
    assert reason in done.stderr and done.stdout == ""


def test_wrong_calls_of_roof(work):
    none = whatif(work, "--ceilings", "ceilings.txt", "--roof", "convolution", code=2).stderr
    assert "nothing is called 'convolution'; the nearest are" in none
    assert "--ceilings is for --roof" in whatif(work, "--ceilings", "ceilings.txt", "--name", "sum=0", code=2).stderr
    (work / "ceilings.txt").write_text("nothing of the kind")
    whatif(work, "--ceilings", "ceilings.txt", "--roof", "sum", code=1)
