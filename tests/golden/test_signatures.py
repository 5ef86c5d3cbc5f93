# SPDX-License-Identifier: Apache-2.0
"""The functions of our headers take and return what those of MXNet's headers do; what is absent stands in docs/migration.md.

`expected/c_signatures.tsv`: name, line (1.9.1, 2.0 or both), returned type, types of parameters. Names of one type are one name.
`expected/c_types.tsv`: name of a handle's or callback's type, line, its declaration.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
EXPECTED = pathlib.Path(__file__).parent / "expected" / "c_signatures.tsv"
SAME = {"mx_uint": "uint32_t", "nn_uint": "uint32_t", "unsigned": "uint32_t", "dim_t": "int64_t"}
# Handles that only absent functions take.
ABSENT_TYPES = {"AtomicSymbolHandle", "BatchifyFunctionHandle", "CudaKernelHandle", "CudaModuleHandle", "DatasetHandle",
                "GraphHandle", "RecordIOHandle", "RtcHandle"}
# Ours alone, and the packed functions, which are in none of MXNet's two headers.
BEYOND = {"MXPreparedCreate", "MXPreparedInvoke", "MXPreparedFree", "MXNetFuncListGlobalNames", "MXNetFuncGetGlobal", "MXGetEnv", "MXSetEnv"}


def type_of(parameter):
    """The type in a declared parameter, without its name."""
    words = parameter.replace("*", " * ").replace("struct ", "").split()
    words = [SAME.get(word, word) for word in words]
    if len(words) > 1 and words[-1] != "*":
        words.pop()
    if "*" not in words and "const" in words:
        words.remove("const")  # of a value it says nothing to the caller
    return " ".join(words).replace(" *", "*")


def declared():
    """Of each function of the headers the returned type and those of its parameters."""
    found = {}
    for header in sorted([*(SOURCE / "include/mxnet").glob("*.h"), *(SOURCE / "include/nnvm").glob("*.h")]):
        text = re.sub(r"//[^\n]*", "", header.read_text(encoding="utf-8"))
        for returned, name, parameters in re.findall(r"^MXNET_DLL\s+([^;(]*?)(\w+)\s*\(([^;]*)\);", text, re.M):
            listed = [] if parameters.strip() == "void" else parameters.split(",")
            found[name] = (type_of(returned + " result"), ", ".join(type_of(one) for one in listed))
    return found


def expected():
    """Of each function its signatures by line."""
    found = {}
    for row in EXPECTED.read_text(encoding="utf-8").splitlines():
        name, line, returned, parameters = row.split("\t")
        found.setdefault(name, {})[line] = (returned, parameters)
    return found


def absent():
    """The names in the table of absent C functions."""
    text = (SOURCE / "docs/migration.md").read_text(encoding="utf-8")
    table = text.split("These C functions are absent", 1)[1].split("\n\n", 2)[1]
    return set(re.findall(r"`((?:MX|NN)\w+)`", table))


def test_signatures_are_those_of_a_line():
    known, ours = expected(), declared()
    assert len(ours) > 200 and set(ours) - set(known) == BEYOND
    wrong = {name: (signature, known[name]) for name, signature in ours.items()
             if name in known and signature not in known[name].values()}
    assert not wrong


def test_where_the_lines_differ_the_signature_is_that_of_the_second():
    known, ours = expected(), declared()
    differ = {name for name, lines in known.items() if len(lines) > 1 and name in ours}
    assert len(differ) >= 10
    assert [name for name in sorted(differ) if ours[name] != known[name]["2.0"]] == []
    text = (SOURCE / "docs/c-api.md").read_text(encoding="utf-8").split("have other parameters in 1.x", 1)[0]
    assert all(f"`{name}`" in text for name in differ)


def test_what_is_absent_is_listed():
    assert absent() & set(expected()) == set(expected()) - set(declared())


def test_types_of_handles_and_callbacks_are_those_of_the_lines(tmp_path):
    """Where the lines differ, the second's. The compiler compares them."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("there is no C compiler")
    rows = [row.split("\t") for row in EXPECTED.with_name("c_types.tsv").read_text(encoding="utf-8").splitlines()]
    types = {name: declaration for line in ("1.9.1", "2.0", "both") for name, of, declaration in rows if of == line}
    assert len(types) == 50 and ABSENT_TYPES < set(types)
    text = "#include <mxnet/c_api.h>\n#include <nnvm/c_api.h>\n"
    for name in sorted(set(types) - ABSENT_TYPES):
        text += "typedef " + re.sub(rf"\b{name}\b", f"golden_{name}", types[name]) + ";\n"
        text += f'_Static_assert(__builtin_types_compatible_p({name}, golden_{name}), "{name}");\n'
    (tmp_path / "types.c").write_text(text, encoding="utf-8")
    subprocess.run([compiler, "-std=c11", "-fsyntax-only", f"-I{SOURCE / 'include'}", str(tmp_path / "types.c")],
                   check=True, timeout=60)
    headers = "".join(path.read_text(encoding="utf-8") for path in (SOURCE / "include").glob("*/*.h"))
    assert not [name for name in ABSENT_TYPES if re.search(rf"\b{name}\b", headers)]
