# SPDX-License-Identifier: Apache-2.0
"""The mxprof command: each cases/NAME.cmd is a shell command, cases/NAME.expected what it prints and
its exit code. They run in a directory with the files that `inputs` writes; every byte of those is known,
so nothing but the version is masked.

scripts/update-expected cli writes the .expected files anew: read the difference before you commit it."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import native_file

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
CASES = pathlib.Path(__file__).parent / "cases"
COMMAND = BUILD / "mxprof"
EXPORTERS = [name for folder in ("src/profiler/export", "tools/export")
             for name in re.findall(r"^X\((\w+)\)", (pathlib.Path(__file__).parents[2] / folder /
                                    "exporters.def").read_text(), re.MULTILINE)]


def help_of(*arguments):
    """What --help prints; nothing where the command is not built, which a test says."""
    if not COMMAND.is_file():
        return ""
    return subprocess.run([COMMAND, *arguments, "--help"], capture_output=True, text=True,
                          check=True).stdout


def subcommands():
    """The names of all subcommands."""
    listed = re.search(r"^commands\n((?:  .*\n)*)", help_of(), re.MULTILINE)
    return re.findall(r"^  (\w+)", listed.group(1), re.MULTILINE) if listed else []


# Every subcommand that reads a file, as it is called before the file's name.
WANTS = {"show": " --from 0", "at": " -1ms"}  # what else it must be told
READERS = [name + (" -o out.mxp" if "-o, --output" in help_of(name) else WANTS.get(name, "")) for name in subcommands()
           if re.search(rf"^usage: mxprof {name} .*FILE", help_of(name), re.MULTILINE)]
# whatif prints nothing of the sample: without operators it refuses.
PRINTERS = [call for call in READERS if "-o" not in call and not call.startswith("whatif")]


def damaged_files(whole):
    """Name -> bytes: the sample cut and overwritten at places that matter."""
    sections = native_file.sample().sections()
    starts = [64]
    for _, data in sections:
        starts.append(starts[-1] + len(data))
    first_chunk_end = starts[1]
    wrong_magic = bytearray(whole)
    wrong_magic[starts[3]:starts[3] + 4] = b"oops"
    late = bytearray(whole)
    late[starts[5]:starts[5] + 4] = b"oops"
    flipped = bytearray(whole)
    flipped[starts[0] + 64 + 5] ^= 1
    endless = native_file.sample()  # a record of length 0, under a checksum that is right
    endless.add(1, native_file.words(native_file.word0("span", 0, 0), 0))
    return {
        "cut_in_header.mxp": whole[:40],
        "cut_in_chunk.mxp": whole[:first_chunk_end - 40],
        "cut_before_end.mxp": whole[:starts[-2]],
        "bad_section.mxp": bytes(wrong_magic),
        "bad_late_section.mxp": bytes(late),
        "bad_checksum.mxp": bytes(flipped),
        "bad_record.mxp": endless.to_bytes(),
    }


def inputs():
    whole = native_file.sample().to_bytes()
    newer = native_file.sample()
    files = {
        "sample.mxp": whole,
        "empty.mxp": native_file.empty().to_bytes(),
        "newer.mxp": newer.header(min_reader=99) + b"".join(data for _, data in newer.sections()),
        "text.mxp": b"this is no trace\n" * 20,
        "nothing.mxp": b"",
    }
    files.update(damaged_files(whole))
    return files


def several():
    """Two processes of one machine, the second begun two seconds later."""
    later = native_file.sample()
    later.pid = 4712
    later.begun_ns = 2_000_000_000
    return {"first.mxp": native_file.sample().to_bytes(), "second.mxp": later.to_bytes()}


@pytest.fixture
def work(tmp_path):
    for name, content in inputs().items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    (tmp_path / "several").mkdir()
    for name, content in several().items():
        (tmp_path / "several" / name).write_bytes(content)
    return tmp_path


def run_command(command, work):
    environment = dict(os.environ, PATH=f"{BUILD}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    result = subprocess.run(["sh", "-c", command], cwd=work, env=environment, capture_output=True,
                            timeout=60, check=False)
    text = result.stdout.decode()
    if result.stderr:
        text += "[stderr]\n" + result.stderr.decode()
    return text + f"[exit {result.returncode}]\n"


def mask(text):
    return re.sub(r"mxprof \d+\.\d+\.\d+", "mxprof VERSION", text)


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.cmd")))
def test_prints_what_is_expected(name, work):
    command = (CASES / f"{name}.cmd").read_text()
    expected = CASES / f"{name}.expected"
    printed = mask(run_command(command, work))
    if os.environ.get("MXPROF_UPDATE_EXPECTED") == "1":
        expected.write_text(printed)
    wanted = expected.read_text() if expected.exists() else None
    assert printed == wanted, "was that meant? scripts/update-expected cli"


def test_every_expectation_has_its_command():
    assert ({path.stem for path in CASES.glob("*.expected")} ==
            {path.stem for path in CASES.glob("*.cmd")})


def test_failure_leaves_no_file(work):
    before = sorted(path.name for path in work.iterdir())
    for command in ("mxprof convert cut_in_header.mxp -o out.json", "mxprof convert missing.mxp -o out.json",
                    "mxprof convert sample.mxp -o no/such/out.json",
                    "mxprof convert sample.mxp -o folder",
                    "ulimit -f 0; trap '' XFSZ; mxprof convert sample.mxp -o out.json"):
        assert "[exit 0]" not in run_command(command, work), command
    assert sorted(path.name for path in work.iterdir()) == before


def test_failure_keeps_what_was_there(work):
    (work / "out.json").write_text("precious")
    printed = run_command("ulimit -f 0; trap '' XFSZ; mxprof convert sample.mxp -o out.json", work)
    assert "[exit 1]" in printed
    assert (work / "out.json").read_text() == "precious"


def test_result_replaces_what_a_link_points_to(work):
    (work / "real.json").write_text("old")
    (work / "real.json").chmod(0o640)
    (work / "link.json").symlink_to("real.json")
    assert run_command("mxprof convert sample.mxp -o link.json", work) == "[exit 0]\n"
    assert (work / "link.json").is_symlink()
    assert '"traceEvents"' in (work / "real.json").read_text()
    assert (work / "real.json").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("arguments", [*[f"{call} sample.mxp" for call in PRINTERS],
                                       "report --json sample.mxp", "convert sample.mxp -o -",
                                       "--help", *[f"{name} --help" for name in subcommands()]])
def test_reader_that_goes_away_is_no_error(arguments, work):
    printed = run_command(f"{{ mxprof {arguments}; echo exit $? >&2; }} | true", work)
    # 3: the sample does not have what the command is about.
    assert re.fullmatch(r"\[stderr\]\nexit [03]\n\[exit 0\]\n", printed), printed


def test_full_device_is_an_error(work):
    for arguments in (*[f"{call} sample.mxp" for call in PRINTERS], "convert sample.mxp -o -"):
        printed = run_command(f"mxprof {arguments} > /dev/full", work)
        assert "No space left" in printed and "[exit 1]" in printed, arguments


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_exporter_is_a_format(name, work):
    assert re.search(rf"^ +{name} +\.[\w.]+ +\w", help_of("convert"), re.MULTILINE)
    assert run_command(f"mxprof convert sample.mxp -o out --to {name}", work).endswith("[exit 0]\n")
    assert (work / "out").stat().st_size > 0


def test_autostart_does_not_profile_the_command(work):
    run_command("MXNET_PROFILER_AUTOSTART=1 mxprof info sample.mxp", work)
    assert not (work / "profile.json").exists()


def test_no_cut_or_changed_byte_crashes(work):
    """A quick walk over all damage of one byte and every length; the fuzzers go further."""
    whole = native_file.sample().to_bytes()
    target = work / "hurt.mxp"
    for at in range(0, len(whole), 37):
        for content in (whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1:]):
            target.write_bytes(content)
            result = subprocess.run([COMMAND, "report", target], capture_output=True, timeout=20,
                                    check=False)
            assert result.returncode in (0, 1), (at, len(content), result.stderr)


def test_command_is_found():
    assert shutil.which(str(COMMAND)), f"{COMMAND} is missing: make build"


def other_order(whole):
    """The sample as a machine of the other byte order begins it."""
    return whole[:8] + whole[8:12][::-1] + whole[12:]


def clock_backwards():
    file = native_file.sample()
    payload = file.clock_payload()
    file.clock_payload = lambda: payload[:-8] + b"\0" * 8  # no time passes in its segment
    return file.to_bytes()


def far_away():
    file = native_file.sample()
    file.realtime_ns = 1 << 63
    file.begun_ns = 1 << 61
    return file.to_bytes()


BAD = {
    "zeros": lambda whole: b"\0" * 4096,
    "other_order": other_order,
    "clock_backwards": lambda whole: clock_backwards(),
    "header_only": lambda whole: whole[:64],
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input_is_an_error_with_its_offset(name, work):
    (work / "several" / "bad.mxp").write_bytes(BAD[name](native_file.sample().to_bytes()))
    assert len(READERS) >= 5
    for command in READERS:
        printed = run_command(f"mxprof {command} several/bad.mxp", work)
        assert "[exit 1]" in printed, command
        assert "offset" in printed or "native trace" in printed or "byte order" in printed, printed


def test_bad_file_in_a_directory_leaves_the_others(work):
    (work / "several" / "bad.mxp").write_bytes(b"\0" * 4096)
    printed = run_command("mxprof report --layout mxnet several | head -4", work)
    assert "processes  2 together" in printed and "bad.mxp" in printed


def test_gigabyte_of_zeros_is_refused_at_once(work):
    with open(work / "zeros.mxp", "wb") as file:
        file.truncate(1 << 30)
    for command in READERS:
        assert "[exit 1]" in run_command(f"mxprof {command} zeros.mxp", work)
    # Behind a header that is right, too.
    with open(work / "zeros.mxp", "r+b") as file:
        file.write(native_file.sample().to_bytes()[:64])
    for command in READERS:
        printed = run_command(f"mxprof {command} zeros.mxp", work)
        assert "[exit 1]" in printed and "offset 64" in printed, printed


def test_clocks_far_from_each_other_are_merged(work):
    (work / "several" / "far.mxp").write_bytes(far_away())
    assert "[exit 0]" in run_command("mxprof merge several -o all.json", work)
    times = [event["ts"] for event in json.loads((work / "all.json").read_text())["traceEvents"]
             if "ts" in event]
    assert min(times) >= 0


def test_every_cut_of_two_processes_is_read_as_far_as_it_goes(work):
    first, second = several().values()
    whole = first + second
    target = work / "hurt.mxp"
    for at in range(64, len(whole), 61):
        target.write_bytes(whole[:at])
        result = subprocess.run([COMMAND, "recover", target, "-o", work / "out.mxp"],
                                capture_output=True, timeout=20, check=False)
        complete = at == len(first)
        assert result.returncode == (0 if complete else 1), (at, result.stderr)
        if at > len(first):
            printed = run_command("mxprof report --layout mxnet --json out.mxp", work)
            assert json.loads(printed.rsplit("[exit", 1)[0])["Report"]["Records"] >= 37, at
