# SPDX-License-Identifier: Apache-2.0
"""Compressed output of the command: gzip that gzip reads, and compressed native files, which give what the
originals give and say where they are damaged."""
import gzip
import json
import os
import pathlib
import random
import re
import struct
import subprocess

import pytest

import native_file

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
COMMAND = BUILD / "mxprof"


def run(*arguments, code=0, **options):
    result = subprocess.run([COMMAND, *arguments], capture_output=True, timeout=60, check=False, **options)
    assert result.returncode == code, result.stderr.decode()
    return result


@pytest.fixture(name="sample")
def sample_fixture(tmp_path):
    (tmp_path / "sample.mxp").write_bytes(native_file.sample().to_bytes())
    return tmp_path / "sample.mxp"


def everything(path, folder):
    """All that the command makes of a file, but its name and size."""
    outputs = {}
    for name in ("trace.json", "trace.pftrace", "table.csv"):
        run("convert", path, "-o", folder / name)
        outputs[name] = (folder / name).read_bytes()
    for what in ("info", "report"):
        text = run(what, path).stdout.decode().replace(str(path), "FILE")
        outputs[what] = re.sub(r"\d+ bytes, whole", "N bytes, whole", text)
    return outputs


@pytest.mark.parametrize("name", ["trace.json", "trace.pftrace", "table.csv"])
def test_gzip_reads_what_is_written(sample, tmp_path, name):
    run("convert", sample, "-o", tmp_path / name)
    run("convert", sample, "-o", tmp_path / (name + ".gz"))
    assert gzip.decompress((tmp_path / (name + ".gz")).read_bytes()) == (tmp_path / name).read_bytes()


def test_a_compressed_file_gives_what_the_original_gives(sample, tmp_path):
    run("convert", sample, "-o", tmp_path / "sample.mxpz")
    assert everything(tmp_path / "sample.mxpz", tmp_path) == everything(sample, tmp_path)


def test_every_kind_of_record_survives(tmp_path):
    original = SOURCE / "tests/format/v1.mxp"
    run("convert", original, "-o", tmp_path / "v1.mxpz")
    assert everything(tmp_path / "v1.mxpz", tmp_path) == everything(original, tmp_path)


def test_compressing_twice_is_compressing(sample, tmp_path):
    run("convert", sample, "-o", tmp_path / "once.mxpz")
    run("convert", tmp_path / "once.mxpz", "-o", tmp_path / "twice.mxpz")
    assert (tmp_path / "once.mxpz").read_bytes() == (tmp_path / "twice.mxpz").read_bytes()


def many_spans(count):
    chance = random.Random(1)
    file = native_file.NativeFile()
    file.thread("main")
    names = [file.name(f"span {i}", "test", "span") for i in range(64)]
    records, at = [], 0
    for _ in range(count):
        begin = at + chance.randint(100, 500)
        at = begin + chance.randint(100, 2000)
        records.append(native_file.words(native_file.word0("span", 1, file.origin + begin),
                                         chance.choice(names) | (at - begin) << 32))
    file.threads[0]["bytes"] = b"".join(records)
    file.threads[0]["records"] = count
    return file.to_bytes()


def test_large_chunks_come_in_pieces_and_are_small(tmp_path):
    (tmp_path / "large.mxp").write_bytes(many_spans(200000))
    run("convert", tmp_path / "large.mxp", "-o", tmp_path / "large.mxpz")
    assert (tmp_path / "large.mxpz").stat().st_size < 6 * 200000
    kept = everything(tmp_path / "large.mxp", tmp_path)
    seen = everything(tmp_path / "large.mxpz", tmp_path)
    del kept["info"], seen["info"]  # which counts chunks
    assert seen == kept


def process_file(folder, number):
    """A trace of process `number`, with as many spans of 1 ms."""
    file = native_file.NativeFile(pid=number, realtime_ns=1_700_000_000_000_000_000 + number)
    file.thread("main")
    name = file.name("work", "app", "span")
    for i in range(number):
        file.span(0, name, 2_000_000 * i, 2_000_000 * i + 1_000_000)
    path = folder / f"profile.{number}.mxp"
    path.write_bytes(file.to_bytes())
    return path


def work_count(*arguments):
    result = run("report", "--layout", "mxnet", "--json", *arguments)
    return json.loads(result.stdout)["Time"]["app"]["work"]["Count"], result.stderr.decode()


def test_a_directory_has_compressed_files_too(tmp_path):
    process_file(tmp_path, 3)
    packed = process_file(tmp_path, 5)
    run("convert", packed, "-o", packed.with_suffix(".mxpz"))
    packed.unlink()
    assert work_count(tmp_path) == (8, "")
    run("merge", tmp_path, "-o", tmp_path / "all.json")
    events = json.loads((tmp_path / "all.json").read_text())["traceEvents"]
    assert {event["pid"] for event in events if event["name"] == "work"} == {3, 5}


def test_a_file_and_its_compressed_copy_count_once(tmp_path):
    original = process_file(tmp_path, 3)
    copy = original.with_suffix(".mxpz")
    run("convert", original, "-o", copy)
    process_file(tmp_path, 5)
    said = "mxprof {}: note: '{}' and '{}' are of one process; the first is used\n"
    assert work_count(tmp_path) == (8, said.format("report", original, copy))
    for inputs, count in ([tmp_path], 8), ([original, copy], 3), ([copy, original], 3):
        told = run("merge", *inputs, "-o", tmp_path / "all").stderr.decode()
        assert told == said.format("merge", *([original, copy] if count == 8 else inputs))
        assert work_count(tmp_path / "all") == (count, "")


def test_a_compressed_copy_stands_in_for_what_cannot_be_read(tmp_path):
    original = process_file(tmp_path, 3)
    run("convert", original, "-o", original.with_suffix(".mxpz"))
    original.write_bytes(b"not this")
    result = run("report", "--layout", "mxnet", "--json", tmp_path, code=1)
    assert json.loads(result.stdout)["Time"]["app"]["work"]["Count"] == 3
    assert original.name in result.stderr.decode()


def test_a_compressed_file_of_another_process_counts_whatever_its_name(tmp_path):
    first, second = process_file(tmp_path, 3), process_file(tmp_path, 5)
    run("convert", first, "-o", tmp_path / "profile.5.mxpz")
    first.unlink()
    assert work_count(tmp_path) == (8, "")
    assert second.exists()


def test_damage_is_an_error_with_its_offset(sample, tmp_path):
    run("convert", sample, "-o", tmp_path / "whole.mxpz")
    whole = (tmp_path / "whole.mxpz").read_bytes()
    broken = tmp_path / "broken.mxpz"
    for at in [*range(0, 48, 7), *range(64, len(whole), 5)]:  # between them stand zeros without a meaning
        changed = bytearray(whole)
        changed[at] ^= 1 if at % 2 == 0 else 0x20
        broken.write_bytes(changed)
        said = run("report", "--layout", "mxnet", broken, code=1).stderr.decode()
        if at >= 64:
            offset = int(re.search(r"damaged at offset (\d+)|$", said).group(1))
            assert 64 <= offset <= at
    for size in range(0, len(whole), 13):
        broken.write_bytes(whole[:size])
        assert "offset" in run("report", "--layout", "mxnet", broken, code=1).stderr.decode() or size < 8


def test_what_is_whole_of_a_damaged_file_is_read(tmp_path):
    (tmp_path / "large.mxp").write_bytes(many_spans(200000))
    run("convert", tmp_path / "large.mxp", "-o", tmp_path / "large.mxpz")
    data = bytearray((tmp_path / "large.mxpz").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "large.mxpz").write_bytes(data)
    said = run("info", tmp_path / "large.mxpz", code=1)
    records = int(re.search(r"records +(\d+)", said.stdout.decode()).group(1))
    assert 100000 < records < 200000


def test_damaged_headers_cost_their_sections_only(tmp_path):
    (tmp_path / "large.mxp").write_bytes(many_spans(200000))
    run("convert", tmp_path / "large.mxp", "-o", tmp_path / "large.mxpz")
    whole = (tmp_path / "large.mxpz").read_bytes()
    heads, at = [], 64
    while at < len(whole):
        kind, length = struct.unpack_from("<HxxQ", whole, at + 4)
        heads += [at] if kind == 10 else []
        at += length
    assert len(heads) > 2
    lost = 0
    for head in heads:
        left = set()
        for byte in 0, 4, 8, 9, 10, 16, 24:
            damaged = bytearray(whole)
            damaged[head + byte] ^= 0x20
            (tmp_path / "damaged.mxpz").write_bytes(damaged)
            said = run("info", tmp_path / "damaged.mxpz", code=1)
            assert f"damaged at offset {head}:" in said.stderr.decode()
            left.add(int(re.search(r"records +(\d+)", said.stdout.decode()).group(1)))
        assert len(left) == 1
        lost += 200000 - left.pop()
    assert lost == 200000, "each has lost its own"


def test_a_place_that_cannot_be_written_is_an_error(sample, tmp_path):
    run("convert", sample, "-o", tmp_path / "sample.mxpz")
    for name in ("sample.mxpz", "x.json.gz"):
        assert b"cannot write" in run("convert", sample, "-o", tmp_path / "none" / name, code=1).stderr
    said = run("report", "--layout", "mxnet", tmp_path / "sample.mxpz", code=1,
               env={**os.environ, "TMPDIR": str(tmp_path / "none")}).stderr
    assert b"decompress" in said
    assert run("report", "--layout", "mxnet", tmp_path / "sample.mxpz", env={**os.environ, "TMPDIR": str(tmp_path)})
    assert not list(tmp_path.glob("mxprof-*")), "a temporary file was left behind"


def test_a_full_disk_is_an_error(sample):
    if not pathlib.Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    for kind in ("packed", "chrome"):
        assert b"No space left" in run("convert", sample, "-o", "/dev/full", "--to", kind, code=1).stderr


def test_packed_and_gzip_is_a_wrong_call(sample, tmp_path):
    assert b".gz" in run("convert", sample, "-o", tmp_path / "x.mxpz.gz", code=2).stderr
