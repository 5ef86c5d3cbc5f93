# SPDX-License-Identifier: Apache-2.0
"""Loading the library, the two call paths, switches, the end of the process."""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

import mxnet as mx
from python_program import BUILD, SOURCE, run_python, running_python


def test_features():
    features = mx.runtime.Features()
    assert not features.is_enabled("CUDA") and features["CUDA"].name == "CUDA"
    with pytest.raises(RuntimeError, match="no feature 'X'; the features are: CUDA"):
        features.is_enabled("X")
    assert mx.runtime.library_path().endswith("libmxnet.so")
    assert mx.__version__ == "2.0.0"


def extension_is_built():
    return any((BUILD / "python").glob("_core*"))


@pytest.mark.parametrize("core", ["extension", "ctypes"])
def test_call_path_is_chosen_and_shown(tmp_path, core):
    if core == "extension" and not extension_is_built():
        pytest.skip("the extension is not built")
    done = run_python("import mxnet as mx; print(mx.runtime.core_name())", tmp_path,
                      MXNET_PYTHON_CORE=core)
    assert (done.out, done.err) == (core + "\n", "")


def test_wrong_choices_are_refused(tmp_path):
    done = run_python("import mxnet", tmp_path, MXNET_PYTHON_CORE="fast")
    assert "MXNET_PYTHON_CORE is 'fast'; valid are: extension, ctypes" in done.err
    done = run_python("import mxnet", tmp_path, MXNET_LIBRARY_PATH="/nowhere/libmxnet.so")
    assert "libmxnet.so was not found; looked for /nowhere/libmxnet.so" in done.err


def test_a_second_library_is_refused(tmp_path):
    for name in ("libmxnet.so", "libmxprof.so.0"):
        shutil.copyfile((BUILD / name).resolve(), tmp_path / name)
    done = run_python("import ctypes; ctypes.CDLL('./libmxnet.so'); import mxnet", tmp_path)
    assert done.code != 0 and "another mxnet is loaded in this process already" in done.err


PROGRAM = """
import mxnet as mx, numpy as onp
from mxnet import profiler
profiler.set_config(profile_all=True, continuous_dump=False, filename='trace.json')
profiler.set_state('run')
task = profiler.Domain('d').new_task('t')
a = mx.nd.array(onp.ones((2, 3)))
with task:
    b = mx.nd.sum(a + 1, axis=0); a += b; c = a[0] * a[1]; del b
x = mx.np.ones((2,)); x.attach_grad()
with mx.autograd.record():
    y = (2 * x).sum()
y.backward()
print(c.asnumpy(), x.grad.asnumpy())
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
"""


def test_call_paths_record_the_same_calls(tmp_path):
    if not extension_is_built():
        pytest.skip("the extension is not built")
    found = {}
    for core in ("extension", "ctypes"):
        (tmp_path / core).mkdir()
        done = run_python(PROGRAM, tmp_path / core, MXNET_PYTHON_CORE=core)
        assert done.code == 0, done.err
        items = [item for item in done.trace() if item["ph"] == "X"
                 and item["cat"] == "MXNET_C_API"]
        found[core] = [item["name"] for item in sorted(items, key=lambda item: item["ts"])]
    assert found["extension"] == found["ctypes"]
    assert {"MXImperativeInvoke", "MXNDArrayCreate", "MXAutogradBackwardEx",
            "MXNDArrayFree"} <= set(found["ctypes"])


def test_bulk_size_is_restored():
    before = mx.engine.set_bulk_size(7)
    with mx.engine.bulk(3):
        assert mx.engine.set_bulk_size(3) == 3
    assert mx.engine.set_bulk_size(before) == 7


def test_switches_of_numpys_interface(tmp_path):
    done = run_python("""
import mxnet as mx
util = mx.util
print(util.is_np_array(), util.is_np_shape())
mx.npx.set_np()
print(util.is_np_array(), util.is_np_shape(), mx.np.zeros((1,)).dtype)
mx.npx.set_np(dtype=True)
print(mx.np.zeros((1,)).dtype)
mx.npx.reset_np()
print(util.is_np_array(), mx.np.zeros(()).shape, mx.np.array([1., 2])[1].shape)
@mx.util.use_np
def inside():
    return util.is_np_array() and util.is_np_shape()
print(inside(), util.is_np_array())
try:
    util.set_np(shape=False)
except ValueError as error:
    print(error)
""", tmp_path)
    assert done.out.splitlines() == [
        "False False", "True True float32", "float64", "False () ()", "True False",
        "NumPy's arrays need NumPy's shapes: set_np(array=True) goes with shape=True only"]


def test_work_pending_at_the_end_is_finished(tmp_path):
    done = run_python("""
import mxnet as mx
mx.profiler.set_config(profile_all=True, continuous_dump=False, filename='trace.json')
mx.profiler.set_state('run')
a = mx.nd.ones((200, 200))
for _ in range(20):
    a = mx.nd.dot(a, a) * 0
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert sum(item["name"] == "dot" for item in done.trace() if item["ph"] == "X") == 20


def test_handles_can_be_given_to_c():
    array, out = mx.nd.ones((3,)), ctypes.c_int()
    mx.base.check_call(mx.base._LIB.MXNDArrayGetDType(array.handle, ctypes.byref(out)))
    assert out.value == 0


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)


@pytest.fixture(name="site", scope="module")
def installed_wheel(tmp_path_factory):
    """The folder into which pip has installed the package with the library of this build. Nothing is left beside the
    sources, which are gone afterwards."""
    place = tmp_path_factory.mktemp("wheel")
    for folder in ("python", "include"):
        shutil.copytree(SOURCE / folder, place / "tree" / folder, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    before = files_of(place / "tree/python")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
         "--no-build-isolation", "--target", str(place / "site"), str(place / "tree/python")],
        env={**os.environ, "MXNET_LIBRARY_PATH": str(BUILD)}, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    assert files_of(place / "tree/python") == before
    stubs = sorted(path.relative_to(place / "tree/python/mxnet") for path in (place / "tree/python/mxnet").rglob("*.pyi"))
    assert len(stubs) > 10 and all((place / "site/mxprof/runtime/mxnet" / path).is_file() for path in stubs)
    shutil.rmtree(place / "tree")
    return place / "site"


AS_INSTALLED = "import site, sys; site.addsitedir(sys.argv[1])\n"  # as Python treats the folder of its packages


def run_installed(site, text, *arguments, **variables):
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "MXNET_LIBRARY_PATH")}
    return subprocess.run([sys.executable, "-c", AS_INSTALLED + text, site, *arguments], check=False, capture_output=True,
                          text=True, env={**environment, **variables})


SAY = "import mxnet as mx; print(mx.runtime.core_name(), (mx.nd.ones((1,)) + 1).asscalar(), mx.__file__, mx.libinfo.find_lib_path())"


def test_an_installed_wheel_works_alone(site):
    """Nothing of the source tree is used, and the library is found without the variable."""
    for library in (str(BUILD), ""):
        done = run_installed(site, SAY, MXNET_PYTHON_CORE="extension", MXNET_LIBRARY_PATH=library)
        assert done.stdout.startswith(f"extension 2.0 {site}/mxprof/runtime/mxnet/"), done.stderr
        assert str(BUILD.resolve()) in done.stdout
    command = subprocess.run([site / "bin/mxprof", "--version"], check=False, capture_output=True, text=True)
    assert command.stdout.startswith("mxprof ") and command.returncode == 0, command.stderr


def test_an_installed_wheel_shares_no_file_with_apaches(site):
    assert {path.name.split("-")[0] for path in site.iterdir()} == {"bin", "mxprof", "mxprof.pth"}
    assert sorted(path.name for path in (site / "bin").iterdir()) == ["mxnet-launch", "mxprof"]


def test_beside_an_installed_wheel_apaches_mxnet_is_imported_until_ours_is_asked_for(site, tmp_path):
    both = tmp_path / "both"
    shutil.copytree(site, both, symlinks=True)
    told = run_installed(both, "import runpy; runpy.run_module('mxprof')")
    assert (told.returncode, told.stdout) == (0, f"import mxnet: that of mxprof, {both}/mxprof/runtime/mxnet\n")
    (both / "mxnet").mkdir()
    (both / "mxnet/__init__.py").write_text("__version__ = '1.9.1'\n", encoding="utf-8")
    assert run_installed(both, "import mxnet; print(mxnet.__version__)").stdout == "1.9.1\n"
    told = run_installed(both, "import runpy; runpy.run_module('mxprof')")
    assert told.returncode == 1 and told.stdout == (
        f"import mxnet: that of another distribution, {both}/mxnet\nwith PYTHONPATH={both}/mxprof/runtime it is that of mxprof\n")
    done = run_installed(both, SAY, PYTHONPATH=f"{both}/mxprof/runtime")
    assert f" {both}/mxprof/runtime/mxnet/" in done.stdout, done.stderr


def test_the_installed_command_is_the_package_s_own_or_says_what_is_missing(tmp_path):
    (tmp_path / "site/mxprof/runtime/mxnet").mkdir(parents=True)
    (tmp_path / "site/bin").mkdir()
    script = shutil.copy(SOURCE / "python/scripts/mxprof", tmp_path / "site/bin")
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-S", script, "info"], env=environment, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 1 and "has no command" in done.stderr and "MXNET_LIBRARY_PATH" in done.stderr
    own = tmp_path / "site/mxprof/runtime/mxnet/mxprof"
    own.write_text("#!/bin/sh\necho own $*\n", encoding="utf-8")
    own.chmod(0o755)
    done = subprocess.run([sys.executable, "-S", script, "info", "a b"], env=environment, check=False,
                          capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "own info a b\n", "")


@pytest.mark.parametrize("tools,text", [
    (["gcc"], "cmake, make or ninja missing"), (["cmake", "ninja"], "a C compiler ("),
    (["gcc", "cmake"], ": make or ninja missing")])
def test_missing_tools_are_told_first_wheel(tmp_path, tools, text):
    """Not after the extension was compiled, and not in the compiler's own words."""
    (tmp_path / "bin").mkdir()
    for tool in tools:
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    for folder in ("python", "include"):
        shutil.copytree(SOURCE / folder, tmp_path / "tree" / folder)
    done = subprocess.run([sys.executable, "setup.py", "build_ext"], cwd=tmp_path / "tree/python",
                          env={"PATH": str(tmp_path / "bin"), "CC": "gcc"}, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 1 and text in done.stdout
    assert done.stdout.splitlines()[-1].endswith("apt-get install cmake gcc ninja-build python3-dev")
    assert not list((tmp_path / "tree").rglob("*.o"))


def test_the_loaders_folders_are_the_last_resort(tmp_path):
    code = ("import ctypes.util, runpy, sys\n"
            "ctypes.util.find_library = lambda name: f'lib{name}.so.of.the.loader'\n"
            f"info = runpy.run_path({str(tmp_path / 'mxnet/libinfo.py')!r})\n"
            "info['_places'].__globals__['_places'] = lambda: []\n"
            "print(info['find_lib_path']())")
    (tmp_path / "mxnet").mkdir()
    shutil.copy(SOURCE / "python/mxnet/libinfo.py", tmp_path / "mxnet")
    assert run_python(code, tmp_path, MXNET_LIBRARY_PATH="").out == "['libmxnet.so.of.the.loader']\n"
    assert run_python(code, tmp_path, MXNET_LIBRARY_PATH="/nowhere").out == ""


def test_an_interrupt_leaves_a_complete_trace(tmp_path):
    """Ctrl-C while the program waits for its operators."""
    with running_python(["-c", """
import mxnet as mx
mx.profiler.set_config(profile_all=True, filename='trace.json', aggregate_stats=True)
mx.profiler.set_state('run')
a = mx.nd.ones((300, 300))
print('running', flush=True)
while True:
    mx.nd.dot(a, a).wait_to_read()
"""], tmp_path) as program:
        assert program.stdout.readline() == "running\n"
        time.sleep(0.2)
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=60)
    assert program.returncode != 0 and "KeyboardInterrupt" in errors
    items = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert any(item["name"] == "dot" for item in items)


@pytest.mark.parametrize("place, name", [
    (mx, "recordio"), (mx, "image"), (mx.gluon, "model_zoo"),
    (mx.gluon.nn, "PixelShuffle2D"), (mx.gluon.loss, "KLDivLoss"), (mx.metric, "F1"),
    (mx.optimizer, "AdaGrad"), (mx.gluon.data.vision, "CIFAR10"), (mx.init, "Bilinear"),
    (mx.gluon.data.vision.transforms, "Resize")])
def test_what_mxnet_has_beyond_this_says_that_it_is_not_there(place, name):
    with pytest.raises(mx.MXNetError, match=rf"mx\..*{name} is not there yet"):
        getattr(place, name)
    assert not hasattr(place, name)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'$"):
        getattr(place, "nonsense")


@pytest.mark.parametrize("place", [mx.nd, mx.np, mx.npx, mx.nd.contrib])
def test_a_missing_operator_says_where_the_others_are(place):
    with pytest.raises(AttributeError, match=r"dir\(mx\..*\) lists what there is"):
        getattr(place, "nonsense")
    assert not hasattr(mx.sym, "nonsense")
