# SPDX-License-Identifier: Apache-2.0
"""Reads the built objects of src/runtime/op/kernels: each loop that must be vector code is.

Usage: vector_loops.py SOURCE_TREE BYTES OBJECT[:OBJECT...]

A function that comes after MXN_VECTOR_LOOP in the folder must, in the objects for vectors of BYTES
(16, 32 or 64), compute with whole vectors, for every type it is made for. Needs objdump.
"""
import pathlib
import re
import subprocess
import sys

MARKED = re.compile(r"^MXN_VECTOR_LOOP\s[\w\s*]*?(NAME\()?(\w+)\)?\(", re.MULTILINE)
SYMBOL = re.compile(r"^[0-9a-f]+ <(\w+)(?:\.(?:constprop|isra|part)[.\w]*)?>:$")
REGISTERS = {16: "%xmm", 32: "%ymm", 64: "%zmm"}
# Arithmetic on packed numbers. Moves, conversions and signs are made so of single numbers too.
ARITHMETIC = re.compile(
    r"\tv?(?:(?:add|sub|mul|div|sqrt|max|min|cmp\w*)p[sd]"
    r"|p(?:add|sub|mull|max[su]|min[su]|cmp\w+)[bwdq])\b")


def marked(folder, stem):
    """What must be vector code in STEM.c and its template; of a template's names the first part."""
    texts = [path.read_text(encoding="utf-8")
             for path in (folder / f"{stem}.c", folder / f"{stem}_kernels.h") if path.is_file()]
    return {f"{match[2]}_" if match[1] else match[2]
            for text in texts for match in MARKED.finditer(text)}


def functions(path):
    """Yields (symbol, its instructions) of every function of an object."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True,
                             capture_output=True, text=True).stdout
    name, lines = None, []
    for line in listing.splitlines():
        if symbol := SYMBOL.match(line):
            if name is not None:
                yield name, lines
            name, lines = symbol[1], []
        else:
            lines.append(line)
    if name is not None:
        yield name, lines


def is_vector_code(lines, register):
    return any(ARITHMETIC.search(line) and register in line for line in lines)


def faults_of(wanted, size, path):
    found = set()
    for symbol, lines in functions(path):
        for name in wanted:
            made_of_it = symbol == name or name.endswith("_") and re.fullmatch(
                name + r"(float|double|u?int\d+|truth)", symbol)
            if made_of_it:
                found.add(name)
                if not is_vector_code(lines, REGISTERS[size]):
                    yield f"{path.name}: {symbol} has no vectors of {size} bytes"
    for name in sorted(wanted - found):
        yield f"{path.name}: {name.rstrip('_')} is not there"


def main():
    folder, size = pathlib.Path(sys.argv[1]) / "src/runtime/op/kernels", int(sys.argv[2])
    faults, count = [], 0
    for path in map(pathlib.Path, sys.argv[3].split(":")):
        wanted = marked(folder, path.name.split(".")[0])
        count += len(wanted)
        faults += faults_of(wanted, size, path)
    for fault in faults:
        print(fault)
    print(f"vector_loops: {count} loops, vectors of {size} bytes, {len(faults)} faults")
    return 1 if faults or count == 0 else 0


sys.exit(main())
