# SPDX-License-Identifier: Apache-2.0
"""docs/production.md: its commands, one block after the other in one shell, and its unit file."""
import json
import os
import pathlib
import re
import subprocess

import pytest

from compiled import compiled

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
PAGE = (SOURCE / "docs/production.md").read_text()

SERVER = """
#include <mxprof/record.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    mxp_name name = mxp_span_name("server", "request");
    int once = count > 1 && strcmp(arguments[1], "--once") == 0;
    for (int i = 0; i < (once ? 10 : 30000); i++) {
        mxp_span_end(name, mxp_span_begin(name));
        usleep(1000);
    }
    return 0;
}
"""

# What the page leaves to the reader: to wait until the file is that of the server in the background,
# and not of the one before it.
PRELUDE = """
set -e
begun() { for i in $(seq 600); do mxprof info "$1" 2> /dev/null | grep -qw "$2" && return; sleep 0.05; done; false; }
"""


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(name="work")
def fixture_work(tmp_path):
    compiled(tmp_path, "server", SERVER)
    return tmp_path


def waiting(block):
    """The block, in which a server in the background is waited for where its file is read next."""
    lines = []
    for line in block.splitlines():
        lines.append(line)
        if line.endswith("./server &"):
            name = "state/server.$!.mxp" if "%p" in line else "state/server.mxp"
            lines.append(f'begun "{name}" $!; servers="$servers $!"')
    return "\n".join(lines)


def test_the_commands_do_what_the_page_says(work):
    script = PRELUDE + "trap 'kill -9 $servers 2> /dev/null || true' EXIT\n"
    script += "\n".join(f'echo "== {i}"\n' + waiting(block) for i, block in enumerate(blocks("sh")))
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("MXPROF_", "MXNET_"))}
    environment["PATH"] = f"{BUILD}:{environment['PATH']}"
    done = subprocess.run(["bash", "-c", script], cwd=work, env=environment, capture_output=True,
                          text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    parts = done.stdout.split("== ")
    assert "request" in parts[1] and re.search(r"state/server\.\d+\.1\.mxp", parts[1])
    assert (work / "state/server.json").read_text().count('"request"') > 1
    assert "server.died." in parts[3] and "request" in parts[3]  # of the one that was killed
    assert (work / "state/last.mxp").exists() and not (work / "profile.json").exists()
    assert "secret" not in parts[6] and b"secret" not in (work / "state/quiet.mxp").read_bytes()
    assert (work / "state").stat().st_mode & 0o777 == 0o700


def test_a_program_switches_itself_on_and_off(tmp_path):
    run, stop = re.fullmatch(r"(.*mxp_session_run.*?\n)(.*)", blocks("c")[0], re.DOTALL).groups()
    program = compiled(tmp_path, "server", f"""
#include <mxprof/profiler.h>
#include <mxprof/record.h>

static void work(int n)
{{
    for (int i = 0; i < n; i++) {{
        MXP_SPAN_SCOPE("server", "request");
    }}
}}

int main(void)
{{
    work(1);
    {run}
    work(20);
    {stop}
    work(300);
    return 0;
}}
""")
    variables = dict(re.findall(r"(MXPROF_(?:STORE|FULL_POLICY|MEMORY_LIMIT_BYTES))=(\S+)", blocks("ini")[0]))
    subprocess.run([program], cwd=tmp_path, env={**os.environ, **variables, "MXPROF_NATIVE_FILENAME": "hour.mxp"}, check=True,
                   timeout=60)
    report = subprocess.run([BUILD / "mxprof", "report", "--json", "hour.mxp"], cwd=tmp_path, capture_output=True, check=True,
                            timeout=60).stdout
    assert [(span["name"], span["calls"]) for span in json.loads(report)["spans"]] == [("request", 20)]


def test_the_ring_that_holds_an_hour_is_what_the_formula_gives():
    found = re.search(r"(\d+) requests a second of (\d+) bytes are (\d+) MiB an hour and the\s+ring a third more: `\w+=(\d+)M`",
                      PAGE.replace(",", ""))
    a_second, size, held, asked = map(int, found.groups())
    assert held == round(a_second * size * 3600 / 2**20, -1)
    assert held * 4 / 3 <= asked < held * 1.5


def test_the_unit_has_variables_that_exist():
    unit, = blocks("ini")
    names = re.findall(r"\b(MXPROF_\w+)=", unit)
    keys = (SOURCE / "src/profiler/session/config/config_keys.def").read_text()
    known = set(re.findall(r'"(MXPROF_\w+)"', keys)) | {"MXPROF_AUTOSTART"}
    assert len(names) > 6 and set(names) <= known
    assert not re.search(r"(?<!%)%(?!%)", unit)  # systemd's own


def test_the_page_is_linked():
    assert "production.md" in (SOURCE / "README.md").read_text()
    assert "production.md" in (SOURCE / "docs/guide.md").read_text()
