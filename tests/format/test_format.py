# SPDX-License-Identifier: Apache-2.0
"""The committed traces of every format version, read by a reader that was written from
docs/format.md alone, hold what is beside them in *.json; and the fault of every damaged copy is
found where it is."""
import json
import pathlib
import re

import pytest

import format_reader

HERE = pathlib.Path(__file__).parent
GOLDEN = sorted(HERE.glob("v*.mxp"))


def sections_of(data):
    """(first byte, byte behind the last) of the header and of each section."""
    trace = format_reader.Trace(data)
    begins = [0] + [offset for _, offset in trace.sections] + [len(data)]
    return list(zip(begins, begins[1:]))


def test_the_page_describes_every_kind_of_record():
    header = (HERE.parents[1] / "include/mxprof/format.h").read_text(encoding="utf-8")
    kinds = re.findall(r"^ +X\((\w+), (\d+), \d+, ", header, re.MULTILINE)
    page = (HERE.parents[1] / "docs/format.md").read_text(encoding="utf-8")
    assert len(kinds) >= 9
    assert [name for name, number in kinds if f"\n### {number} {name}, " not in page] == []


def test_there_is_a_trace_of_every_version():
    header = (HERE.parents[1] / "include/mxprof/format.h").read_text(encoding="utf-8")
    version = int(header.split("#define MXP_FORMAT_VERSION ")[1].split("u")[0])
    assert [path.stem for path in GOLDEN] == [f"v{i + 1}" for i in range(version)]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_trace_holds_what_it_was_made_from(path):
    trace = format_reader.Trace(path.read_bytes())
    found = json.loads(json.dumps(format_reader.as_json(trace)))
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert sorted(found) == sorted(expected)
    for part in expected:
        assert found[part] == expected[part], part


def test_a_mapped_file_of_a_killed_process():
    """mapped.mxp: a thread had begun "outer", made 400 spans "inner", each with a counter, and was
    killed in it."""
    trace = format_reader.Trace((HERE / "mapped.mxp").read_bytes())
    assert trace.mapped and not trace.finished
    records = [record for chunk in sorted(trace.chunks, key=lambda c: (c["base_ticks"], c["sequence"]))
               for record in trace.records(chunk)]
    assert [r["value"] for r in records if r["kind"] == "counter"] == list(range(400))
    assert [r["name"] for r in records if r["kind"] == "span"] == ["inner"] * 400
    recorder, = trace.recorders
    assert recorder["lost"] == 0
    (begin, name), = recorder["open"]
    assert trace.text(name) == "outer"
    assert all(begin <= r["begin_ticks"] <= r["end_ticks"] for r in records if r["kind"] == "span")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_flipped_bytes_are_found(path):
    data = path.read_bytes()
    for begin, end in sections_of(data):
        for at in range(begin, end, 7):
            changed = bytearray(data)
            changed[at] ^= 0x10
            if begin == 0 and at >= 48:
                continue  # bytes that mean nothing
            with pytest.raises(format_reader.FormatError) as error:
                format_reader.Trace(bytes(changed))
            assert begin <= error.value.offset < end


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_cut_files_are_found(path):
    data = path.read_bytes()
    whole = {end for begin, end in sections_of(data)
             if data[begin:begin + 6] == b"MXPS\x08\x00"}
    assert len(data) in whole
    for size in range(0, len(data), 16):
        if size not in whole:
            with pytest.raises(format_reader.FormatError):
                format_reader.Trace(data[:size])
