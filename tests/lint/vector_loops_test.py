# SPDX-License-Identifier: Apache-2.0
"""Shows vector_loops.py a loop that is vector code, one that cannot be, and one that is missing.

Usage: vector_loops_test.py SOURCE_TREE C_COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

TREE, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2]
HEAD = "#define MXN_VECTOR_LOOP __attribute__((noinline)) static\n#define NAME(x) x##_float\n"
SCALE = """MXN_VECTOR_LOOP void NAME(scale)(float *to, long count)
{
    for (long i = 0; i < count; i++) {
        to[i] = to[i] * 3;
    }
}
"""
RUNNING = """MXN_VECTOR_LOOP void NAME(running)(float *to, long count)
{
    for (long i = 1; i < count; i++) {
        to[i] = to[i] + to[i - 1];
    }
}
"""
TABLE = "void (*const table[])(float *, long) = {%s};\n"

# source, what is in the output, exit status
CASES = [
    (SCALE + TABLE % "scale_float", "1 loops, vectors of 16 bytes, 0 faults", 0),
    (RUNNING + TABLE % "running_float", "a.c.o: running_float has no vectors of 16 bytes", 1),
    (SCALE + TABLE % "0", "a.c.o: scale is not there", 1),
    (TABLE % "0", "0 loops", 1),
]


def run_case(source):
    with tempfile.TemporaryDirectory() as folder:
        kernels = pathlib.Path(folder) / "src/runtime/op/kernels"
        kernels.mkdir(parents=True)
        (kernels / "a.c").write_text(HEAD + source)
        subprocess.run([COMPILER, "-O3", "-Wno-unused-function", "-c", kernels / "a.c", "-o",
                        kernels / "a.c.o"], check=True)
        return subprocess.run([sys.executable, TREE / "tests/lint/vector_loops.py", folder, "16",
                               kernels / "a.c.o"], capture_output=True, text=True, check=False)


def main():
    failures = 0
    for source, expected, status in CASES:
        result = run_case(source)
        if result.returncode != status or expected not in result.stdout:
            failures += 1
            print(f"expected {expected!r} and {status}, got {result.returncode}:")
            print(source + result.stdout + result.stderr)
    print(f"{len(CASES)} cases, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
