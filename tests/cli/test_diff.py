# SPDX-License-Identifier: Apache-2.0
"""mxprof diff on traces whose every time is known: verdicts, exit codes, contributions that add up,
Markdown, directories, what is refused."""
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess

import pytest

import diff_runs
import native_file

COMMAND = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve() / "mxprof"
NOISE = [0.0, 0.01, -0.01, 0.02, -0.02, 0.005]


def diff(work, *arguments):
    result = subprocess.run([COMMAND, "diff", *arguments], cwd=work, capture_output=True, text=True, timeout=60,
                            env=dict(os.environ, LC_ALL="C.UTF-8"), check=False)
    return result.returncode, result.stdout, result.stderr


def compared(work, *arguments):
    code, out, err = diff(work, "--json", *arguments)
    assert out, err
    return code, json.loads(out)


@pytest.fixture
def work(tmp_path):
    """Six runs before; after, the same, a slower convolution, and a faster one."""
    diff_runs.write_side(tmp_path / "before", 1, NOISE)
    diff_runs.write_side(tmp_path / "same", 1, [share + 1e-4 for share in NOISE], first=50)
    diff_runs.write_side(tmp_path / "slower", 1.3, NOISE[::-1], first=100)
    diff_runs.write_side(tmp_path / "faster", 0.8, NOISE[::-1], first=150)
    return tmp_path


# ---- verdicts ------------------------------------------------------------------------------------
def permutation_p(a, b):
    """By all splits, with other arithmetic than the command's."""
    both = [math.log(x) for x in a + b]
    seen = abs(statistics.fmean(both[:len(a)]) - statistics.fmean(both[len(a):]))
    ways = extreme = 0
    for chosen in itertools.combinations(range(len(both)), len(a)):
        rest = [both[i] for i in range(len(both)) if i not in chosen]
        ways += 1
        extreme += abs(statistics.fmean(both[i] for i in chosen) - statistics.fmean(rest)) >= seen - 1e-12
    return extreme / ways


def test_slower_is_exit_code_1_with_its_cause(work):
    code, found = compared(work, "before", "--", "slower")
    assert code == 1
    wall = found["wall"]
    assert wall["verdict"] == found["verdict"] == "slower"
    before = [run["mean_ns"] for run in found["runs"]["before"]]
    after = [run["mean_ns"] for run in found["runs"]["after"]]
    assert wall["before_ns"] == round(statistics.fmean(before))
    assert wall["p"] == pytest.approx(permutation_p(before, after))
    assert wall["splits"] == math.comb(12, 6) and wall["all_splits"]
    assert wall["change_low"] < wall["change"] < wall["change_high"]
    told = [row["name"] for row in found["path"] if row["told"]]
    assert told == ["conv"]
    code, out, _ = diff(work, "before", "--", "slower")
    assert code == 1 and "\nslower: +2" in out


def test_faster_and_the_same_are_exit_code_0(work):
    code, found = compared(work, "before", "--", "faster")
    assert (code, found["verdict"]) == (0, "faster")
    code, found = compared(work, "before", "--", "same", "--at-least", "5%")
    assert (code, found["verdict"], found["at_least"]) == (0, "same", 0.05)
    assert [row for row in found["path"] if row["told"]] == []


def test_what_cannot_be_told_is_0_or_3(work):
    for extra in ([], ["--strict"]):
        code, found = compared(work, "before", "--", "same", *extra)
        assert found["verdict"] == "cannot tell"
        assert code == (3 if extra else 0)
    _, out, _ = diff(work, "before", "--", "same")
    smallest = re.search(r"no difference seen: \+0\.0 % .*\nA change of (\d+\.\d) % or more would have been seen", out)
    assert smallest and 0 < float(smallest.group(1)) < 6, out


def test_a_change_below_the_least_is_none(work):
    code, found = compared(work, "before", "--", "slower", "--at-least", "0.5")
    assert (code, found["verdict"]) == (0, "same")
    code, found = compared(work, "before", "--", "slower", "--at-least=20 %")
    assert (code, found["verdict"]) == (0, "cannot tell")


def test_runs_are_means_of_steps(work):
    means = diff_runs.write_side(work / "known", 1.1, [0.0, 0.03], first=300)
    _, found = compared(work, "before", "--", "known")
    assert [run["mean_ns"] for run in found["runs"]["after"]] == [round(mean) for mean in means]
    assert all(run["steps"] == 12 for run in found["runs"]["after"])


def test_one_run_a_side_has_no_verdict(work):
    for extra, expected in (([], 0), (["--strict"], 3)):
        code, out, _ = diff(work, "before/r00.mxp", "--", "slower/r00.mxp", *extra)
        assert code == expected
        assert "differences of one run cannot be told from noise" in out
        assert "conv" in out and "slower:" not in out and "p =" not in out
    code, out, _ = diff(work, "before/r00.mxp", "before/r01.mxp", "--", "slower/r00.mxp")
    assert "a test takes 4 runs a side, and 2 before and 1 after count" in out


def test_runs_in_turn_are_compared_as_pairs(work):
    # A drift of 40 % that both sides share hides 2 % from a comparison of groups.
    drift = [0.05 * i for i in range(8)]
    diff_runs.write_side(work / "a", 1, drift, first=400, stride=2)
    diff_runs.write_side(work / "b", 1.02, drift, first=401, stride=2)
    code, found = compared(work, "a", "--", "b")
    assert (code, found["verdict"], found["wall"]["pairs"]) == (1, "slower", 8)
    assert found["wall"]["splits"] == 2 ** 8 and found["wall"]["p"] == pytest.approx(2 / 2 ** 8)
    diff_runs.write_side(work / "c", 1.02, drift, first=500)
    code, found = compared(work, "a", "--", "c")
    assert (code, found["wall"]["pairs"]) == (0, 0)


def test_steps_can_be_chosen(work):
    _, found = compared(work, "before", "--", "slower", "--step", "4:7")
    assert {run["steps"] for run in found["runs"]["before"]} == {4}
    conv = next(row for row in found["path"] if (row["kind"], row["name"]) == ("run", "conv"))
    whole = compared(work, "before", "--", "slower")[1]
    of_whole = next(row for row in whole["path"] if (row["kind"], row["name"]) == ("run", "conv"))
    assert conv["before_ns"] == of_whole["before_ns"]  # steps 4 to 7 are the middle of 0 to 11
    check_sums(found)


# ---- disturbed runs ------------------------------------------------------------------------------
def test_disturbed_runs_are_left_out_unless_kept(work):
    diff_runs.write_run(work / "slower" / "x.mxp", 199, {"conv": 4}, delay_share=0.8)
    code, found = compared(work, "before", "--", "slower")
    assert (code, found["disturbed_runs"]) == (1, 1)
    assert [run["counts"] for run in found["runs"]["after"]] == [True] * 6 + [False]
    kept = compared(work, "before", "--", "slower", "--keep-disturbed")[1]
    assert kept["wall"]["after_ns"] > found["wall"]["after_ns"]
    _, out, _ = diff(work, "before", "--", "slower")
    assert "1 run was disturbed" in out and "slower/x.mxp  80 %" in out


def test_many_disturbed_runs_leave_the_cpu_time(work):
    for i in range(7):
        diff_runs.write_run(work / "before" / f"x{i}.mxp", 190 + i, {"conv": 2}, delay_share=0.7)
    code, found = compared(work, "before", "--", "slower")
    assert (code, found["verdict"], found["disturbed_runs"]) == (3, "disturbed", 7)
    assert len(found["runs"]["before"]) == 13 and all(run["counts"] for run in found["runs"]["before"])
    assert found["cpu"]["verdict"] in ("faster", "cannot tell")
    _, out, _ = diff(work, "before", "--", "slower")
    assert "No verdict on the wall time: 7 of 19 runs were disturbed (run delay above 30 % of the time)" in out
    assert compared(work, "before", "--", "slower", "--keep-disturbed")[0] in (0, 1)


def test_without_run_delay_it_says_so(work):
    diff_runs.write_side(work / "old", 1, NOISE, first=600, with_cpu=False)
    diff_runs.write_side(work / "new", 1.3, NOISE, first=650, with_cpu=False)
    code, out, _ = diff(work, "old", "--", "new")
    assert code == 1 and "Run delay is not recorded" in out and "CPU time" not in out
    assert compared(work, "old", "--", "new")[1]["cpu"] is None


# ---- contributions -------------------------------------------------------------------------------
def check_sums(found):
    rows = found["path"]
    wall = found["wall"]
    assert sum(row["before_ns"] for row in rows) == wall["before_ns"]
    assert sum(row["after_ns"] for row in rows) == wall["after_ns"]
    assert sum(row["change_ns"] for row in rows) == wall["after_ns"] - wall["before_ns"]
    assert [abs(row["change_ns"]) for row in rows] == sorted((abs(row["change_ns"]) for row in rows), reverse=True)


def test_contributions_add_up_to_the_nanosecond(work):
    for other in ("same", "slower", "faster"):
        check_sums(compared(work, "before", "--", other)[1])
    _, found = compared(work, "before/r00.mxp", "--", "slower/r03.mxp")
    check_sums(found)
    conv = next(row for row in found["path"] if (row["kind"], row["name"]) == ("run", "conv"))
    assert conv["before_ns"] == 700_000 + 550 and conv["scope"] == "net/conv"
    assert conv["after_ns"] == int(700_000 * (1.3 * (1 + NOISE[2]))) + 550
    assert found["path"][0] == conv


def test_rows_too_small_for_a_test_say_so(work):
    for side, first in (("one", 800), ("two", 850)):
        tiny = 2_000 if side == "one" else 3_000  # of 1 ms
        diff_runs.write_side(work / side, 1, NOISE, first=first, base={"conv": 900_000, "tiny": tiny})
    _, out, _ = diff(work, "one", "--", "two")
    assert re.search(r"tiny .* small$", out, re.M), out
    _, out, _ = diff(work, "one/r00.mxp", "--", "two/r00.mxp")  # where nothing is tested, all rows are alike
    assert "small" not in out


def test_new_and_gone_rows_are_rows(work):
    base = {"conv": 700_000, "dense": 200_000, "norm": 90_000}
    diff_runs.write_side(work / "more", 1, NOISE, first=700, base=base)
    _, found = compared(work, "before", "--", "more")
    check_sums(found)
    norm = next(row for row in found["path"] if (row["kind"], row["name"]) == ("run", "norm"))
    assert norm["before_ns"] == 0 and norm["told"]
    _, out, _ = diff(work, "before", "--", "more")
    assert re.search(r"^net/norm/norm .* new$", out, re.MULTILINE), out
    assert re.search(r"What differs besides times:\n {4}operators a step: 2 -> 3\n {4}net/norm/norm: 0 -> 1 calls a step", out)
    assert out.index("operators a step:") < out.index("mean a step")


# ---- what differs besides times ------------------------------------------------------------------
def test_shapes_and_settings_are_told_first(work):
    diff_runs.write_side(work / "small", 1, NOISE, first=700, info=[("run.commit", "abc"), ("host", "vm")],
                         shapes={"conv": "f32[32]"})
    diff_runs.write_side(work / "large", 1, NOISE, first=750, info=[("run.commit", "def"), ("host", "vm")])
    _, found = compared(work, "small", "--", "large")
    assert found["differences"]["settings"] == [{"key": "run.commit", "before": "abc", "after": "def"}]
    assert [row["shape"] for row in found["differences"]["shapes_a_step"]] == ["f32[32]", "f32[64]"]
    _, out, _ = diff(work, "small", "--", "large")
    assert "    net/conv/conv\n        f32[32]\n     -> f32[64]\n" in out
    assert "    run.commit: abc -> def\n" in out and out.index("run.commit") < out.index("mean a step")


def test_different_programs_are_refused(work):
    other = {"attention": 700_000, "norm": 200_000, "gelu": 100_000}
    diff_runs.write_side(work / "other", 1, NOISE, first=800, base=other)
    code, out, _ = diff(work, "before", "--", "other")
    assert code == 3 and "different programs" in out and "0 rows are common to both, of 2 before and 3 after" in out
    assert compared(work, "before", "--", "other")[1]["verdict"] == "refused"
    code, found = compared(work, "before", "--", "other", "--force")
    assert found["verdict"] in ("slower", "cannot tell") and code in (0, 1)
    check_sums(found)
    code, out, _ = diff(work, "before", "--", "other", "--markdown")
    assert code == 3 and out.startswith("**Not compared:**")


def test_without_steps_recordings_are_compared(work):
    diff_runs.write_side(work / "a", 1, NOISE, first=800, with_steps=False)
    diff_runs.write_side(work / "b", 1.3, NOISE, first=850, with_steps=False)
    code, out, _ = diff(work, "a", "--", "b")
    assert code == 1 and "No steps are marked: whole recordings are compared" in out
    check_sums(compared(work, "a", "--", "b")[1])
    assert diff(work, "before", "--", "b")[0] == 3  # steps on one side only


def test_without_steps_the_path_is_the_programs_whichever_thread_is_first(work):
    for name, worker_first in (("main", False), ("worker", True)):
        diff_runs.write_side(work / name, 1, NOISE, with_steps=False, worker_first=worker_first)
        diff_runs.write_side(work / (name + "_slower"), 1.3, NOISE, first=50, with_steps=False, worker_first=worker_first)
    found = compared(work, "worker", "--", "worker_slower")[1]
    assert found["path"] == compared(work, "main", "--", "main_slower")[1]["path"]
    assert (found["path"][0]["kind"], found["path"][0]["name"]) == ("run", "conv")


# ---- runs ----------------------------------------------------------------------------------------
def test_a_directory_is_all_runs_in_it(work):
    (work / "deep" / "one").mkdir(parents=True)
    (work / "deep" / "other").mkdir()
    for i, folder in enumerate(("one", "other")):
        (work / "deep" / folder / "run.json").write_text("{}")
        shutil.copy(work / "slower" / f"r0{i}.mxp", work / "deep" / folder / "p.mxp")
        # A process of the run that marks no steps.
        (work / "deep" / folder / "a_helper.mxp").write_bytes(native_file.empty().to_bytes())
    shutil.copy(work / "slower" / "r02.mxp", work / "deep" / "alone.mxp")
    (work / "deep" / "notes.txt").write_text("nothing")
    _, found = compared(work, "before", "--", "deep")
    assert [run["file"] for run in found["runs"]["after"]] == ["deep/alone.mxp", "deep/one", "deep/other"]
    assert [run["steps"] for run in found["runs"]["after"]] == [12, 12, 12]
    _, found = compared(work, "before", "--", "deep/one")
    assert [run["file"] for run in found["runs"]["after"]] == ["deep/one"]


def test_baseline_is_the_side_before(work):
    code, found = compared(work, "--baseline", "before", "slower")
    assert (code, len(found["runs"]["before"])) == (1, 6)
    code, found = compared(work, "slower", "--baseline=before/r00.mxp", "--baseline", "before/r01.mxp")
    assert [run["file"] for run in found["runs"]["before"]] == ["before/r00.mxp", "before/r01.mxp"]


@pytest.mark.parametrize("arguments, says", [
    ((), "which runs"),
    (("before",), "Put -- before them"),
    (("before", "--"), "which runs"),
    (("before", "--", "missing.mxp"), "cannot open 'missing.mxp'"),
    (("before", "--", "before/r00.mxp"), "are the same run"),
    (("before", "--", "empty"), "has no run in it"),
    (("--baseline", "before", "same", "--", "slower"), "not both"),
    (("--noise", "before", "--", "same"), "of the runs of one program"),
    (("before", "--", "same", "--at-least", "much"), "--at-least takes a share"),
    (("before", "--", "same", "--at-least", "-1"), "--at-least takes a share"),
    (("before", "--", "same", "--top", "0"), "--top takes a number"),
    (("before", "--", "same", "--json", "--markdown"), "exclude each other"),
    (("before", "--", "same", "--step", "slowest"), "--step takes a number or A:B here"),
    (("before", "--", "same", "--step", "x"), "--step takes a number"),
    (("before", "--", "same", "--step", "90:"), "no step that is whole"),
    (("before", "--", "same", "--srict"), "did you mean '--strict'"),
    (("before", "--", "text.mxp"), "text.mxp"),
    (("before", "--", "nothing.mxp"), "nothing is recorded"),
    (("before", "--", "lost.mxp"), "no step that is whole"),
])
def test_wrong_calls_and_unreadable_runs_are_exit_code_2(work, arguments, says):
    (work / "empty").mkdir()
    (work / "text.mxp").write_text("this is no trace\n" * 20)
    (work / "nothing.mxp").write_bytes(diff_runs.Run(1, with_steps=False).to_bytes())
    lost = diff_runs.Run(2)
    lost.step(diff_runs.BASE)
    lost.losses = [(0, 1, 7, 0, 10_000_000)]
    (work / "lost.mxp").write_bytes(lost.finish())
    code, out, err = diff(work, *arguments)
    assert code == 2 and says in err, err
    assert out == ""


def test_no_cut_or_changed_byte_crashes(work):
    whole = (work / "slower" / "r00.mxp").read_bytes()
    target = work / "hurt.mxp"
    for at in range(0, len(whole), 173):
        for content in (whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1:]):
            target.write_bytes(content)
            code, _, err = diff(work, "before/r00.mxp", "--", "hurt.mxp")
            assert code in (0, 2, 3), (at, len(content), err)


# ---- Markdown ------------------------------------------------------------------------------------
def table_of(markdown):
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_markdown_is_a_sentence_and_a_table(work):
    code, out, _ = diff(work, "before", "--", "slower", "--markdown")
    assert code == 1
    assert re.match(r"\*\*Slower: a step 0\.96 → 1\.17 ms, \+2\d\.\d %\*\* \(95 %: \+\d+\.\d % to \+\d+\.\d %\), "
                    r"p = 0\.0022, 6 v 6 runs; a change of \d\.\d % or more would have been seen\.\n", out), out
    rows = table_of(out)
    assert rows[0] == ["on the path", "before, ms", "after, ms", "change, ms", "share of it"]
    assert all(len(row) == 5 for row in rows)
    assert rows[2][0] == "`net/conv/conv`" and rows[2][3].startswith("+0.2")
    assert rows[-1][0] == "**a step**"
    shares = [int(row[4].split()[0]) for row in rows[2:-1]]
    assert abs(sum(shares) - 100) <= 2


def test_names_cannot_break_the_table(work):
    hostile = {"a|b`c*<b>\n| x |": 700_000, "dense": 200_000}
    diff_runs.write_side(work / "a", 1, NOISE, first=900, base=hostile)
    shutil.copytree(work / "a", work / "b")
    for i, path in enumerate(sorted((work / "b").iterdir())):
        diff_runs.write_run(path, 950 + i, {"a|b`c*<b>\n| x |": 2}, base=hostile)
    _, out, _ = diff(work, "a", "--", "b", "--markdown")
    rows = table_of(out)
    assert all(len(row) == 5 for row in rows), out
    assert r"a\|b'c*<b> \| x \|" in rows[2][0] and rows[2][0].count("`") == 2


def test_markdown_without_a_cause_says_so(work):
    _, out, _ = diff(work, "before", "--", "same", "--markdown")
    assert out.startswith("**No difference seen: a step ")
    assert "None of the path's" in out and "stands out from the noise" in out and "|" not in out


# ---- noise ---------------------------------------------------------------------------------------
def test_noise_is_that_of_the_runs(work):
    code, found = compared(work, "--noise", "before")
    assert code == 0 and found["runs"] == 6
    means = [run["mean_ns"] for run in compared(work, "before", "--", "same")[1]["runs"]["before"]]
    logs = [math.log(mean) for mean in means]
    deviation = statistics.stdev(logs)
    assert found["wall"]["mean_ns"] == pytest.approx(statistics.fmean(means), abs=1)
    assert found["wall"]["between_runs"] == pytest.approx(math.expm1(deviation), rel=1e-5)
    quantiles = {"3": (4, 2.776445105, 0.940964), "5": (8, 2.306004135, 0.888890), "10": (18, 2.100922040, 0.862049),
                 "20": (38, 2.024394164, 0.851178)}  # t(0.975) and t(0.8) by a table
    for size, (_, upper, lower) in quantiles.items():
        expected = math.expm1((upper + lower) * deviation * math.sqrt(2 / int(size)))
        assert found["wall"]["smallest_change_seen"][size] == pytest.approx(expected, rel=1e-4)
    assert found["wall"]["lag_1"] > 0.5  # each step is longer than the one before
    _, out, _ = diff(work, "--noise", "before")
    assert "runs' spread" in out and "5 v 5" in out


def test_runs_of_two_programs_have_no_noise(work):
    diff_runs.write_side(work / "others", 1, NOISE, first=900, base={"sort": 10_000_000, "merge": 200_000})
    runs = ("before/r00.mxp", "others/r00.mxp")
    for extra in ([], ["--json"]):
        code, out, err = diff(work, "--noise", *runs, *extra)
        assert code == 3 and out == "" and "are runs of different programs" in err and runs[1] in err
    assert diff(work, "--noise", *runs, "--force")[0] == 0


def test_noise_of_one_run_says_what_it_can(work):
    code, found = compared(work, "--noise", "before/r00.mxp")
    assert code == 0 and found["wall"]["between_runs"] is None and found["wall"]["within_a_run"] > 0
    assert diff(work, "--noise", "before/r00.mxp")[0] == 0


# ---- other profilers' traces ---------------------------------------------------------------------
def test_imported_traces_are_compared_by_the_spans_of_a_thread(work):
    def trace(load_us, work_us, at=0):
        events = []
        for i in range(5):
            start = 1000 + i * 1000
            events += [{"ph": "X", "pid": 1, "tid": 1, "ts": start, "dur": load_us + work_us + 10, "name": "step"},
                       {"ph": "X", "pid": 1, "tid": 1, "ts": start, "dur": load_us, "name": "load"},
                       {"ph": "X", "pid": 1, "tid": 1, "ts": start + load_us, "dur": work_us, "name": "work"}]
        return json.dumps({"traceEvents": events, "at": at})
    for i in range(4):
        (work / f"a{i}.json").write_text(trace(100 + i, 300))
        (work / f"b{i}.json").write_text(trace(100 + i, 500))
    code, found = compared(work, *[f"a{i}.json" for i in range(4)], "--", *[f"b{i}.json" for i in range(4)])
    assert found["verdict"] in ("slower", "same", "cannot tell") and code in (0, 1)
    check_sums(found)
    work_row = next(row for row in found["path"] if row["name"] == "work")
    assert work_row["change_ns"] == 5 * 200_000
    _, out, _ = diff(work, "a0.json", "--", "b0.json")
    assert "on the steps' thread" in out


# ---- traces that are not as one would wish -------------------------------------------------------
def test_of_several_processes_the_one_with_most_steps_counts(work):
    folder = work / "run"
    diff_runs.write_run(folder / "a.mxp", 500, {}, steps=5)
    diff_runs.write_run(folder / "b.mxp", 501, {}, steps=9)
    diff_runs.write_run(folder / "c.mxp", 502, {}, steps=3, with_steps=False)
    (folder / "run.json").write_text("{}")
    _, out, err = diff(work, "before/r00.mxp", "--", "run", "--json")
    assert [run["steps"] for run in json.loads(out)["runs"]["after"]] == [9]
    assert "note: 2 processes of 'run' mark steps; process 601 has most, and counts" in err


def test_marks_of_other_threads_are_told(work):
    run = diff_runs.Run(7)
    for _ in range(6):
        run.step(diff_runs.BASE)
    run.meta(run.worker, "step", run.at - 10_000, value=1)
    (work / "mixed.mxp").write_bytes(run.finish())
    _, out, _ = diff(work, "before/r00.mxp", "--", "mixed.mxp")
    assert "1 mark of a step is another thread's, and left out." in out


def test_damage_is_told_and_the_rest_compared(work):
    whole = bytearray((work / "slower" / "r00.mxp").read_bytes())
    whole[64 + 64 + 40] ^= 1  # in the first chunk, whose checksum is wrong then
    (work / "hurt.mxp").write_bytes(bytes(whole))
    code, out, err = diff(work, "before/r00.mxp", "--", "hurt.mxp")
    assert "damaged" in err and code in (0, 2, 3), err


def test_steps_of_torch_profiler_are_steps(work):
    def trace(matmul_us):
        events = []
        for i in range(6):
            start = 1000 + i * 900
            events += [{"ph": "X", "pid": 1, "tid": 1, "ts": start, "dur": 800, "cat": "user_annotation",
                        "name": f"ProfilerStep#{i}"},
                       {"ph": "X", "pid": 1, "tid": 1, "ts": start + 10, "dur": matmul_us, "cat": "cpu_op",
                        "name": "aten::mm"}]
        return json.dumps({"schemaVersion": 1, "traceEvents": events})
    for i in range(4):
        (work / f"a{i}.json").write_text(trace(300 + i))
        (work / f"b{i}.json").write_text(trace(500 + i))
    _, found = compared(work, *[f"a{i}.json" for i in range(4)], "--", *[f"b{i}.json" for i in range(4)])
    check_sums(found)
    assert found["runs"]["before"][0]["steps"] in (5, 6)  # the last one may have no end
    row = next(row for row in found["path"] if row["name"] == "aten::mm")
    assert row["change_ns"] == 200_000 and row["told"]
