# SPDX-License-Identifier: Apache-2.0
"""A training step of every layer and every loss of Gluon in MXNet's published package of 1.9.1: on this library it
comes to what it comes to on its own."""
import functools
import json
import os
import pathlib
import subprocess

import pytest

FOLDER = pathlib.Path(__file__).parent
PYTHON = FOLDER.parents[1] / "build/peers/bin/python"
CLOSE = 1e-4

pytestmark = pytest.mark.skipif(not PYTHON.exists(),
                                reason="MXNet 1.9.1 is not installed (scripts/setup peers)")

# What the original itself refuses on a CPU, or hybridized.
REFUSED = {"BatchNormReLU": "its operator needs another build", "LSTM projected": "no training on a CPU",
           "contrib SparseEmbedding": "its parameter wants a trainer first",
           "PoissonNLLLoss": "it changes an array that is recorded"}
REFUSED_HYBRIDIZED = {"contrib Identity": "its graph has no operator", "SDMLLoss": "it asks a symbol for its shape"}
# What this library has not, or does otherwise.
LACKING = {
    "CosineEmbeddingLoss": "docs/migration.md: operators without parameters refuse free attributes",
    "Embedding sparse": "sparse arrays",
}
WRONG_THERE = {("SELU", "gradient"): "docs/migration.md: it is wrong below 0"}


def base(case):
    return case[:-len(" hybridized")] if case.endswith(" hybridized") else case


@functools.lru_cache(None)
def steps(**variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MXNET_", "PYTHON"))}
    done = subprocess.run([PYTHON, FOLDER / "layer_steps.py"], env={**environment, **variables}, check=False,
                          capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@functools.lru_cache(None)
def wanted():
    """What the original gives, without oneDNN where it fails with it (it does not read its own layouts back)."""
    plain = steps(MXNET_MKLDNN_ENABLED="0", MXNET_STORAGE_FALLBACK_LOG_VERBOSE="0")["cases"]
    return {case: found if "values" in found else plain[case] for case, found in steps()["cases"].items()}


@functools.lru_cache(None)
def ours():
    return steps(MXNET_LIBRARY_PATH=f"{os.environ['MXPROF_BUILD']}/libmxnet.so")["cases"]


def differences(case):
    theirs, found = wanted()[case]["values"], ours()[case]
    if "error" in found:
        return [found["error"]]
    assert list(found["values"]) == list(theirs)
    return [name for name, values in theirs.items() if (base(case), name) not in WRONG_THERE
            and found["values"][name] != pytest.approx(values, rel=CLOSE, abs=CLOSE)]


def test_every_layer_has_a_case():
    cases = {base(case) for case in wanted()}
    assert [name for name in steps()["names"]
            if not any(case == name or case.startswith(name + " ") for case in cases)] == []


def test_each_step_comes_to_what_it_comes_to_there():
    compared = [case for case in wanted() if base(case) not in LACKING and "values" in wanted()[case]]
    assert len(compared) > 180
    assert {case: found for case in compared for found in [differences(case)] if found} == {}


def test_the_original_refuses_what_is_not_compared():
    """Now and then it fails in another layer, which says nothing."""
    refused = {case for case, found in wanted().items() if "error" in found}
    assert {base(case) for case in refused if not case.endswith(" hybridized")} >= set(REFUSED)
    assert {base(case) for case in refused} >= set(REFUSED) | set(REFUSED_HYBRIDIZED)


@pytest.mark.parametrize("case", LACKING)
def test_what_is_lacking_differs(case):
    """When it is there the table is to say so."""
    assert differences(case) != []
