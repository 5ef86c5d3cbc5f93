# SPDX-License-Identifier: Apache-2.0
"""Libraries as distributions have them, unchanged: what is recorded is what collectors count that share nothing with
ours."""
import os
import pathlib
import subprocess

import pytest

from recorded import COLLECTOR, Recorded
from test_nvtx import PACKAGE, PYTHON, has_package

HERE = pathlib.Path(__file__).parent
needs_tbb = pytest.mark.skipif(not pathlib.Path("/usr/include/tbb/parallel_for.h").exists() and
                               not pathlib.Path("/usr/include/oneapi/tbb/parallel_for.h").exists(),
                               reason="no oneTBB: scripts/setup peers installs libtbb-dev")
needs_dnnl = pytest.mark.skipif(not pathlib.Path("/usr/include/oneapi/dnnl/dnnl.h").exists(),
                                reason="no oneDNN: the Debian package is libdnnl-dev")


def build(program, compiler, *arguments):
    made = subprocess.run([compiler, *arguments, "-o", program, "-pthread", "-ldl"], check=False,
                          capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return program


def shared(source, folder):
    return build(folder / "count.so", "cc", "-shared", "-fPIC", HERE / source)


def counted(arguments, folder, variable, source, **more):
    """What the independent collector of this file counts, by (domain, name)."""
    kind = source.partition("_")[0].upper() + "_COUNT"
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}
    subprocess.run(arguments, env={**clean, variable: str(shared(source, folder)), kind: str(folder / "counts"), **more},
                   cwd=folder, check=True, capture_output=True, timeout=60)
    if not (folder / "counts").exists():
        return {}  # it was never loaded
    rows = (line.split("\t") for line in (folder / "counts").read_text().splitlines())
    return {(domain, name): int(count) for count, domain, name in rows}


def spans(recorded, *left_out):
    return {key: count for key, count in recorded.counts().items() if key[0] not in ("sync", *left_out)}


@needs_tbb
@pytest.mark.parametrize("told", ["0", "2"])
def test_tbb_as_it_is_and_where_the_program_was_compiled_to_tell_more(tmp_path, told):
    program = build(tmp_path / "tbb_program", "c++", "-std=c++17", f"-DTBB_USE_PROFILING_TOOLS={told}",
                    HERE / "tbb_program.cpp", "-ltbb")
    expected = counted([program], tmp_path, "INTEL_LIBITTNOTIFY64", "itt_count.c")
    (tmp_path / "run").mkdir()
    recorded = Recorded([program], "INTEL_LIBITTNOTIFY64", tmp_path / "run", prints="99090\n")
    assert spans(recorded) == expected
    assert sum(expected.values()) >= 20 if told == "2" else True


@needs_dnnl
@pytest.mark.parametrize("level, tasks", [("0", 0), ("1", 10), ("2", 20)])
def test_onednns_levels_on_two_threads(tmp_path, level, tasks):
    program = build(tmp_path / "dnnl_marks_program", "cc", HERE / "dnnl_marks_program.c", "-ldnnl")
    settings = {"DNNL_ITT_TASK_LEVEL": level, "ONEDNN_ITT_TASK_LEVEL": level, "OMP_NUM_THREADS": "2"}
    expected = counted([program], tmp_path, "INTEL_LIBITTNOTIFY64", "itt_count.c", **settings)
    assert sum(expected.values()) == tasks
    (tmp_path / "run").mkdir()
    if tasks == 0:
        with pytest.raises(ValueError):  # no file: nothing was told
            Recorded([program], "INTEL_LIBITTNOTIFY64", tmp_path / "run", **settings)
        return
    recorded = Recorded([program], "INTEL_LIBITTNOTIFY64", tmp_path / "run", **settings)
    assert spans(recorded) == expected and recorded.foreign() == 0


@pytest.mark.skipif(not has_package(), reason="no package nvtx: scripts/setup peers installs it")
def test_nvidias_python_package_against_a_counting_injection(tmp_path):
    expected = counted([PYTHON, "-c", PACKAGE], tmp_path, "NVTX_INJECTION64_PATH", "nvtx_count.c")
    (tmp_path / "run").mkdir()
    recorded = Recorded([PYTHON, "-c", PACKAGE], "NVTX_INJECTION64_PATH", tmp_path / "run")
    assert spans(recorded) == expected and sum(expected.values()) == 22


@needs_tbb
@needs_dnnl
def test_all_of_them_in_one_process(tmp_path):
    part = build(tmp_path / "part.o", "cc", "-c", "-DWITH_MORE", "-Wno-unused", HERE / "dnnl_marks_program.c")
    program = build(tmp_path / "all", "c++", "-std=c++17", "-DWITH_MORE", "-DTBB_USE_PROFILING_TOOLS=2",
                    HERE / "tbb_program.cpp", part, "-ltbb", "-ldnnl")
    settings = {"OMP_NUM_THREADS": "2", "DNNL_ITT_TASK_LEVEL": "1", "NVTX_INJECTION64_PATH": str(COLLECTOR)}
    expected = counted([program], tmp_path, "INTEL_LIBITTNOTIFY64", "itt_count.c", **settings)
    (tmp_path / "run").mkdir()
    recorded = Recorded([program], "INTEL_LIBITTNOTIFY64", tmp_path / "run", prints="99090\n", **settings)
    assert spans(recorded, "NVTX") == expected
    assert recorded.counts()[("NVTX", "range")] == 30
    assert {domain for domain, _ in expected} >= {"dnnl::primitive::execute"}
