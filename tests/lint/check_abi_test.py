# SPDX-License-Identifier: Apache-2.0
"""scripts/check-abi finds a symbol or a member that came, went or moved.

Usage: check_abi_test.py SOURCE_TREE COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

CHECK, COMPILER = pathlib.Path(sys.argv[1]) / "scripts/check-abi", sys.argv[2]
HEADER = """
typedef struct mxp_point { unsigned size_bytes; int x, y[2]; union { int i; float f; } value;
    void (*move)(int by); } mxp_point;
extern int mxp_table __asm__("mxp_table" "_" "1");
int mxp_twice(const mxp_point *point);
static inline int mxp_inline(void) { return mxp_twice(0); }
"""
SOURCE = "#include <mxprof/a.h>\nint mxp_table = 1; int mxp_twice(const mxp_point *p) { return !p; }\n"
MAP = "X_1 { global: mxp_twice; mxp_table_1; local: *; };\n"

# What is changed after the list was written (file, old text, new text), and what is said of it.
CASES = [
    ("map", "", "", None),
    ("header", "int x, y[2];", "int y[2], x;", "+    4 8 y"),
    ("header", "void (*move)(int by);", "void (*move)(int by); long later;", "+struct mxp_point 40"),
    ("header", "int mxp_twice(", "void mxp_new(void);\nint mxp_twice(", "and not listed"),
    ("header", "int mxp_twice(const mxp_point *point);", "", "no public header declares it"),
    ("map", "mxp_twice;", "mxp_twice; mxp_gone;", "has no such symbol"),
    ("map", "mxp_twice;", "mxp_*;", "exported and not listed by name"),
    ("map", "X_1", "X_2", "+    X_2 mxp_twice"),
    ("header", '"1"', '"2"', "mxp_table_2 is declared in mxprof/a.h and not listed"),
]


def write(tree, texts):
    (tree / "include/mxprof").mkdir(parents=True, exist_ok=True)
    (tree / "include/mxprof/a.h").write_text(texts["header"])
    (tree / "a.c").write_text(SOURCE)
    (tree / "a.map").write_text(texts["map"])
    built = subprocess.run([COMPILER, "-shared", "-fPIC", "-I", tree / "include", tree / "a.c",
                            f"-Wl,--version-script={tree}/a.map", "-o", tree / "libmxprof.so"],
                           check=False, capture_output=True, text=True)
    assert built.returncode == 0 or "mxp_twice" in built.stderr, built.stderr


def check(tree, *more):
    return subprocess.run([CHECK, *more, "--compiler", COMPILER, "--list", tree / "abi.txt", "--include",
                           tree / "include", f"{tree}/libmxprof.so={tree}/a.map"],
                          capture_output=True, text=True, check=False)


def main():
    failures = 0
    for file, old, new, expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            tree, texts = pathlib.Path(folder), {"header": HEADER, "map": MAP}
            write(tree, texts)
            updated = check(tree, "--update")
            if updated.returncode == 77:
                return 77
            texts[file] = texts[file].replace(old, new) if old else texts[file]
            write(tree, texts)
            result = check(tree)
            as_expected = (result.returncode == 0 if expected is None
                           else result.returncode == 1 and expected in result.stdout)
            if updated.returncode != 0 or not as_expected:
                failures += 1
                print(f"{old!r} to {new!r}, expected {expected!r}:\n{updated.stdout}{result.stdout}"
                      f"{result.stderr}")
    print(f"{len(CASES)} cases, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
