# SPDX-License-Identifier: Apache-2.0
"""A recording file at the process's limit of file sizes: the program lives on, and what is lost has that cause."""
import json
import os
import pathlib
import re
import resource
import subprocess

import pytest

from compiled import compiled

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SPANS = 400_000  # 16 bytes each: some 6 MB
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("MXPROF_")}  # each would be told
RECORDING = {**CLEAN, "MXPROF_AUTOSTART": "1", "MXPROF_STORE": "file", "MXPROF_NATIVE_FILENAME": "a.mxp"}
CAUSE = "file size limit (ulimit -f)"

PROGRAM = f"""
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

static void record(mxp_name name)
{{
    for (int i = 0; i < {SPANS} / 2; i++) {{
        mxp_span_end(name, mxp_span_begin(name));
    }}
}}

int main(int count, char **arguments)
{{
    mxp_name name = mxp_span_name("app", "work");
    record(name);
    if (count > 1 && strcmp(arguments[1], "lower") == 0) {{
        struct rlimit limit;
        getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = 100000;  /* less than the file has */
        setrlimit(RLIMIT_FSIZE, &limit);
    }}
    record(name);
    if (count > 1 && strcmp(arguments[1], "configure") == 0) {{
        mxp_config config;
        mxp_config_init(&config);
        mxp_session_stop(mxp_session_get());
        mxp_session_configure(mxp_session_get(), &config);  /* ends the file */
    }}
    if (count > 1 && strcmp(arguments[1], "die") == 0) {{
        raise(SIGKILL);
    }}
    return 0;
}}
"""


def recorded(folder, *arguments, limit_bytes=None, **variables):
    """What the program did, and what info says of its file."""
    program = compiled(folder, "program", PROGRAM)

    def limited():
        if limit_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    done = subprocess.run([program, *arguments], cwd=folder, env={**RECORDING, **variables}, capture_output=True,
                          text=True, timeout=60, check=False, preexec_fn=limited)
    told = subprocess.run([BUILD / "mxprof", "info", "--json", "a.mxp"], cwd=folder, capture_output=True, text=True,
                          check=True)
    return done, json.loads(told.stdout)["processes"][0]


def lost(process):
    return {loss["reason"]: loss["count"] for loss in process["losses"]}


@pytest.mark.parametrize("arguments, code", [([], 0), (["die"], -9)])
def test_the_cause_is_the_limit_however_the_program_ends(tmp_path, arguments, code):
    done, process = recorded(tmp_path, *arguments, limit_bytes=2 << 20)
    assert done.returncode == code
    assert list(lost(process)) == [CAUSE]
    assert lost(process)[CAUSE] > SPANS / 2
    assert process["threads"][0]["records"] + lost(process)[CAUSE] in range(SPANS, SPANS + 3)  # and the state's own


def test_it_is_told_once(tmp_path):
    done, _ = recorded(tmp_path, limit_bytes=2 << 20)
    assert re.fullmatch(r"mxprof: '.*/a\.mxp' cannot grow: File too large \(the process's limit, ulimit -f\); "
                        r"records that do not fit are lost, and counted\n", done.stderr)


def test_where_it_is_told_may_be_at_the_limit_too(tmp_path):
    program = compiled(tmp_path, "program", PROGRAM)
    (tmp_path / "log").write_bytes(bytes(2 << 20))  # as long as the limit allows
    done = subprocess.run(["bash", "-c", f"ulimit -f 2048; exec {program} configure 2>> log"], cwd=tmp_path,
                          env=RECORDING, timeout=60, check=False)
    assert done.returncode == 0


def test_a_limit_below_what_the_file_has_is_no_signal(tmp_path):
    done, process = recorded(tmp_path, "lower")
    assert done.returncode == 0
    assert list(lost(process)) == [CAUSE]


def test_the_limit_of_mxprof_itself_is_another_cause(tmp_path):
    done, process = recorded(tmp_path, MXPROF_MEMORY_LIMIT_BYTES=str(2 << 20))
    assert done.returncode == 0 and "cannot grow" not in done.stderr
    assert list(lost(process)) == ["memory full"]
