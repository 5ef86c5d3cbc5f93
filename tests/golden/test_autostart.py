# SPDX-License-Identifier: Apache-2.0
"""MXNET_PROFILER_AUTOSTART and MXNET_PROFILER_MODE on programs that know nothing of the profiler, and
what the environment's MXPROF_ variables change."""
import pytest

from harness import run_program, trace_items

IGNORED = "mxprof: MXNET_PROFILER_AUTOSTART='{}' is ignored: set it to 0, 1, true or false"
PROGRAM = "work(); L.MXSetProfilerScope(b'a:')"


def names(path):
    return sorted(item["name"] for item in trace_items(path) if item["ph"] in "bX")


@pytest.mark.parametrize("value", ("1", "true", "True", "TRUE"))
def test_on(value, tmp_path):
    result = run_program(PROGRAM, tmp_path, {"MXNET_PROFILER_AUTOSTART": value})
    assert (result.code, result.stderr) == (0, "")
    assert names(tmp_path / "profile.json") == ["MXSetProfilerScope", "step", "work 1"]


@pytest.mark.parametrize("value", ("", "0", "false", "False"))
def test_off(value, tmp_path):
    result = run_program(PROGRAM, tmp_path, {"MXNET_PROFILER_AUTOSTART": value})
    assert (result.code, result.stderr, list(tmp_path.iterdir())) == (0, "", [])


@pytest.mark.parametrize("value", ("yes", "2", "1 "))
def test_others_warn_once_and_stay_off(value, tmp_path):
    result = run_program(PROGRAM, tmp_path, {"MXNET_PROFILER_AUTOSTART": value})
    assert (result.code, list(tmp_path.iterdir())) == (0, [])
    assert result.stderr.splitlines() == [IGNORED.format(value)]


@pytest.mark.parametrize("mode, api", (("15", True), ("13", True), ("4", True), ("11", False),
                                       ("0", False), ("", True)))
def test_mode_chooses_classes(mode, api, tmp_path):
    run_program(PROGRAM, tmp_path, {"MXNET_PROFILER_AUTOSTART": "1", "MXNET_PROFILER_MODE": mode})
    assert ("MXSetProfilerScope" in names(tmp_path / "profile.json")) == api


def test_mode_holds_without_autostart_until_the_first_config(tmp_path):
    source = "set_state('run'); L.MXSetProfilerScope(b'a:'); set_state('stop'); dump()\n" \
        "set_config(filename='t.json'); set_state('run'); L.MXSetProfilerScope(b'a:')"
    run_program(source, tmp_path, {"MXNET_PROFILER_MODE": "3"})
    assert names(tmp_path / "profile.json") == []
    assert names(tmp_path / "t.json") == ["MXSetProfilerScope"]


@pytest.mark.parametrize("mode", ("16", "-1", "all"))
def test_bad_mode_warns_and_takes_all(mode, tmp_path):
    result = run_program(PROGRAM, tmp_path,
                         {"MXNET_PROFILER_AUTOSTART": "1", "MXNET_PROFILER_MODE": mode})
    assert result.stderr.startswith(f"mxprof: MXNET_PROFILER_MODE='{mode}' is ignored")
    assert "MXSetProfilerScope" in names(tmp_path / "profile.json")


def test_records_of_atexit_handlers_are_in(tmp_path):
    run_program("import atexit; atexit.register(work)", tmp_path, {"MXNET_PROFILER_AUTOSTART": "1"})
    assert names(tmp_path / "profile.json") == ["step", "work 1"]


def test_a_dump_is_not_repeated_at_exit(tmp_path):
    run_program("work(); dump(); os.rename('profile.json', 'mine.json')", tmp_path,
                {"MXNET_PROFILER_AUTOSTART": "1"})
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]


def test_a_forked_child_leaves_the_file_to_its_parent(tmp_path):
    source = "work(); pid = os.fork()\nif pid == 0:\n    work(); sys.exit(0)\n" \
        "os.waitpid(pid, 0); say(os.listdir('.')); work()"
    result = run_program(source, tmp_path, {"MXNET_PROFILER_AUTOSTART": "1"})
    assert result.lines == ["[]"]
    assert names(tmp_path / "profile.json") == ["step", "step", "work 1", "work 2"]


def test_an_unwritable_place_is_reported_at_exit(tmp_path):
    result = run_program("run(filename='no/such/dir.json')", tmp_path)
    assert result.code == 0
    first, last = result.stderr.splitlines()
    assert first.endswith("no/such/dir.json': there is no such folder")
    assert last.startswith("mxprof: the profile could not be written at exit: ") and "dir.json" in last


def test_environment_gives_defaults(tmp_path):
    source = "run(); work(); set_state('stop'); dump(); say(sorted(os.listdir('.')))\n" \
        "config(native_filename='own.mxp'); set_state('run'); dump(); say(sorted(os.listdir('.')))"
    result = run_program(source, tmp_path, {"MXPROF_NATIVE_FILENAME": "env.mxp"})
    assert result.lines == ["['env.mxp', 't.json']", "['env.mxp', 'own.mxp', 't.json']"]
    result = run_program("say(outcome(config))", tmp_path, {"MXPROF_STORE": "ring"})
    assert result.lines == ["ok"]  # a wrong value is told, and its default taken
    assert "MXPROF_STORE" in result.stderr and "valid values are: {'file', 'memory'}" in result.stderr


def test_statistics_only_keeps_the_table_and_no_trace(tmp_path):
    source = "run(); work(); set_state('stop'); dump(); say(works()); say('work 1' in dumps())"
    result = run_program(source, tmp_path, {"MXPROF_STATISTICS_ONLY": "1"})
    assert result.lines == ["[]", "True"]
