# SPDX-License-Identifier: Apache-2.0
"""mxprof run --dnnl: oneDNN's own lines are spans below operators, and the program's output is what it is without."""
import csv
import json
import os
import pathlib
import pty
import re
import subprocess
import sys

import pytest

from recorded import BUILD, mxprof

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
HERE = pathlib.Path(__file__).parent


def run(arguments, folder, *options, **more):
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith(("MXPROF_", "MXNET_", "DNNL_", "ONEDNN_", "INTEL_"))}
    return subprocess.run([BUILD / "mxprof", "run", "-q", "-o", folder / "run", *options, *arguments], cwd=folder,
                          timeout=60, env=dict(clean, **more), check=False, capture_output=True, text=True)


@pytest.fixture(name="program", scope="module")
def dnnl_program(tmp_path_factory):
    program = tmp_path_factory.mktemp("dnnl") / "dnnl_program"
    made = subprocess.run(["cc", "-O2", "-D_FORTIFY_SOURCE=2", f"-I{SOURCE}/include", HERE / "dnnl_program.c", "-o", program,
                           f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lmxprof", "-ldnnl"], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip("no oneDNN 2: scripts/setup build installs libdnnl-dev")
    return program


def spans_of(folder):
    events = json.loads(mxprof("convert", folder / "run", "-o", "-"))["traceEvents"]
    return [event for event in events if event["ph"] == "X"]


def test_primitives_are_below_operators_and_the_output_is_the_programs(program, tmp_path):
    alone = subprocess.run([program], capture_output=True, text=True, check=True)
    result = run([program], tmp_path, "--dnnl")
    assert (result.returncode, result.stdout, result.stderr) == (0, alone.stdout, "")
    spans = spans_of(tmp_path)
    products = [span for span in spans if span["name"] == "product"]
    primitives = [span for span in spans if span["cat"] == "oneDNN"]
    assert len(products) == len(primitives) == 10
    for around, inside in zip(products, primitives):
        assert around["tid"] == inside["tid"] and inside["name"] == "matmul"
        assert around["ts"] <= inside["ts"] and inside["ts"] + inside["dur"] <= around["ts"] + around["dur"]
        assert re.fullmatch("cpu,matmul,.*,64x64:64x64:64x64", inside["args"]["problem"])


def test_a_terminal_stays_one(program, tmp_path):
    above, below = pty.openpty()
    subprocess.run([BUILD / "mxprof", "run", "-q", "-o", tmp_path / "run", "--dnnl", program], stdout=below, check=True,
                   timeout=60)
    os.close(below)
    text = b""
    try:
        while piece := os.read(above, 65536):
            text += piece
    except OSError:
        pass
    os.close(above)
    assert text.startswith(b"begins, terminal\r\n") and b"onednn_verbose," not in text


def side_by_side(result, folder):
    """Counts and times by primitive: of the library's own log, and of our table."""
    log, table = {}, {}
    for line in result.stdout.splitlines():
        if re.match("(onednn|dnnl)_verbose,exec,", line):
            primitive, ms = line.split(",")[3], float(line.rpartition(",")[2])
            count, total = log.get(primitive, (0, 0))
            log[primitive] = (count + 1, total + ms)
    for row in csv.DictReader(mxprof("convert", folder / "run", "-o", "-", "--to", "csv").splitlines()):
        if row["section"] == "oneDNN":
            table[row["name"]] = (int(row["count"]), float(row["total"]))
    return log, table


def test_our_table_and_the_librarys_own_log_of_one_run_say_the_same(program, tmp_path):
    """Who has set the variable himself sees the lines, too."""
    result = run([program], tmp_path, "--dnnl", ONEDNN_VERBOSE="1")
    log, table = side_by_side(result, tmp_path)
    assert log.keys() == table.keys() == {"matmul"} and log["matmul"][0] == table["matmul"][0] == 10
    assert table["matmul"][1] == pytest.approx(log["matmul"][1], rel=0.01, abs=0.01)


NETWORK = """
import mxnet as mx
from mxnet import gluon, autograd
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(8, 3, activation="relu"), gluon.nn.MaxPool2D(2), gluon.nn.Dense(10))
net.initialize()
for _ in range(5):
    with autograd.record():
        loss = net(mx.nd.ones((4, 3, 16, 16))).sum()
    loss.backward()
mx.nd.waitall()
"""


def test_the_recipe_for_a_network_operators_and_primitives_of_one_run(tmp_path):
    if not (BUILD / "libmxnet.so").exists():
        pytest.skip("no libmxnet.so in this build")
    result = run([sys.executable, "-c", NETWORK], tmp_path, "--dnnl", DNNL_VERBOSE="1", PYTHONPATH=str(SOURCE / "python"),
                 MXNET_LIBRARY_PATH=str(BUILD / "libmxnet.so"))
    if result.returncode == 0 and "verbose,exec" not in result.stdout:
        pytest.skip("this build has no oneDNN")
    assert (result.returncode, result.stderr) == (0, "")
    log, table = side_by_side(result, tmp_path)
    assert log.keys() == table.keys() and "convolution" in log
    for primitive, (count, total) in log.items():
        assert table[primitive][0] == count
        assert table[primitive][1] == pytest.approx(total, rel=0.01, abs=0.02)
    spans = spans_of(tmp_path)
    operators = [span for span in spans if span["name"] == "Convolution"]
    for span in spans:
        if span["cat"] == "oneDNN" and span["name"] == "convolution" and ",forward_" in span["args"]["problem"]:
            assert any(operator["tid"] == span["tid"] and operator["ts"] <= span["ts"] and
                       span["ts"] + span["dur"] <= operator["ts"] + operator["dur"] for operator in operators)


LINES = r"""
#include <stdio.h>
#include <unistd.h>
int main(int count, char **lines)
{
    for (int i = 1; i < count; i++) {
        if (printf("%s\n", lines[i]) < 0) return 1;
        fflush(stdout);
        usleep(30000);
    }
    return 0;
}
"""

FIELDS = "cpu,convolution,jit:avx2,forward_inference,src_f32::blocked:abcd:f0,,alg:convolution_direct,mb1_ic3oc8"


@pytest.mark.parametrize("line, found", [
    (f"mkldnn_verbose,exec,{FIELDS},0.5", ("oneDNN", 500)), (f"dnnl_verbose,exec,{FIELDS},20.7539", ("oneDNN", 20753.9)),
    (f"onednn_verbose,1669372800000.123456,exec,{FIELDS},1e-3", ("oneDNN", 1)),
    (f"onednn_verbose,primitive,exec,{FIELDS},2", ("oneDNN", 2000)),
    (f"onednn_verbose,v1,1669372800000.123456,primitive,exec,{FIELDS},2", ("oneDNN", 2000)),
    (f"onednn_verbose,v1,primitive,exec:external,{FIELDS},2", ("oneDNN", 2000)),
    (f"onednn_verbose,create:cache_miss,{FIELDS},3", ("oneDNN create", 3000)),
    ("onednn_verbose,info,cpu,runtime:OpenMP,nthr:2", None),
])
def test_lines_of_each_version_are_understood(line, found, tmp_path):
    (tmp_path / "lines.c").write_text(LINES)
    subprocess.run(["cc", "lines.c", "-o", "lines"], cwd=tmp_path, check=True)
    # A process's recording begins with its first record, and nothing begins before that.
    first = f"onednn_verbose,exec,{FIELDS},0"
    result = run([tmp_path / "lines", "before", first, line, "behind"], tmp_path, "--dnnl")
    assert (result.returncode, result.stdout, result.stderr) == (0, "before\nbehind\n", "")
    if found is not None:
        _, span = sorted(spans_of(tmp_path), key=lambda span: span["ts"] + span["dur"])
        assert (span["cat"], span["name"]) == (found[0], "convolution") and span["args"]["problem"] == FIELDS
        assert span["dur"] == pytest.approx(found[1], rel=0.05, abs=0.05)


@pytest.mark.parametrize("line", [
    "onednn_verbose", "onednn_verbose,", "onednn_verbose,exec,cpu,convolution", f"onednn_verbose,exec,{FIELDS},fast",
    f"onednn_verbose,exec,{FIELDS},-1", f"onednn_verbose,exec,{FIELDS},nan", "onednn_verbose,v1,common,error,no memory",
    "onednn_verbose,v1,primitive,create:dispatch,convolution,cpu,unsupported,file.cpp:12", "my onednn_verbose,exec"])
def test_what_is_no_such_line_is_the_programs(line, tmp_path):
    (tmp_path / "lines.c").write_text(LINES)
    subprocess.run(["cc", "lines.c", "-o", "lines"], cwd=tmp_path, check=True)
    result = run([tmp_path / "lines", line, "x" * 9000], tmp_path, "--dnnl")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{line}\n{'x' * 9000}\n", "")
    assert not (tmp_path / "run").exists()


def test_tasks_that_tell_their_problem_are_not_told_twice(tmp_path):
    """From 3.12 on ITT tasks have it."""
    (tmp_path / "lines.c").write_text(LINES)
    subprocess.run(["cc", "lines.c", "-o", "lines"], cwd=tmp_path, check=True)
    lines = ["onednn_verbose,v1,info,oneDNN v3.12.0 (commit N/A)", f"onednn_verbose,v1,primitive,exec,{FIELDS},2"]
    assert run([tmp_path / "lines", *lines], tmp_path, "--dnnl").stdout == ""
    assert not (tmp_path / "run").exists()
    assert run([tmp_path / "lines", *lines], tmp_path, "--dnnl", "--marks", "-itt,-torch").stdout == ""
    assert len(spans_of(tmp_path)) == 1
