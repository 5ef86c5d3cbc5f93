# SPDX-License-Identifier: Apache-2.0
"""`mxprof explain DIR` and `report DIR`: whether the network or the owners bound the communication of a job."""
import json
import os
import pathlib
import random
import subprocess

import pytest
from bound_files import KEY_BYTES, BoundJob
from rank_files import MS

MXPROF = pathlib.Path(os.environ["MXPROF_BUILD"]) / "mxprof"
MB = 1e6


def mxprof(*arguments):
    result = subprocess.run([MXPROF, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr + result.stdout
    return result.stdout


def between(folder):
    return json.loads(mxprof("explain", "--json", folder))["between_ranks"]


def trained(folder, ranks=3, seed=1, steps=40, **how):
    job = BoundJob(ranks, seed, **how)
    job.train(steps, spread=0.005)
    job.exchange_all()
    return job.write(folder)


def probe_of(rate, spread=0.05):
    return rate, rate * (1 - spread), rate * (1 + spread)


@pytest.mark.parametrize("seed", range(4))
def test_a_network_that_is_full_is_named_with_its_figures(tmp_path, seed):
    rate = [50, 200, 450, 900][seed] * MB
    found = between(trained(tmp_path / "job", 2 + seed, seed, rate=rate, probe=probe_of(rate * (0.9 + 0.06 * seed))))
    assert found["bound"] == "network" and found["network_unknown"] is None and found["owner_bound"] is False
    assert found["full_links"] == 2 + seed
    for link in found["links"]:
        assert link["is_full"] and abs(link["bytes_per_s"]["median"] - rate) < 0.02 * rate
        wanted_ns = 5 * KEY_BYTES / rate * 1e9  # four keys out, the first of them back while the last ones go
        assert abs(link["network_ns"]["median"] - wanted_ns) < 0.05 * wanted_ns
        assert link["network_ns"]["low"] <= link["network_ns"]["median"] <= link["network_ns"]["high"]


def test_the_words(tmp_path):
    folder = trained(tmp_path / "job", rate=100 * MB, probe=(102 * MB, 99 * MB, 110 * MB))
    text = mxprof("explain", folder)
    at = text.index("Network-bound: the way of worker ")
    lines = text[at:].splitlines()
    assert " carries 100 MB/s (98 %) of the 102 MB/s" in lines[0]
    assert lines[1].startswith("that its probe reached to worker ") and lines[1].endswith(" at the start (99.0 MB/s to 110 MB/s).")
    assert lines[2].startswith("Messages keep 50.") and lines[2].endswith(" %.") and " of a step of " in lines[2]
    assert lines[3].startswith("The ways of 3 of 3 workers are full. Try fewer bytes: gradient compression,")
    assert max(map(len, lines[:5])) <= 80
    assert "\nNetwork-bound: the way of worker " in mxprof("report", folder)


@pytest.mark.parametrize("seed", range(4))
def test_a_network_that_is_not_full_is_not_named(tmp_path, seed):
    draw = random.Random(seed)
    rate = draw.uniform(50, 300) * MB
    found = between(trained(tmp_path / "job", 2 + seed % 3, seed, rate=rate, probe=probe_of(rate / draw.uniform(0.05, 0.7))))
    assert found["bound"] == "neither" and found["full_links"] == 0 and found["network_unknown"] is None
    assert mxprof("explain", tmp_path / "job").count("Neither network nor owners bound the job:\nthe way of worker ") == 1


def test_messages_that_take_nothing_are_no_share_of_a_slower_probe(tmp_path):
    folder = trained(tmp_path / "job", rate=50_000 * MB, probe=probe_of(45 * MB))
    assert between(folder)["bound"] == "neither"
    text = mxprof("explain", folder)
    assert "\nNeither network nor owners bound the job.\nMessages keep " in text and "its probe reached" not in text


def test_owners_that_take_longest_are_named(tmp_path):
    folder = trained(tmp_path / "job", rate=900 * MB, owner_ms=4, probe=probe_of(900 * MB))
    found = between(folder)
    assert found["bound"] == "owners" and found["owner_bound"] is True
    # Keys come side by side and are taken one after another: worker 0 owns two of the four, and waits for all before.
    assert 4 * MS < found["owner_ns"] < 17 * MS
    assert "\nOwner-bound: worker " in mxprof("explain", folder) and "Try more servers" in mxprof("explain", folder)


def test_without_a_probe_nothing_is_guessed(tmp_path):
    folder = trained(tmp_path / "job", rate=50 * MB)
    found = between(folder)
    assert found["bound"] == "unknown" and found["network_unknown"] == "no probe was recorded"
    assert "Whether the network bounds the job is unknown, because no probe was recorded.\n" in mxprof("explain", folder)


def test_nor_where_the_probe_cannot_be_true(tmp_path):
    slow = trained(tmp_path / "slow", rate=50 * MB, probe=probe_of(20 * MB))
    assert between(slow)["network_unknown"] == "the probe reached less than the messages"
    assert "because the start's probe\nreached 20.0 MB/s, and messages of the steps 50.0 MB/s.\n" in mxprof("explain", slow)
    uneven = trained(tmp_path / "uneven", rate=50 * MB, probe=(50 * MB, 5 * MB, 400 * MB))
    assert between(uneven)["network_unknown"] == "the probe was uneven"
    assert "because the start's probe was\nuneven: 5.00 MB/s to 400 MB/s.\n" in mxprof("explain", uneven)
    silent = trained(tmp_path / "silent", rate=50 * MB, probe=probe_of(50 * MB), rounds=False)
    assert between(silent)["network_unknown"] == "no bytes that left a process are recorded"


@pytest.mark.parametrize("rate, bound", [(15 * MB, "unknown"), (5 * MB, "network")])
def test_few_bytes_in_a_short_time_are_no_rate(tmp_path, rate, bound):
    """32 kB a step: in 1.3 ms who had the cores may have taken most of it, in 4 ms the way did."""
    folder = trained(tmp_path / "job", rate=rate, key_bytes=4000, probe=probe_of(rate))
    found = between(folder)
    assert found["bound"] == bound and found["full_links"] == (3 if bound == "network" else 0)
    if bound == "unknown":
        assert found["network_unknown"] == "too little is moved for a rate"
        assert ("because a step moves 32.0 kB\nin 1." in (told := mxprof("explain", folder))
                and " ms, too little for a rate that can be compared with the probe's.\n" in told)


def test_what_is_said_outlives_merging_and_recovering(tmp_path):
    folder = trained(tmp_path / "job", rate=100 * MB, probe=probe_of(100 * MB))
    found = between(folder)
    recovered = tmp_path / "recovered"
    recovered.mkdir()
    for file in sorted(folder.iterdir()):
        # What is left where a process died before its end.
        (tmp_path / "cut.mxp").write_bytes(file.read_bytes())
        mxprof("recover", tmp_path / "cut.mxp", "-o", recovered / file.name)
    again = between(recovered)
    assert again["bound"] == "network" and again["links"] == found["links"]
    mxprof("merge", folder, "-o", tmp_path / "merged.json")
    merged = json.loads((tmp_path / "merged.json").read_text())
    events = merged["traceEvents"] if isinstance(merged, dict) else merged
    assert sum(event.get("name") == "KVStore probe" and event["ph"] == "b" for event in events) == 3
