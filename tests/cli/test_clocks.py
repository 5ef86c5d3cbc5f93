# SPDX-License-Identifier: Apache-2.0
"""A job's processes on one clock: what merge and report say of the clocks against what was put in."""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys

import native_file
import pytest
import rank_files
from rank_files import MS, S, US, Clock, Job

MXPROF = pathlib.Path(os.environ["MXPROF_BUILD"]) / "mxprof"
RUNS = 100


def mxprof(*arguments, code=0):
    result = subprocess.run([MXPROF, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                            check=False)
    assert result.returncode == code, result.stderr + result.stdout
    return result


def clocks_of(path):
    report = json.loads(mxprof("report", "--json", path).stdout)
    return {clock["process"].split(" (")[0]: clock for clock in report["clocks"]}, report["arrows"]


def ahead(job, rank, now):
    """How far the head's clock is ahead of the rank's then."""
    return job.files[0].clock.read(now) - job.files[rank].clock.read(now)


def marks(merged, tmp_path):
    """The times of all events by process and name, in ns, of a merged trace as Chrome JSON."""
    out = tmp_path / "out.json"
    mxprof("merge", merged, "-o", out)
    return json.loads(out.read_text())["traceEvents"]


def test_the_truth_is_inside_of_what_is_stated_in_100_of_100_runs(tmp_path):
    inside = 0
    for seed in range(RUNS):
        draw = random.Random(seed)
        job = Job(4, seed)
        delays = [{}, {"least_ns": 300, "spread_ns": 400}, {"spread_ns": 3 * MS}][seed % 3]
        job.exchange_all(**delays)
        if seed % 4 == 0:  # answers of one rank that are 5 ms late
            for _ in range(8):
                job.files[1].exchange(draw.randrange(job.end), 25 * US, 500, 5 * MS)
                at, low, high, kind, peer = job.files[1].cuts[-1]
                shift = job.files[0].clock.shift_ns
                job.files[1].cuts[-1] = at, low + shift, high + shift, kind, peer
        found, _ = clocks_of(job.write(tmp_path / str(seed)))
        for rank in range(1, 4):
            clock = found[f"worker {rank}"]
            truth = ahead(job, rank, 0)
            skew = (ahead(job, rank, job.end) - truth) / (job.files[rank].clock.read(job.end) -
                                                          job.files[rank].clock.read(0)) * 1e6
            doubts = clock["doubt_ns"][0] + clock["doubt_ns"][2]
            inside += (abs(clock["behind_ns"] - truth) <= clock["doubt_ns"][0] + 2 and
                       abs(clock["skew_ppm"] - skew) <= doubts / job.end * 1e6 + 0.01)
    assert inside == 3 * RUNS


def test_bounds_that_are_too_narrow_are_wrong(tmp_path):
    """What the test above is worth: with half of what the messages took left out it fails."""
    outside = 0
    for seed in range(10):
        job = Job(2, seed)
        job.exchange_all(least_ns=20 * US, spread_ns=0)
        job.files[1].cuts = [(at, low + 23 * US, high + 3 * US, kind, peer)
                             for at, low, high, kind, peer in job.files[1].cuts]
        clock = clocks_of(job.write(tmp_path / str(seed)))[0]["worker 1"]
        outside += abs(clock["behind_ns"] - ahead(job, 1, 0)) > clock["doubt_ns"][0]
    assert outside == 10


@pytest.mark.parametrize("of", ["job", "all.mxp"])
def test_events_are_on_the_heads_time(tmp_path, of):
    job = Job(3, 5)
    job.exchange_all(least_ns=2 * US, spread_ns=US)
    for rank, file in enumerate(job.files):
        file.wall_error_ns = 3 * MS * rank  # which no output may follow
    moments = [100 * MS + 150 * MS * i for i in range(10)]
    for rank, file in enumerate(job.files):
        name = file.name("mark", "app", "span")
        for now in moments:
            file.span(job.threads[rank], name, file.own(now), file.own(now + MS))
    out = tmp_path / "all.mxp"
    mxprof("merge", job.write(tmp_path / "job"), "-o", out)
    found, _ = clocks_of(out)
    events = [event for event in marks(tmp_path / of, tmp_path) if event["name"] == "mark"]
    for rank in range(3):
        doubt = max(found[f"worker {rank}"].get("doubt_ns", [0]))
        times = [event["ts"] * 1000 for event in events if event["pid"] == 1000 + rank]
        heads = [event["ts"] * 1000 for event in events if event["pid"] == 1000]
        assert len(times) == len(moments)
        assert all(abs(mine - heads_time) <= doubt + 10 for mine, heads_time in zip(times, heads))


def test_processes_of_one_machine_have_one_clock(tmp_path):
    job = Job(4, 3, machines=[0, 0, 1, 1])
    job.exchange_all()
    found, _ = clocks_of(job.write(tmp_path / "job"))
    assert [found[f"worker {rank}"]["known_by"] for rank in range(4)] == ["same", "same", "cuts", "cuts"]
    assert found["worker 2"]["cuts"] > 0 and found["worker 3"]["cuts"] == 0
    assert found["worker 2"]["behind_ns"] == found["worker 3"]["behind_ns"]


def own_exchanges(job, rank, wrong_ns=0):
    """Of a process on the head's machine: exchanges that prove 0, or wrong_ns."""
    file, head = job.files[rank], job.files[0].clock
    for now in (20 * MS, 900 * MS, job.end - 30 * MS):
        file.burst(now, job.draw, least_ns=2 * US, spread_ns=5 * US)
    file.cuts = [(at, low + head.shift_ns + wrong_ns, high + head.shift_ns + wrong_ns, kind, peer)
                 for at, low, high, kind, peer in file.cuts]


def test_exchanges_on_one_machine_hold_0(tmp_path):
    job = Job(3, 3, machines=[0, 0, 1])
    job.exchange_all()
    own_exchanges(job, 1)
    found, _ = clocks_of(job.write(tmp_path / "job"))
    assert found["worker 1"]["known_by"] == "same"
    proof = found["worker 1"]["exchanged"]
    assert proof["exchanges"] == 48 and -8 * US < proof["low_ns"] <= 0 <= proof["high_ns"] < 8 * US
    assert "exchanged" not in found["worker 0"] and "exchanged" not in found["worker 2"]
    assert "exclude 0" not in mxprof("report", tmp_path / "job").stdout


def test_a_process_that_died_in_its_first_second_refutes_nothing(tmp_path):
    """Its file has the clock of its first third of a ms alone: by 20 ns in it a second is wrong by 67 us. With that of the
    whole run the same exchanges are a proof."""
    def payload(until_ns, short_ns):
        file = job.files[1]
        points = b"".join(native_file.words(file.clock.read(now) - short, *[file.clock.read(now)] * 3, file.realtime_ns + now, 30)
                          for now, short in ((0, 0), (until_ns, short_ns)))
        rate = until_ns / (until_ns - short_ns)
        return struct.pack("=IIIIdqQ", 1, 2, 1, 0, 0, 0, 0) + points + struct.pack("=QqQ", file.origin, 0, int(rate * 2 ** 32))

    job = Job(2, 3, machines=[0, 0])
    own_exchanges(job, 1)
    job.files[1].clock_payload = lambda: payload(300 * US, 20)
    assert "exclude 0" not in mxprof("report", job.write(tmp_path / "died")).stdout
    job.files[1].clock_payload = lambda: payload(job.end, 67 * job.end // 10 ** 6)
    assert "exclude 0 by" in mxprof("report", job.write(tmp_path / "whole")).stdout


@pytest.mark.parametrize("wrong_ns", [100 * US, -100 * US])
def test_exchanges_on_one_machine_that_exclude_0_refute_the_clocks(tmp_path, wrong_ns):
    job = Job(2, 3, machines=[0, 0])
    own_exchanges(job, 1, wrong_ns)
    out = mxprof("report", job.write(tmp_path / "job")).stdout
    assert "clock of worker 1 (n0): exchanges on its own machine exclude 0 by 9" in out  # 90 to 99 us
    assert "no +- of this job holds" in out


def test_a_jump_is_told_with_its_size_and_place(tmp_path):
    clocks = [Clock(), Clock(skew=1e-5, jump_at=900 * MS, jump_ns=2_100 * MS)]
    job = Job(2, 4, clocks=clocks)
    job.exchange_all()
    out = mxprof("report", job.write(tmp_path / "job")).stdout
    assert "clock of worker 1 (n1): no line, 2 parts, jump of 2.10 s at " in out


def test_wander_stays_inside(tmp_path):
    for seed in range(10):
        job = Job(2, seed, clocks=[Clock(), Clock(shift_ns=S, skew=3e-5, wander=5e-8, period=S)])
        job.exchange_all(least_ns=300, spread_ns=200)
        clock = clocks_of(job.write(tmp_path / str(seed)))[0]["worker 1"]
        assert clock["parts"] == 1
        assert abs(clock["behind_ns"] - ahead(job, 1, 0)) <= clock["doubt_ns"][0] + 2


def test_messages_make_bounds_narrower(tmp_path):
    job = Job(2, 6)
    job.exchange_all(least_ns=500 * US, spread_ns=500 * US)
    wide = clocks_of(job.write(tmp_path / "wide"))[0]["worker 1"]
    for i in range(500):
        sent = 10 * MS + i * 3 * MS
        job.message(i % 2, 1 - i % 2, sent, sent + job.draw.randrange(5 * US, 50 * US))
    narrow, arrows = clocks_of(job.write(tmp_path / "narrow"))
    narrow = narrow["worker 1"]
    assert max(narrow["doubt_ns"]) < min(wide["doubt_ns"]) / 5
    assert abs(narrow["behind_ns"] - ahead(job, 1, 0)) <= narrow["doubt_ns"][0]
    assert arrows["checked"] == 500 and arrows["backward"] == 0


def pairs_of(path):
    """By the ranks of two workers how far they may be apart."""
    report = json.loads(mxprof("report", "--json", path).stdout)
    return {(pair["a"][7], pair["b"][7]): pair["doubt_ns"] for pair in report["pairs"]}


def test_two_that_exchange_messages_are_closer_than_their_doubts_together(tmp_path):
    for seed in range(10):
        job = Job(3, seed)
        job.exchange_all(least_ns=500 * US, spread_ns=500 * US)
        folder = tmp_path / str(seed)
        wide = pairs_of(job.write(folder / "wide"))
        for i in range(500):
            sent = 10 * MS + i * 3 * MS
            job.message(1 + i % 2, 2 - i % 2, sent, sent + job.draw.randrange(5 * US, 50 * US))
        moments = [100 * MS + 150 * MS * i for i in range(10)]
        for rank, file in enumerate(job.files):
            for now in moments:
                file.span(job.threads[rank], file.name("mark", "app", "span"), file.own(now), file.own(now + MS))
        narrow = pairs_of(job.write(folder / "narrow"))
        assert narrow["1", "2"] < wide["1", "2"] / 2 and narrow["0", "1"] == wide["0", "1"]
        mxprof("merge", folder / "narrow", "-o", folder / "all.mxp")
        events = [event for event in marks(folder / "all.mxp", folder) if event["name"] == "mark"]
        one, other = ([event["ts"] * 1000 for event in events if event["pid"] == 1000 + rank] for rank in (1, 2))
        assert len(one) == len(moments) and all(abs(a - b) <= narrow["1", "2"] + 10 for a, b in zip(one, other))


def test_an_arrow_that_would_go_backwards_is_not_drawn(tmp_path):
    job = Job(3, 7)
    job.exchange_all()
    for i in range(20):
        sent = 100 * MS + i * MS
        job.message(1, 2, sent, sent + 400 * US)
    job.message(1, 2, 500 * MS, 495 * MS)  # as a wrong clock would have it
    out = tmp_path / "all.mxp"
    result = mxprof("merge", job.write(tmp_path / "job"), "-o", out)
    assert "arrows: 21 checked, 1 would go backwards and are not drawn: at most by 5.0" in result.stdout
    assert "from worker 1 (n1) to worker 2 (n2)" in result.stdout
    events = marks(out, tmp_path)
    flows = [event for event in events if event["ph"] in "sf"]
    assert len(flows) == 40
    starts = {event["id"]: event["ts"] for event in flows if event["ph"] == "s"}
    assert all(event["ts"] >= starts[event["id"]] for event in flows if event["ph"] == "f")
    told = [event for event in events if event["name"] == "message is not drawn: it would go backwards"]
    assert sorted(event["pid"] for event in told) == [1001, 1002]


def test_without_exchanges_nothing_is_known_and_no_arrow_is_drawn(tmp_path):
    job = Job(2, 8)
    job.files[1].wall_error_ns = 3 * MS
    job.message(0, 1, 500 * MS, 501 * MS)
    out = tmp_path / "all.json"
    result = mxprof("merge", job.write(tmp_path / "job"), "-o", out)
    assert result.stdout.splitlines()[0] == (
        "clocks: of 1 of 2 processes nothing is known but the wall clock: uncertainty unknown, no arrows "
        "to them")
    assert "1 between clocks of which nothing is known are not drawn" in result.stdout
    assert not [event for event in json.loads(out.read_text())["traceEvents"] if event["ph"] in "sf"]


def test_files_of_different_jobs_are_refused(tmp_path):
    Job(2, 9, job=1).write(tmp_path / "both")
    other = Job(2, 10, job=2)
    for file in other.files:
        file.pid += 500
    other.write(tmp_path / "both")
    for command in (["merge", tmp_path / "both", "-o", tmp_path / "out.mxp"], ["report", tmp_path / "both"]):
        assert "these files are of different jobs; --force takes them together" in mxprof(
            *command, code=1).stderr
        mxprof(*command, "--force")


def test_a_test_clock_is_told_in_every_output(tmp_path):
    job = Job(2, 11)
    job.exchange_all()
    job.files[1].flags = 1
    job.write(tmp_path / "job")
    line = "clock of worker 1 (n1) is shifted by a test"
    assert line in mxprof("report", tmp_path / "job").stdout
    assert line in mxprof("merge", tmp_path / "job", "-o", tmp_path / "out.mxp").stdout
    assert line in mxprof("merge", tmp_path / "out.mxp", "-o", tmp_path / "again.mxp").stdout


def test_a_merged_file_says_the_same_again(tmp_path):
    job = Job(3, 12)
    job.exchange_all()
    first = clocks_of(job.write(tmp_path / "job"))[0]
    mxprof("merge", tmp_path / "job", "-o", tmp_path / "all.mxp")
    again = clocks_of(tmp_path / "all.mxp")[0]
    for name, clock in first.items():
        assert again[name]["known_by"] == clock["known_by"]
        if clock["known_by"] == "cuts":
            assert abs(again[name]["behind_ns"] - clock["behind_ns"]) < 100
            assert math.isclose(again[name]["skew_ppm"], clock["skew_ppm"], abs_tol=0.01)
            assert all(abs(a - b) < 100 for a, b in zip(again[name]["doubt_ns"], clock["doubt_ns"]))


def test_a_compressed_file_says_the_same(tmp_path):
    job = Job(2, 15)
    job.exchange_all()
    job.write(tmp_path / "job")
    first = clocks_of(tmp_path / "job")[0]
    (tmp_path / "packed").mkdir()
    for path in (tmp_path / "job").iterdir():
        mxprof("convert", path, "-o", tmp_path / "packed" / (path.stem + ".mxpz"))
    assert clocks_of(tmp_path / "packed")[0] == first


@pytest.mark.parametrize("cut", [(1 << 63, 5, 4, 1, 0), (0, 0, (1 << 64) - 1, 1, 0), (7, 1 << 63, 0, 9, 3),
                                 ((1 << 64) - 1,) * 3 + ((1 << 32) - 1,) * 2])
def test_cuts_that_make_no_sense_are_left_out(tmp_path, cut):
    job = Job(3, 13)
    job.exchange_all()
    job.files[1].cuts.append(cut)
    job.files[2].cuts = [cut]
    found, _ = clocks_of(job.write(tmp_path / "job"))
    truth = ahead(job, 1, 0)
    clock = found["worker 1"]
    assert clock["known_by"] == "cuts" and abs(clock["behind_ns"] - truth) <= clock["doubt_ns"][0] + 2
    assert found["worker 2"]["known_by"] == "wall"


def test_a_file_of_another_length_is_damaged_and_the_rest_is_read(tmp_path):
    job = Job(2, 14)
    job.exchange_all()
    file = job.files[1]
    file.to_bytes()
    whole = file.clock_cuts
    file.clock_cuts = whole[:-5]
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "a.mxp").write_bytes(job.files[0].to_bytes())
    (tmp_path / "job" / "b.mxp").write_bytes(native_file.NativeFile.to_bytes(file))
    result = mxprof("merge", tmp_path / "job", "-o", tmp_path / "out.mxp", code=1)
    assert "cuts of a clock that are cut short" in result.stderr


# A process of a job: number 0 answers on its standard streams, the other one asks, and tells what it knows.
PROCESS = """
import ctypes, os, struct, sys, time
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_clock_read.restype = lib.mxp_begin.restype = lib.mxp_session_get.restype = ctypes.c_uint64
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
session = ctypes.c_void_p(lib.mxp_session_get())
keys = (ctypes.c_char_p * 2)(b"native_filename", b"filename")
values = (ctypes.c_char_p * 2)(os.fsencode(sys.argv[2]), b"/dev/null")
assert lib.mxp_session_configure_pairs(session, 2, keys, values) == 0
lib.mxp_session_run(session)
name = lib.mxp_intern(b"app", b"work", 1, 0)
raw = lib.mxp_clock_read  # MXPROF_CLOCK=raw: ticks are that clock's
cuts = []
def ask():
    sent = raw()
    sys.stdout.buffer.write(b"?"); sys.stdout.buffer.flush()
    heard, answered = struct.unpack("=QQ", sys.stdin.buffer.read(16))
    back = raw()
    room = int((back - sent) * (0.5 + 2e-4)) + 2
    cuts.append(struct.pack("=QQQII", sent + (back - sent) // 2, answered - room, heard + room, 1, 0))
def answer():
    assert sys.stdin.buffer.read(1) == b"?"
    heard = raw()
    sys.stdout.buffer.write(struct.pack("=QQ", heard, raw())); sys.stdout.buffer.flush()
for burst in range(3):
    lib.mxp_end(name, ctypes.c_uint64(lib.mxp_begin(16, name)))
    for _ in range(8):
        ask() if rank else answer()
    time.sleep(0.02)
is_shifted = rank and "MXPROF_TEST_CLOCK" in os.environ
owner = struct.pack("=QIIII40s64s", 5, 1, rank, rank, 1 if is_shifted else 0, b"boot", b"n")
assert lib.mxp_clock_cuts(owner, b"".join(cuts), ctypes.c_size_t(len(cuts))) == 0
lib.mxp_session_stop(session)
assert lib.mxp_session_dump(session, 1) == 0
"""


def test_a_clock_that_is_shifted_beneath_the_library_is_found(tmp_path):
    """With real clocks, processes and files: what was put in is found within what is stated."""
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", tmp_path / "shifted.so",
                    pathlib.Path(__file__).with_name("shifted_clock.c"), "-lm"], check=True)
    library = pathlib.Path(os.environ["MXPROF_BUILD"]).resolve() / "libmxprof.so"
    draw = random.Random(17)
    for run in range(8):
        shift, skew = draw.randrange(-10 * S, 10 * S), draw.randrange(-200_000, 200_000)
        folder = tmp_path / str(run)
        folder.mkdir()
        ends = [os.pipe(), os.pipe()]
        ranks = []
        for rank in range(2):
            environment = {**os.environ, "LD_PRELOAD": str(tmp_path / "shifted.so"), "MXPROF_CLOCK": "raw",
                           "MXPROF_TEST_CLOCK": f"1:{shift}:{skew}", "OMPI_COMM_WORLD_RANK": str(rank)}
            ranks.append(subprocess.Popen(
                [sys.executable, "-c", PROCESS, library, folder / f"{rank}.mxp"], env=environment,
                stdin=ends[rank][0], stdout=ends[1 - rank][1]))
        assert [rank.wait(60) for rank in ranks] == [0, 0]
        for pair in ends:
            os.close(pair[0])
            os.close(pair[1])
        found, _ = clocks_of(folder)
        clock = found["worker 1"]
        own, _ = native_file.raw_ends(folder / "1.mxp")
        truth = (own - shift) * 1_000_000_000 // (1_000_000_000 + skew) - own
        assert clock["known_by"] == "cuts" and clock["is_test"]
        assert abs(clock["behind_ns"] - truth) <= clock["doubt_ns"][0]
        slack = (clock["doubt_ns"][0] + clock["doubt_ns"][2]) / 0.04 / S * 1e6
        assert abs(clock["skew_ppm"] + skew / 1000) <= slack + 0.1
        assert max(clock["doubt_ns"]) < 5 * MS


def test_the_generator_writes_a_job(tmp_path):
    rank_files.Job(2).write(tmp_path / "job")
    assert len(list((tmp_path / "job").iterdir())) == 2
