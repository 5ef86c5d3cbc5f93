# SPDX-License-Identifier: Apache-2.0
"""Shows each scripts/check-* a small tree with one fault of every kind, and expects it found.

Usage: checks_find_faults.py SOURCE_TREE
"""
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
SHINY = LICENCE + "// Folder shiny: light.\n"
# The small trees that the cases are in: check-folders' has its pages.
HEADERS = dict.fromkeys(("src/profiler/trace/reader.h", "src/profiler/recorder/recorder.h",
                         "src/profiler/recorder/drain/consume.h", "src/base/os/os.h"), LICENCE)
HEADERS["tests/cli/test_a.py"] = "# SPDX-License-Identifier: Apache-2.0\n"
MAPPED = {"README.md": "| folder | |\n|---|---|\n| `src/base` | a |\n",
          "DESIGN.md": "# Design\n\n## Folders\n| `src/base` | a |\n\n## Else\n| `gone` | a |\n",
          "src/base/base.h": LICENCE + "// Folder base: all there is.\n"}


def long_function(lines):
    # Braces in a comment, a string and a skipped branch must not end it early.
    body = ['    const char *s = "}";  // }', "#if A", "    if (s) {", "#else", "    if (!s) {",
            "#endif", "    }"]
    body += ["    s++;"] * (lines - len(body) - 3)
    return "int f(void)\n{\n" + "\n".join(body) + "\n}\n"


def long_macro(lines):
    return "#define F(x) \\\n" + "    x++; \\\n" * (lines - 2) + "    x--\n\nint a;\n"


# check, path, content, expected part of the message (None: no fault)
CASES = [
    ("atomics", "src/base/a.c", "    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);\n", "__atomic_store_n"),
    ("atomics", "src/base/a.c", "#include <stdatomic.h>\n", "<stdatomic.h>"),
    ("atomics", "src/base/a.c", "    // as __atomic_store_n does\n", None),
    ("atomics", "src/base/atomic.h", "#define f(a) __atomic_load_n(a, 0)\n", None),
    ("atomics", "src/profiler/recorder/a.c", "    mxp_atomic_store(&self->hot.busy, 1u);\n", "busy by hand"),
    ("atomics", "src/profiler/recorder/a.c", "    mxp__busy_again(self, at);  // hot.busy\n", None),
    ("atomics", "src/profiler/recorder/protocol.h", "    mxp_atomic_store(&self->busy, at);\n", None),
    ("atomics", "src/runtime/parallel/a.c", "    mxp__fork_lock_list(&pool.busy);\n", None),
    ("deps", "src/base/a.c", '#include "profiler/trace/reader.h"\n', "base may not include"),
    ("deps", "src/profiler/recorder/record/a.c", '#include "profiler/trace/reader.h"\n',
     "recorder/record may not include"),
    ("deps", "src/profiler/recorder/record/a.c", '#include "profiler/recorder/drain/consume.h"\n',
     "recorder/record may not include"),
    ("deps", "src/profiler/recorder/drain/a.c", '#include "profiler/recorder/recorder.h"\n', None),
    ("deps", "src/profiler/export/a.c", '#include "profiler/trace/reader.h"\n', None),
    ("deps", "src/profiler/session/a.c", '#include "profiler/recorder/recorder.h"\n', None),
    ("deps", "src/profiler/session/a.c", '#include "profiler/recorder/drain/consume.h"\n',
     "is no front header"),
    ("deps", "src/runtime/capi/a.c", "#include <profiler/trace/reader.h>\n", "capi may not include"),
    ("deps", "src/profiler/export/a.c", '#include "../recorder/recorder.h"\n',
     "export may not include"),
    ("deps", "examples/a.c", '#include "base/os/os.h"\n', "examples may not include"),
    ("deps", "bench/a.c", '#include "base/os/os.h"\n', "bench may not include"),
    ("deps", "tools/a.c", '#include "base/os/os.h"\n', None),
    ("deps", "tools/a.c", '#include "profiler/recorder/recorder.h"\n', "tools may not include"),
    ("deps", "tests/unit/a.c", '#include "profiler/recorder/recorder.h"\n', None),
    ("deps", "src/profiler/session/a.c", '#include "no_such.h"\n', "is no file of ours"),
    ("deps", "src/profiler/shiny/a.c", "\n", "is not in the table"),
    ("deps", "src/profiler/trace/a.c", "#ifdef __linux__\n#endif\n", "platform conditional"),
    ("deps", "src/profiler/trace/a.c", "#elif defined(__x86_64__)\n", "platform conditional"),
    ("deps", "src/base/os/a.c", "#ifdef __linux__\n#endif\n", None),
    ("deps", "tests/unit/profiler/shiny/a.c", "\n", "there is no src/profiler/shiny"),
    ("folders", "src/base/a.c", LICENCE, None),
    ("folders", "src/base/a.c", LICENCE + "// Folder base: another.\n", "here are 2"),
    ("folders", "src/base/a.c", LICENCE + "// Folder bass: one.\n", "the line of a folder is"),
    ("folders", "src/base/base.h", LICENCE, "one file of it has the line"),
    ("folders", "src/shiny/a.c", SHINY, "README.md: the table of folders lacks src/shiny"),
    ("folders", "src/shiny/a.c", SHINY, "DESIGN.md: the table of folders lacks src/shiny"),
    ("folders", "src/base/os/a.c", LICENCE + "// Folder base/os: systems.\n",
     "DESIGN.md: the table of folders lacks src/base/os"),
    ("folders", "src/runtime/op/nn/a.c", "MXN_FAMILY(b, table);\n", "must be named as the file is, a"),
    ("folders", "src/runtime/op/nn/a.c", "MXN_FAMILY(a, table);\n", "lacks FAMILY(a)"),
    ("folders", "DESIGN.md", "## Folders\n| `src/{base,gone}` | a |\n", "there is no folder src/gone"),
    ("folders", "DESIGN.md", "## Folders\n| `src/base` | `gone/` |\n", "no folder src/base/gone"),
    ("folders", "README.md", "| folder | |\n| `src/base`, `gone/` | a |\n", "there is no folder gone"),
    ("folders", "README.md", "| folder | |\n| `src/base` | `gone` |\n", "no folder src/base/gone"),
    ("folders", "CONTRIBUTING.md", "`src/base/base.h` `src/base` `src/base/NAME.c`\n", None),
    ("folders", "CONTRIBUTING.md", "in `src/base/gone.h`\n", "there is no src/base/gone.h"),
    ("sizes", "src/base/a.c", "\n" * 801, "801 lines, limit 800"),
    ("sizes", "src/base/a.c", "\n" * 800, None),
    ("sizes", "include/mxprof/a.h", "\n" * 301, "301 lines, limit 300"),
    ("sizes", "src/base/a.c", long_function(71), "f: 71 lines, limit 70"),
    ("sizes", "src/base/a.c", long_function(70), None),
    ("sizes", "include/mxprof/a.h", 'extern "C" {\n' + long_function(71) + "}\n", "f: 71 lines"),
    ("sizes", "src/base/a.c", "int t[] = {\n" + "    1,\n" * 99 + "};\n", None),
    ("sizes", "src/base/a.c", long_macro(25), "F: 25 lines, limit 24"),
    ("sizes", "src/base/a.c", long_macro(24), None),
    ("sizes", "src/base/a.c", "#define EACH(x) \\\n    for (;;) x\n", "a.c:1: EACH: a loop in a macro"),
    ("sizes", "include/mxprof/a.h", "#define SPIN(x) do { } while (x)\n", "a loop in a macro"),
    ("sizes", "src/base/a.c", '#define TEXT "for (all)"  // while (here)\n', None),
    ("sizes", "src/base/a.def", "#define EACH(x) for (;;) x\n", "a.def:1: EACH: a loop in a macro"),
    ("sizes", "tests/unit/a.c", "#define EACH(x) for (;;) x\n", "a loop in a macro"),
    ("sizes", "tests/unit/a.c", "#define CALL(x) do { x; } while (0)\n", None),
    ("sizes", "scripts/size-exceptions.txt", "src/x.c\n", "has no reason"),
    ("sizes", "scripts/size-exceptions.txt", "src/x.c because\n", "needs no exception"),
    ("text", "src/base/a.c", LICENCE + "// /ho" + "me/someone/x\n", "one particular machine"),
    ("text", "src/base/a.c", LICENCE + "// TO" + "DO: later\n", "to do something later"),
    ("text", "src/base/a.c", LICENCE + "int a;\r\n", "Windows line end"),
    ("text", "src/base/a.c", "int a;\n", "no line with"),
    ("text", "profile.json", "{}\n", "belongs to the top"),
    ("text", "README.md", "mxprof\n", None),
    ("text", "tests/python/test_a.py", "# SPDX-License-Identifier: Apache-2.0\n",
     "tests/cli/test_a.py is called so, too"),
    ("text", "tests/python/test_b.py", "# SPDX-License-Identifier: Apache-2.0\n", None),
    ("text", "src/base/a.c", LICENCE + "// src/home/x, ../root/y, /usr/include/z\n", None),
]


def run_case(check, path, content):
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for around, text in (MAPPED if check == "folders" else HEADERS).items():
            (tree / around).parent.mkdir(parents=True, exist_ok=True)
            (tree / around).write_text(text)
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content.encode())
        command = [sys.executable, SOURCE / f"scripts/check-{check}", tree]
        return subprocess.run(command, capture_output=True, text=True, check=False)


# What builds and installers leave in ignored places breaks every rule, and is nobody's; what the documents' examples leave at the
# top is the reader's.
def ignored_files_are_looked_at(check):
    broken = '#include "no_such.h"\n' * 900
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for path, content in ((".gitignore", "build/\n"), ("src/base/kept.c", LICENCE), ("src/build/a.c", broken),
                              ("hello.c", broken), ("first/hello.c", broken)):
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(content)
        subprocess.run(["git", "init", "-q", tree], check=True)
        subprocess.run(["git", "-C", tree, "add", ".gitignore", "src/base"], check=True)
        result = subprocess.run([sys.executable, SOURCE / f"scripts/check-{check}", tree],
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            print(f"check-{check} looks at a file that git ignores, or that is the reader's:\n{result.stdout}{result.stderr}")
        return result.returncode != 0


# A file that git would add in a folder of the tree.
def new_files_are_passed_over():
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        (tree / "src/base").mkdir(parents=True)
        for name, content in (("kept.c", LICENCE), ("new.c", "int a;\n")):
            (tree / "src/base" / name).write_text(content)
        subprocess.run(["git", "init", "-q", tree], check=True)
        subprocess.run(["git", "-C", tree, "add", "src/base/kept.c"], check=True)
        result = subprocess.run([sys.executable, SOURCE / "scripts/check-text", tree], capture_output=True, text=True, check=False)
        if result.returncode != 1 or "new.c" not in result.stdout:
            print(f"check-text passes over a file that is new:\n{result.stdout}{result.stderr}")
        return "new.c" not in result.stdout


def main():
    failures = sum(map(ignored_files_are_looked_at, ("deps", "sizes", "text"))) + new_files_are_passed_over()
    for check, path, content, expected in CASES:
        result = run_case(check, path, content)
        found = result.returncode == 1 and expected is not None and expected in result.stdout
        clean = result.returncode == 0 and expected is None
        if not (found or clean):
            failures += 1
            print(f"check-{check} on {path}, expected {expected!r}, got {result.returncode}:")
            print(result.stdout + result.stderr)
    print(f"{len(CASES) + 4} cases, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
