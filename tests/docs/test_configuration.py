# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md: each key and each environment variable has one row, with the default that the sources have."""
import collections
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
PAGE = (SOURCE / "docs/configuration.md").read_text(encoding="utf-8")
KEYS = {key: (kind, default, words, variable) for key, kind, default, words, variable in re.findall(
    r'^KEY\((\w+), (\w+), "([^"]*)", "([^"]*)", "([^"]*)"',
    (SOURCE / "src/profiler/session/config/config_keys.def").read_text(encoding="utf-8"), re.MULTILINE)}
# Those of a store, which the runtime adds to the profiler's.
for key, words, default in re.findall(r'"(distributed_\w+) : (?:\{([^}]*)\}|string),? ?optional, default=\'(\w+)\'',
                                      (SOURCE / "src/runtime/capi/profile.c").read_text(encoding="utf-8")):
    KEYS[key] = ("ENUM", default, "|".join(re.findall(r"\w+", words)), "MXPROF_" + key.upper())
# Of the programs that are started, not of the reader: what a parent leaves for its children, and a category's name.
NO_SETTINGS = {"MXPROF_ROOT_PID", "MXNET_C_API"}
# Not read by us, but of no effect on us unless the page says it.
OTHERS = {"GOMP_SPINCOUNT", "OMP_NUM_THREADS"}


def rows(heading):
    """The cells of the rows of the table below a heading, its own two lines left out."""
    section = PAGE.split(heading + "\n", 1)[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def names_in(cell):
    return re.findall(r"`(\w+)`", cell)


def test_each_key_has_one_row_with_its_words_and_its_variable():
    found = collections.defaultdict(list)
    for cells in rows("# Configuration"):
        for key in names_in(cells[0]):
            found[key].append(cells)
    assert {key: len(of) for key, of in found.items()} == {key: 1 for key in KEYS}
    for key, (_, _, words, variable) in KEYS.items():
        _, value, _, meaning = found[key][0]
        assert not words or set(words.split("|")) == set(names_in(value)), key
        assert not variable or f"`{variable}`" in meaning, key


def test_the_defaults_are_those_of_the_sources():
    wrong = []
    for cells in rows("# Configuration"):
        shown = re.split("[:,]", cells[2].strip("`"))[0]
        for key in names_in(cells[0]):
            kind, default, _, _ = KEYS[key]
            if kind in ("BOOL", "SIGNAL"):
                is_equal = shown in {"1": ("true", "1"), "0": ("false", "0")}[default]
            elif kind in ("FLOAT", "SIZE", "COUNT"):
                is_equal = float(shown) == float(default)
            else:
                is_equal = shown == (default or "none")
            wrong += [] if is_equal else [(key, shown, default)]
    assert wrong == []


def read_by_the_sources():
    names = set()
    for folder in ("src", "tools", "python/mxnet"):
        for file in (SOURCE / folder).rglob("*.*"):
            if file.suffix in (".c", ".h", ".def", ".py"):
                names |= set(re.findall(r'"((?:MXPROF|MXNET|DMLC|NNVM)_[A-Z_]*[A-Z])"', file.read_text(encoding="utf-8")))
    pool = (SOURCE / "src/runtime/storage/pool_config.c").read_text(encoding="utf-8")  # MXNET_<kind>_<name>
    return names | {"MXNET_CPU_" + name for name in re.findall(r'"(MEM_\w+)"', pool)}


def test_each_variable_has_one_row_and_each_row_is_read():
    headings = re.findall(r"^## Environment variables.*$", PAGE, re.MULTILINE)
    first = [name for heading in headings for cells in rows(heading) for name in names_in(cells[0])]
    assert [name for name, count in collections.Counter(first).items() if count > 1] == []
    keys = {variable for _, _, _, variable in KEYS.values() if variable}
    assert len(first) > 50 and not keys & set(first)
    read = read_by_the_sources() - NO_SETTINGS
    assert sorted(set(first) - read - OTHERS) == []
    told = set(re.findall(r"`(\w+)(?:=[^`]*)?`", PAGE))
    assert sorted(read - told) == []


def test_the_defaults_of_a_store_are_those_of_the_sources():
    settings = (SOURCE / "src/runtime/kvstore/dist_settings.c").read_text(encoding="utf-8")
    shown = {cells[0].strip("`"): cells[1] for cells in rows("## Environment variables of a store over processes")}
    found = re.findall(r'X\(\w+, "(\w+)", (?:UINT64_C\((\d+)\)|(\d+))(?: << (\d+))?,', settings)
    assert len(found) >= 6
    assert {name: shown[name].split(" (")[0] for name, *_ in found} == {
        name: str(int(wide or plain) << int(shift or 0)) for name, wide, plain, shift in found}


def test_no_other_page_has_a_table_of_variables():
    known = set(names_in(PAGE))
    wrong = []
    for page in [SOURCE / "README.md", *(SOURCE / "docs").rglob("*.md")]:
        if page.name not in ("configuration.md", "migration.md"):  # there with what MXNet made of them
            wrong += [(page.name, line[:60]) for line in page.read_text(encoding="utf-8").splitlines()
                      if re.match(r"\| `(MXPROF|MXNET|DMLC)_", line) and set(names_in(line.split("|")[1])) & known]
    assert wrong == []
