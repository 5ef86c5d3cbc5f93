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

PROGRAM = str(SOURCE / "examples/python/train_lenet.py")  # with lenet_report.py
sys.path.insert(0, str(SOURCE / "examples/python"))
import lenet_report  # noqa: E402
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


def rows(text, heading):
    lines = text[text.index(heading):].split("\n\n")[0].splitlines()[1:]
    return [line.split() for line in lines]


def test_layers_are_told_with_their_phases(demo):
    found = {row[0]: list(map(float, row[1:4])) for row in rows(demo.out, "Where the time of a step")[1:-1]}
    assert set(found) == LAYERS
    items = demo.trace("out/profile.json")
    marks = [item for item in items if item.get("cat") == "step"]
    assert len(marks) == STEPS and f"mean of {STEPS - WARM_UP} steps" in demo.out
    begin = sorted(item["ts"] for item in marks)[WARM_UP]
    for name, scope, phase, column in (("Convolution", "lenet:conv1:", "forward", 0),
                                       ("_backward_Convolution", "lenet:conv1:", "backward", 1),
                                       ("sgd_mom_update", "lenet:conv1:", "update", 2)):
        spans = [item for item in items if item["name"] == name and item["args"]["scope"] == scope
                 and item["args"]["phase"] == phase and lenet_report.pushed(item) >= begin]
        assert len(spans) == (2 if column == 2 else 1) * (STEPS - WARM_UP)
        mean = sum(item["dur"] for item in spans) / 1000 / (STEPS - WARM_UP)
        assert 0 < mean <= found["conv1"][column] + 0.0006
    assert all(found[layer][2] > 0 for layer in ("conv0", "conv1", "dense0", "dense1"))
    assert found["pool0"][2] == 0 < found["pool0"][1]


def test_the_biggest_owners_of_memory_are_told(demo):
    owners = rows(demo.out, "The three biggest owners")
    scopes = {f"lenet:{layer}" for layer in LAYERS} | {"resource"}
    assert len(owners) == 3 and all(owner.removesuffix(":relu0") in scopes for owner, _ in owners)
    sizes = [float(size) for _, size in owners]
    assert sizes == sorted(sizes, reverse=True)
    # dense0 keeps weight, gradient and momentum of 512 x 800, and the output.
    assert float(dict(owners)["lenet:dense0"]) >= 3 * 512 * 800 * 4 / 1000
    report = json.loads(subprocess.run(
        [BUILD / "mxprof", "report", "--layout", "mxnet", "--by", "scope", "--json", demo.directory / "out/profile.mxp"],
        check=True, stdout=subprocess.PIPE, text=True).stdout)["Memory"]["Device Storage"]
    for owner, size in owners:
        assert report[f"{owner}:"]["Max"] == pytest.approx(float(size), abs=0.06)


def test_files_are_left_and_named(demo):
    folder = demo.directory / "out"
    assert sorted(path.name for path in folder.iterdir()) == ["profile.json", "profile.mxp", "profile.txt"]
    text = (folder / "profile.txt").read_text(encoding="utf-8")
    for part in ("\nMXNET_C_API\n====", "Where the time of a step goes", "The three biggest owners"):
        assert part in text
    for name in ("profile.json", "profile.mxp", "profile.txt"):
        assert f"out/{name}" in demo.out
    printed = subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", folder / "profile.mxp"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    assert re.search(rf"^sgd_mom_update +{8 * STEPS} ", printed, re.MULTILINE)
    assert re.search(r"lost +nothing", printed)


def test_steps_are_spans_on_a_row(demo):
    items = [item for item in demo.trace("out/profile.json") if item["name"] == "step"]
    begins, ends = ([item["ts"] for item in items if item["ph"] == phase] for phase in "be")
    assert len(begins) == len(ends) == STEPS
    assert all(end <= begin for end, begin in zip(ends, begins[1:]))
    assert re.search(rf"^training,frame\n=+\n.*\n.*\nstep +{STEPS} ", demo.out, re.MULTILINE)


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
