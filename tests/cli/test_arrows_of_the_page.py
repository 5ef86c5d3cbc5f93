# SPDX-License-Identifier: Apache-2.0
"""docs/embedding.md, arrows: its lines, in a program of two threads, make an arrow from the span that hands a job over to the
one that takes it."""
import json
import os
import pathlib
import re
import subprocess

from compiled import compiled

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
PROGRAM = """
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <pthread.h>

static mxp_name name;
static const uint64_t id = 4711;

static void *take_over(void *nothing)
{
    MXP_SPAN_SCOPE("jobs", "work");
    %s
    return nothing;
}

int main(void)
{
    pthread_t worker;
    %s
    {
        MXP_SPAN_SCOPE("jobs", "ask");
        %s
    }
    pthread_create(&worker, NULL, take_over, NULL);
    pthread_join(worker, NULL);
    return 0;
}
"""


def mxprof(folder, *arguments):
    return subprocess.run([BUILD / "mxprof", *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=60).stdout


def test_an_arrow_leads_from_span_to_span(tmp_path):
    page = (SOURCE / "docs/embedding.md").read_text(encoding="utf-8")
    make, start, end = re.search(r"\*\*Arrows\*\*.*?```c\n(.*)\n(.*)\n(.*)\n```", page, re.DOTALL).groups()
    make = make.removeprefix("mxp_name ")  # both threads have it
    program = compiled(tmp_path, "jobs", PROGRAM % (end, make, start))
    subprocess.run([program], cwd=tmp_path, check=True, timeout=60,
                   env={**os.environ, "MXPROF_AUTOSTART": "1", "MXPROF_NATIVE_FILENAME": "jobs.mxp"})
    mxprof(tmp_path, "convert", "jobs.mxp", "-o", "jobs.json")
    events = json.loads((tmp_path / "jobs.json").read_text())["traceEvents"]
    spans = {event["name"]: event for event in events if event["name"] in ("ask", "work")}
    points = {event["ph"]: event for event in events if event["name"] == "hand over"}
    assert set(points) == {"s", "f"} and points["s"]["id"] == points["f"]["id"]
    for phase, span in (("s", spans["ask"]), ("f", spans["work"])):
        assert points[phase]["tid"] == span["tid"] and points[phase]["cat"] == "jobs"
        assert span["ts"] <= points[phase]["ts"] <= span["ts"] + span["dur"]
    life = json.loads(mxprof(tmp_path, "show", "--id", "4711", "--json", "jobs.mxp"))
    assert {row["name"] for row in life["rows"]} >= {"ask", "work"}
