# SPDX-License-Identifier: Apache-2.0
"""Trains LeNet on MNIST and shows where the time and the memory of a step go, as `mxprof report` and
`mxprof memory` tell.

    python train_lenet.py [DIRECTORY] [--epochs N] [--steps N] [--data FOLDER]

Reads MNIST's files where it finds them, or draws digits of its own into DIRECTORY/mnist. From the
building of the network to the end of the first steps everything is recorded; then training goes on
without the profiler. Leaves DIRECTORY/profile.txt, .json and .mxp.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

import mxnet as mx
from mxnet import autograd, gluon, profiler
from mxnet.gluon.data.vision import MNIST, digits, idx, mnist, transforms

BATCH = 64
WARM_UP = 5  # steps that are recorded and not reported: they pay for what only the first ones do


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", nargs="?", default=".", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=30, help="how many of the first to profile")
    parser.add_argument("--data", help="the folder of MNIST's four files")
    chosen = parser.parse_args()
    if chosen.epochs < 1 or chosen.steps <= WARM_UP:
        parser.error(f"at least one epoch, and more than {WARM_UP} steps to profile")
    return chosen


# ---- data ----------------------------------------------------------------------------------------
def find_mnist(directory):
    """A folder with MNIST's files: one of the usual, or one with drawn digits."""
    usual = [mnist.default_root() / "mnist", pathlib.Path("data/mnist"),
             pathlib.Path("/usr/share/mnist")]
    for folder in usual:
        if all(mnist.find_files(str(folder), train) for train in (True, False)):
            return folder, f"MNIST in {folder}"
    folder = directory / "mnist"
    if not all(mnist.find_files(str(folder), train) for train in (True, False)):
        write_digits(folder)
    return folder, (f"drawn digits in {folder}; to use MNIST's, put its four files into "
                    f"{usual[0]}")


def write_digits(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, count, seed in (("train", 12000, 1), ("t10k", 2000, 2)):
        images, labels = digits.make(count, seed)
        idx.write(folder / f"{name}-images-idx3-ubyte", images)
        idx.write(folder / f"{name}-labels-idx1-ubyte", labels)


def loader(folder, train):
    data = MNIST(str(folder), train=train).transform_first(transforms.ToTensor())
    return gluon.data.DataLoader(data, BATCH, shuffle=train)


# ---- training ------------------------------------------------------------------------------------
def make_network():
    net = gluon.nn.HybridSequential(prefix="lenet_")
    net.add(gluon.nn.Conv2D(20, 5, activation="relu"), gluon.nn.MaxPool2D(2, 2),
            gluon.nn.Conv2D(50, 5, activation="relu"), gluon.nn.MaxPool2D(2, 2), gluon.nn.Flatten(),
            gluon.nn.Dense(512, activation="relu"), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier())
    return net


def show_progress(epoch, step, steps, loss):
    if sys.stderr.isatty():
        done = 30 * (step + 1) // steps
        print(f"\repoch {epoch} [{'#' * done}{'.' * (30 - done)}] {step + 1}/{steps}  loss {loss:.3f}",
              end="\r\033[K" if step + 1 == steps else "", file=sys.stderr, flush=True)


def train_epoch(epoch, net, batches, trainer, after_step):
    """One pass over the data: the mean loss and the part that was right on the way."""
    loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
    loss_metric, accuracy = gluon.metric.Loss(), gluon.metric.Accuracy()
    for step, (data, label) in enumerate(batches):
        with autograd.record():
            output = net(data)
            loss = loss_function(output, label)
        loss.backward()
        trainer.step(len(label))
        loss_metric.update(None, loss)
        accuracy.update(label, output)
        after_step()
        show_progress(epoch, step, len(batches), loss_metric.get()[1])
    return loss_metric.get()[1], accuracy.get()[1]


def held_out_accuracy(net, batches):
    accuracy = gluon.metric.Accuracy()
    for data, label in batches:
        accuracy.update(label, net(data))
    return accuracy.get()[1]


class FirstSteps:
    """Marks so many steps, for reports and as spans on a row of the trace; then the profile ends."""

    def __init__(self, steps):
        self.left = steps
        self.frame = profiler.Domain("training").new_frame("step")
        self.begin()

    def begin(self):
        profiler.step()
        self.frame.start()

    def __call__(self):
        """A step has ended."""
        if self.left == 0:
            return
        self.left -= 1
        self.frame.stop()
        if self.left > 0:
            self.begin()
        else:
            profiler.step_end()
            mx.nd.waitall()
            profiler.set_state("stop")


# ---- what is said at the end ---------------------------------------------------------------------
def command():
    """The mxprof command: beside the library, or installed; None if it is neither."""
    beside = pathlib.Path(mx.runtime.library_path()).parent / "mxprof"
    return os.path.relpath(beside) if beside.is_file() else shutil.which("mxprof")


def mxprof(*words):
    if command() is None:
        return f"mxprof {' '.join(words)}   (the command is not here)\n"
    done = subprocess.run([command(), *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode not in (0, 3):  # 3: so few steps cannot tell it, and why is printed
        sys.exit(done.stderr)
    return done.stdout or done.stderr


def verdict(trace):
    """What made the steps slow, and what the first change that is proposed would gain; else the best of some."""
    steps = ["--step", f"{WARM_UP + 1}:"]
    told = mxprof("explain", *steps, trace)
    proposed = [shlex.split(line) for line in told.splitlines() if line.strip().startswith("mxprof whatif ")]
    change = proposed[0][3:] if proposed else []
    return f"{told}\n{mxprof('whatif', *(change or steps), trace)}"


def verdict(trace):
    """What made the steps slow, and what the first change that is proposed would gain; else the best of some."""
    steps = ["--step", f"{WARM_UP + 1}:"]
    told = mxprof("explain", *steps, trace)
    proposed = [shlex.split(line) for line in told.splitlines() if line.strip().startswith("mxprof whatif ")]
    change = proposed[0][3:] if proposed else []
    return f"{told}\n{mxprof('whatif', *(change or steps), trace)}"


def write_page(files):
    """A page that shows it all in a browser; False where the command is missing."""
    return command() is not None and bool(mxprof("view", "--verdict", f"{WARM_UP + 1}:", "-o", files["html"], files["mxp"]))


def show(files, table):
    """Prints where time and memory went, and writes it behind the whole table to profile.txt."""
    told = mxprof("report", "--step", f"{WARM_UP + 1}:", files["mxp"]) + "\n" + mxprof("memory", files["mxp"])
    told += "\n" + verdict(files["mxp"])
    pathlib.Path(files["txt"]).write_text(f"{table}\n{told}", encoding="utf-8")
    print(told)
    print(f"The table of all calls and operators:    {files['txt']}\n"
          f"The trace, for https://ui.perfetto.dev:  {files['json']}\n"
          f"For the mxprof command:                  {files['mxp']}\n"
          f"    {command() or 'mxprof'} report --tree {files['mxp']}")
    if write_page(files):
        print(f"All of it on a page, for a browser:      {files['html']}")


def main():
    chosen = options()
    chosen.directory.mkdir(parents=True, exist_ok=True)
    folder, what = (chosen.data, chosen.data) if chosen.data else find_mnist(chosen.directory)
    print(f"Data: {what}")
    mx.random.seed(1)
    trained, held_out = loader(folder, True), loader(folder, False)
    files = {end: str(chosen.directory / f"profile.{end}") for end in ("json", "mxp", "txt", "html")}
    profiler.set_config(filename=files["json"], native_filename=files["mxp"], aggregate_stats=True,
                        continuous_dump=False)
    profiler.set_state("run")
    after_step = FirstSteps(chosen.steps)
    net = make_network()
    # One update for each parameter, so that the profile has the time of each layer's.
    trainer = gluon.Trainer(net.collect_params(), "sgd",
                            {"learning_rate": 0.05, "momentum": 0.9, "aggregate_num": 1})
    for epoch in range(1, chosen.epochs + 1):
        begin = time.perf_counter()
        loss, accuracy = train_epoch(epoch, net, trained, trainer, after_step)
        print(f"epoch {epoch}: loss {loss:.4f}, {100 * accuracy:.1f} % right; of new pictures "
              f"{100 * held_out_accuracy(net, held_out):.1f} %; {time.perf_counter() - begin:.1f} s",
              flush=True)
    profiler.set_state("stop")
    profiler.dump()
    show(files, profiler.dumps())


if __name__ == "__main__":
    main()
