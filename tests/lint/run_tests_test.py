# SPDX-License-Identifier: Apache-2.0
"""scripts/run-tests runs every group and ends with one list of what failed.

Usage: run_tests_test.py SOURCE_TREE
"""
import pathlib
import subprocess
import sys
import tempfile

RUN = pathlib.Path(sys.argv[1]) / "scripts/run-tests"


def writing(cases, status):
    return f"printf '<testsuite>{cases}</testsuite>' > {{report}}; exit {status}"


BAD = writing('<testcase classname="unit/a" name="unit/a"><failure/></testcase>'
              '<testcase classname="unit/b" name="unit/b"/>', 8)
BROKEN = writing('<testcase classname="tests.cli.test_x" name="test_y[1]"><error/></testcase>', 1)
GOOD = writing('<testcase classname="unit/b" name="unit/b"/>', 0)

# Groups, the exit code, the last lines.
CASES = [
    ([f"release: {GOOD}", f"debug: {GOOD}"], 0, ["all 2 tests passed"]),
    ([f"release: {BAD}", f"debug: {GOOD}", f"python: {BROKEN}"], 1,
     ["2 failed:", "    release: unit/a", "    python: tests/cli/test_x.py::test_y[1]"]),
    ([f"release: {GOOD}", "debug: exit 7", f"python: {BROKEN}"], 1,
     ["2 failed:", "    debug: its command ended with 7 and named no test",
      "    python: tests/cli/test_x.py::test_y[1]"]),
    ([f"release: {writing('', 0)}", f"python: {writing('', 5)}"], 1, ["no test was found: TESTS takes words of tests' paths or names, separated by blanks, "
      "no patterns"]),
    ([f"release: {GOOD}", f"python: {writing('', 5)}"], 0, ["all 1 tests passed"]),
]


def main():
    failures = 0
    for groups, code, last in CASES:
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([sys.executable, RUN, folder, *groups], capture_output=True,
                                    text=True, check=False)
        if result.returncode != code or result.stdout.splitlines()[-len(last):] != last:
            failures += 1
            print(f"{groups}, expected {code} {last}, got {result.returncode}:\n{result.stdout}")
    print(f"{len(CASES)} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
