# SPDX-License-Identifier: Apache-2.0
"""What `make demo` runs, on few digits: it learns, says where time and memory went, and leaves files that
agree with what it said."""
import json
import os
import pty
import re
import signal
import subprocess
import sys

import pytest

from mxnet.gluon.data.vision import digits, idx
from python_program import BUILD, SOURCE, run_file, running_python

sys.path.insert(0, str(SOURCE / "tests/cli"))
import page_reader  # noqa: E402

PROGRAM = str(SOURCE / "examples/python/train_lenet.py")
LAYERS = {"conv0", "pool0", "conv1", "pool1", "flatten0", "dense0", "dense1",
          "softmaxcrossentropyloss"}
BATCHES, STEPS, WARM_UP = 12, 8, 5


def write_digits(folder, training):
    folder.mkdir(exist_ok=True)
    for name, count, seed in (("train", training, 1), ("t10k", 64, 2)):
        images, labels = digits.make(count, seed)
        idx.write(folder / f"{name}-images-idx3-ubyte", images)
        idx.write(folder / f"{name}-labels-idx1-ubyte", labels)
    return str(folder)


@pytest.fixture(scope="module", name="demo")
def demo_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    data = write_digits(folder / "mnist", 64 * BATCHES)
    return run_file([PROGRAM, "out", "--epochs", "2", "--steps", str(STEPS), "--data", data], folder, 120)


def test_it_learns_and_says_so(demo):
    assert (demo.code, demo.err) == (0, "")
    epochs = re.findall(r"^epoch (\d): loss ([\d.]+), ([\d.]+) % right; of new pictures ([\d.]+) %",
                        demo.out, re.MULTILINE)
    assert [number for number, *_ in epochs] == ["1", "2"]
    assert float(epochs[1][1]) < float(epochs[0][1]) < 2.4  # log 10 is guessing
    assert demo.out.startswith("Data: ")


def mxprof(demo, *words):
    return subprocess.run([BUILD / "mxprof", *words, demo.directory / "out/profile.mxp"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def pushed(operator):
    """When the program asked for it, us. A worker may come to it in a later step; it is of this one."""
    return operator["ts"] - operator["args"].get("queued_us", 0) - operator["args"].get("blocked_us", 0)


def test_layers_are_told_as_the_trace_has_them(demo):
    """The command's figures against the JSON that the library wrote, added up here."""
    told = json.loads(mxprof(demo, "report", "--json", "--step", f"{WARM_UP + 1}:"))
    layers = {layer["scope"]: layer for layer in told["layers"]}
    assert {f"lenet:{layer}" for layer in LAYERS if "loss" not in layer} <= set(layers)
    assert told["chosen_steps"] == STEPS - WARM_UP
    items = demo.trace("out/profile.json")
    begin = sorted(item["ts"] for item in items if item.get("cat") == "step")[WARM_UP]
    for layer in ("conv0", "conv1", "dense0", "pool0"):
        for phase in ("forward", "backward", "update"):
            spans = [item["dur"] for item in items if item.get("cat") == "operator" and pushed(item) >= begin
                     and item["args"].get("scope", "").startswith(f"lenet:{layer}:")
                     and item["args"].get("phase") == phase]
            assert layers[f"lenet:{layer}"][f"{phase}_ns"] == pytest.approx(sum(spans) * 1000, abs=2 * len(spans))
            assert (sum(spans) > 0) == (layer != "pool0" or phase != "update")


def test_the_report_is_printed(demo):
    printed = mxprof(demo, "report", "--step", f"{WARM_UP + 1}:")
    assert printed in demo.out
    lines = printed.splitlines()
    assert lines[0].startswith(f"steps {STEPS - WARM_UP}  mean ")
    header = next(line for line in lines if line.startswith("layer"))
    assert header.split() == ["layer", "forward", "backward", "update", "sum", "wall", "path"]
    # The last line of the table, and the sum above it, are all of the path.
    end = next(i for i, line in enumerate(lines) if line.startswith("all layers"))
    shares = [float(line.split()[-1].rstrip("%")) for line in lines[lines.index(header) + 1:end + 2]]
    assert round(sum(shares[:-2]), 1) == shares[-2] and round(shares[-2] + shares[-1], 1) == 100.0


def test_owners_of_memory_are_told(demo):
    printed = mxprof(demo, "memory")
    assert printed in demo.out and "lenet:dense0" in printed


def test_files_are_left_and_named(demo):
    folder = demo.directory / "out"
    assert sorted(path.name for path in folder.iterdir()) == [
        "profile.html", "profile.json", "profile.mxp", "profile.txt"]
    text = (folder / "profile.txt").read_text(encoding="utf-8")
    for part in ("\nMXNET_C_API\n====", "\nall layers ", "\nconv1/_backward_Convolution "):
        assert part in text
    for name in ("profile.json", "profile.mxp", "profile.txt", "profile.html"):
        assert f"out/{name}" in demo.out
    assert demo.out.splitlines()[-1].endswith("out/profile.html")
    printed = mxprof(demo, "report", "--layout", "mxnet")
    assert re.search(rf"^sgd_mom_update +{8 * STEPS} ", printed, re.MULTILINE)
    assert re.search(r"lost +nothing", printed)


def test_the_page_shows_the_verdict_that_was_printed(demo):
    head = page_reader.read(demo.directory / "out/profile.html").head
    explained = subprocess.run([BUILD / "mxprof", "explain", "--json", "--step", f"{WARM_UP + 1}:",
                                "out/profile.mxp"], check=False, stdout=subprocess.PIPE, text=True, cwd=demo.directory)
    assert head["explain"] == json.loads(explained.stdout)
    assert head["report"]["chosen_steps"] == sum(step[10] & 1 for step in head["steps"]) == STEPS - WARM_UP
    assert head["title"].startswith("lenet:")
    for cause in head["told"]:
        assert cause["title"].split(", ")[0] in demo.out


def test_steps_are_spans_on_a_row(demo):
    items = [item for item in demo.trace("out/profile.json") if item["name"] == "step"]
    begins, ends = ([item["ts"] for item in items if item["ph"] == phase] for phase in "be")
    assert len(begins) == len(ends) == STEPS
    assert all(end <= begin for end, begin in zip(ends, begins[1:]))
    table = (demo.directory / "out/profile.txt").read_text(encoding="utf-8")
    assert re.search(rf"^training,frame\n=+\n.*\n.*\nstep +{STEPS} ", table, re.MULTILINE)


def test_an_interrupted_training_leaves_a_complete_trace(tmp_path):
    data = write_digits(tmp_path / "mnist", 640)
    with running_python([PROGRAM, "out", "--epochs", "100", "--steps", "1000", "--data", data],
                        tmp_path, PYTHONUNBUFFERED="1") as program:
        while not program.stdout.readline().startswith("epoch 1"):
            assert program.poll() is None
        for _ in range(5):  # one that arrives while Python frees an object is ignored there
            program.send_signal(signal.SIGINT)
            try:
                program.wait(10)
                break
            except subprocess.TimeoutExpired:
                pass
        errors = program.communicate(timeout=10)[1]
    assert program.returncode != 0 and "KeyboardInterrupt" in errors
    items = json.loads((tmp_path / "out/profile.json").read_text(encoding="utf-8"))["traceEvents"]
    assert sum(item["name"] == "sgd_mom_update" for item in items) >= 8 * 10


def test_a_terminal_gets_a_progress_bar(tmp_path):
    data = write_digits(tmp_path / "mnist", 64 * BATCHES)
    ours, terminal = pty.openpty()
    program = subprocess.Popen([sys.executable, PROGRAM, "out", "--epochs", "1", "--steps", "6",
                                "--data", data], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=terminal,
                               env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # how a terminal ends on Linux
        pass
    os.close(ours)
    assert program.wait(60) == 0
    bars = re.findall(r"epoch 1 \[(#*)(\.*)\] (\d+)/12  loss \d", shown.decode())
    assert [int(step) for *_, step in bars] == list(range(1, BATCHES + 1))
    assert bars[5][:2] == ("#" * 15, "." * 15)


@pytest.mark.parametrize("arguments,text", [
    (["--epochs", "0"], "at least one epoch"), (["--steps", "5"], "more than 5 steps"),
    (["--data", "nowhere"], "nowhere: no MNIST files there; put train-images-idx3-ubyte")])
def test_wrong_calls(tmp_path, arguments, text):
    done = run_file([PROGRAM, *arguments], tmp_path, 60)
    assert done.code != 0 and text in done.err


def test_digits_are_drawn_where_there_are_none(tmp_path):
    (tmp_path / "home/datasets/mnist").mkdir(parents=True)
    done = run_file(["-c", f"""
import pathlib, sys
sys.path.insert(0, {str(SOURCE / 'examples/python')!r})
import train_lenet
train_lenet.digits.make = lambda count, seed, make=train_lenet.digits.make: make(count // 100, seed)
for _ in range(2):
    folder, what = train_lenet.find_mnist(pathlib.Path('.'))
    print(folder, len(train_lenet.loader(folder, True)), what)
"""], tmp_path, 60, MXNET_HOME=str(tmp_path / "home"))
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()
    assert first == second and first.startswith("mnist 2 drawn digits in mnist; to use MNIST's, put")
