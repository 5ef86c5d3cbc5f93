# SPDX-License-Identifier: Apache-2.0
"""What inline code in programs knows of the library's memory has its layout in the names of symbols: a program
that was compiled with headers of another layout is refused by the linker and by the loader."""
import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()

PROGRAM = r"""
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <stdio.h>
int main(void)
{
    mxp_session_run(mxp_session_get());
    mxp_name name = mxp_span_name("app", "span");
    mxp_span_end(name, mxp_span_begin(name));
    puts("recorded");
    return 0;
}
"""

# A library of the layout of its headers; the programs here need no more of it.
LIBRARY = r"""
#include <mxprof/profiler.h>
#define MXP_INLINE
#include <mxprof/record.h>
mxp_control_block mxp_control;
__thread mxp_recorder *mxp_self;
uint64_t mxp_span_begin_slow(mxp_name name) { return name; }
void mxp_span_end_slow(mxp_name name, uint64_t token, uint64_t end) { (void)name; (void)token; (void)end; }
uint64_t mxp_span_begin_call(uint32_t classes, mxp_name name) { return classes + name; }
void mxp_span_end_call(mxp_name name, uint64_t token) { (void)name; (void)token; }
uint64_t mxp_clock_read(void) { return 0; }
mxp_session *mxp_session_get(void) { return 0; }
int mxp_session_run(mxp_session *session) { return session != 0; }
mxp_name mxp_intern(const char *category, const char *name, int style, int unit)
{
    return category != name && style + unit;
}
"""


def compiler(folder, *arguments):
    return subprocess.run([shutil.which("cc") or "gcc", "-O1", f"-I{folder}/include", *arguments], cwd=folder,
                          capture_output=True, text=True, check=False)


def compile_program(folder, layout, inline, library=BUILD):
    headers = folder / "include"
    if not headers.exists():
        shutil.copytree(SOURCE / "include", headers)
        gate = headers / "mxprof" / "gate.h"
        text = gate.read_text()
        assert text.count("#define MXP_LAYOUT 2\n") == 1
        gate.write_text(text.replace("#define MXP_LAYOUT 2\n", f"#define MXP_LAYOUT {layout}\n"))
    (folder / "program.c").write_text(PROGRAM)
    return compiler(folder, *(["-DMXP_INLINE"] if inline else []), "program.c", f"-L{library}", f"-Wl,-rpath,{BUILD}",
                    "-lmxprof", "-o", "program")


def run(folder):
    return subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("inline", [False, True])
def test_programs_of_this_layout_link_and_record(tmp_path, inline):
    built = compile_program(tmp_path, 2, inline)
    assert built.returncode == 0, built.stderr
    assert run(tmp_path).stdout == "recorded\n"


@pytest.mark.parametrize("inline", [False, True])
def test_programs_of_another_layout_do_not_link(tmp_path, inline):
    built = compile_program(tmp_path, 3, inline)
    assert built.returncode != 0
    assert ("mxp_self_3" if inline else "mxp_control_3") in built.stderr


@pytest.mark.parametrize("inline", [False, True])
def test_programs_of_another_layout_do_not_start(tmp_path, inline):
    """Linked with a library of that layout, which is not the one that is installed now."""
    entries = subprocess.run(["readelf", "-d", BUILD / "libmxprof.so"], capture_output=True, text=True, check=True).stdout
    soname = next(line.split("[")[1].rstrip("]") for line in entries.splitlines() if "SONAME" in line)
    compile_program(tmp_path, 3, inline)
    (tmp_path / "library.c").write_text(LIBRARY)
    built = compiler(tmp_path, "-shared", "-fPIC", "library.c", f"-Wl,-soname,{soname}", "-o", "libmxprof.so")
    assert built.returncode == 0, built.stderr
    built = compile_program(tmp_path, 3, inline, tmp_path)
    assert built.returncode == 0, built.stderr
    ran = run(tmp_path)
    assert ran.returncode != 0 and ran.stdout == ""
    assert "undefined symbol: mxp_" in ran.stderr and "_3" in ran.stderr, ran.stderr


def test_everything_inline_code_refers_to_in_the_library_says_the_layout(tmp_path):
    """What a later layout could change is in one place in the headers."""
    text = (SOURCE / "include/mxprof/record_inline.h").read_text() + (SOURCE / "include/mxprof/gate.h").read_text()
    exported = subprocess.run(["nm", "-D", "--defined-only", BUILD / "libmxprof.so"], capture_output=True, text=True,
                              check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in exported.splitlines()}
    for name in ("mxp_control", "mxp_self", "mxp_span_begin_slow", "mxp_span_end_slow"):
        assert f'MXP_LAYOUT_NAME("{name}")' in text
        assert f"{name}_2" in names and name not in names
