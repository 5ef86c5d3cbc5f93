# SPDX-License-Identifier: Apache-2.0
"""The profiler on musl: programs of ours record with it, and it reads what they left as the glibc build does. Run by
`make check-musl`, which builds it."""
import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
MUSL = pathlib.Path(os.environ.get("MXPROF_MUSL", SOURCE / "build/musl"))
pytestmark = pytest.mark.skipif(not (MUSL / "mxprof").exists(), reason="make check-musl builds it")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=100,
                          **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def compiled(source, folder, *libraries):
    program = folder / source.stem
    run("musl-gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Werror", "-I", SOURCE / "include", source, "-o",
        program, *libraries)
    return program


def test_the_library_needs_the_libc_of_musl_and_nothing_else():
    for library in ("libmxprof.so", "libmxprof_collect.so"):
        needed = [line for line in run("readelf", "-dW", MUSL / library).splitlines() if "(NEEDED)" in line]
        assert all("[libc.so]" in line or "[libmxprof.so.0]" in line for line in needed), needed


@pytest.mark.parametrize("way", ("shared", "static"))
def test_a_program_records_and_both_commands_read_the_same(way, tmp_path):
    libraries = {"shared": ["-L", MUSL, "-lmxprof", f"-Wl,-rpath,{MUSL}"], "static": ["-static", MUSL / "libmxprof.a"]}
    program = compiled(SOURCE / "examples/embed.c", tmp_path, *libraries[way])
    (tmp_path / "out").mkdir()
    run(program, tmp_path / "out", cwd=SOURCE / "src")
    trace = tmp_path / "out/profile.mxp"
    for words in (["info"], ["report"], ["report", "--layout", "mxnet", "--json"],
                  ["report", "--layout", "mxnet", "--by", "scope"]):
        assert run(MUSL / "mxprof", *words, trace) == run(BUILD / "mxprof", *words, trace)
    run(MUSL / "mxprof", "convert", trace, "-o", tmp_path / "musl.json")
    run(BUILD / "mxprof", "convert", trace, "-o", tmp_path / "glibc.json")
    assert (tmp_path / "musl.json").read_bytes() == (tmp_path / "glibc.json").read_bytes()


def test_a_run_records_a_program_of_its_libc(tmp_path):
    program = compiled(SOURCE / "examples/hello.c", tmp_path, "-L", MUSL, "-lmxprof", f"-Wl,-rpath,{MUSL}")
    run(MUSL / "mxprof", "run", "--output", tmp_path / "run", "--", program, cwd=tmp_path)
    assert len(list((tmp_path / "run").rglob("*.mxp"))) == 1
