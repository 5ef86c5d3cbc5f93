# SPDX-License-Identifier: Apache-2.0
"""Trains LeNet on drawn digits with several processes, profiles all of them, and makes one profile of theirs.

    python train_distributed.py [DIRECTORY] [--workers N] [--servers N] [--steps N] [--mpi]
    mpirun -n 2 python train_distributed.py DIRECTORY --join

The first starts a scheduler, the servers and the workers on this machine, as MXNet's starters do, or with --mpi by
mxnet-launch; without servers each worker holds its part of the weights. The second is what a starter runs: a
worker, or a server, by the variables it finds.
Leaves DIRECTORY/worker0.mxp, rank0_server.mxp and so on, and profile.mxp, all of them on one clock.
"""
import argparse
import os
import pathlib
import shutil
import socket
import subprocess
import sys

BATCH = 64  # of all workers together


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", nargs="?", default=".", type=pathlib.Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--mpi", action="store_true", help="start them by mpirun")
    parser.add_argument("--join", action="store_true", help="be one process of a job that was started already")
    return parser.parse_args()


# ---- one process -----------------------------------------------------------------------------------
def make_network(mx, nn):
    net = nn.HybridSequential(prefix="lenet_")
    net.add(nn.Conv2D(20, 5, activation="relu"), nn.MaxPool2D(2, 2), nn.Conv2D(50, 5, activation="relu"),
            nn.MaxPool2D(2, 2), nn.Flatten(), nn.Dense(512, activation="relu"), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    return net


def configure(profiler, directory, store):
    """Worker 0's call configures the servers; each worker configures itself."""
    profiler.set_config(filename=str(directory / "server.json"), native_filename=str(directory / "server.mxp"),
                        store="file", profile_process="server")
    profiler.set_config(filename=str(directory / f"worker{store.rank}.json"),
                        native_filename=str(directory / f"worker{store.rank}.mxp"), store="file")


def train(directory, steps):
    import mxnet as mx  # a server's or scheduler's import ends with the job
    from mxnet import autograd, gluon, profiler
    from mxnet.gluon.data.vision import digits

    store = mx.kv.create("dist_sync")
    own = BATCH // store.num_workers
    images, labels = digits.make(4096, 1)
    images, labels = images.reshape(-1, 1, 28, 28).astype("float32") / 255, labels.astype("float32")
    net, loss_function = make_network(mx, gluon.nn), gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9}, kvstore=store)
    configure(profiler, directory, store)
    for process in ("server", "worker"):
        profiler.set_state("run", profile_process=process)
    for step in range(steps):
        profiler.step()
        begin = (step * BATCH + store.rank * own) % (len(labels) - own)
        data, label = mx.nd.array(images[begin:begin + own]), mx.nd.array(labels[begin:begin + own])
        with autograd.record():
            loss = loss_function(net(data), label)
        loss.backward()
        trainer.step(BATCH)  # the global batch: gradients are summed over workers
        if step % 20 == 0 or step == steps - 1:
            print(f"worker {store.rank} of {store.num_workers}, step {step}: loss {loss.mean().asscalar():.3f}", flush=True)
    profiler.step_end()
    store.barrier()
    for process in ("worker", "server"):
        profiler.set_state("stop", profile_process=process)
        profiler.dump(profile_process=process)


# ---- the whole job ---------------------------------------------------------------------------------
def start_by_mpi(command, workers, servers):
    return [subprocess.call([sys.executable, "-m", "mxnet.launch", "-n", str(workers), "-s", str(servers),
                             "--allow-run-as-root", "--", *command])]


def start(command, workers, servers):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    shared = dict(os.environ, DMLC_PS_ROOT_URI="127.0.0.1", DMLC_PS_ROOT_PORT=str(port),
                  DMLC_NUM_WORKER=str(workers), DMLC_NUM_SERVER=str(servers))
    processes = [subprocess.Popen(command, env=dict(shared, DMLC_ROLE=role))
                 for role, count in (("scheduler", 1), ("server", servers), ("worker", workers)) for _ in range(count)]
    return [process.wait() for process in processes]


def explain(directory):
    """One profile of all, and what it says."""
    mxprof = pathlib.Path(os.environ.get("MXNET_LIBRARY_PATH", "")) / "mxprof"
    command = str(mxprof) if mxprof.is_file() else shutil.which("mxprof")
    if command is None:
        print("the mxprof command is not on the path: the profiles are in", directory)
        return
    files = sorted(str(path) for path in directory.glob("*.mxp") if path.name != "profile.mxp")
    subprocess.run([command, "merge", *files, "-o", str(directory / "profile.mxp")], check=True)
    subprocess.run([command, "explain", str(directory / "profile.mxp")], check=False)


def main():
    chosen = options()
    chosen.directory.mkdir(parents=True, exist_ok=True)
    directory = chosen.directory.resolve()
    if chosen.join:
        train(directory, chosen.steps)
        return 0
    for old in directory.glob("*.mxp"):
        old.unlink()
    command = [sys.executable, __file__, str(directory), "--join", "--steps", str(chosen.steps)]
    codes = (start_by_mpi if chosen.mpi else start)(command, chosen.workers, chosen.servers)
    if any(codes):
        return next(code for code in codes if code)
    explain(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
