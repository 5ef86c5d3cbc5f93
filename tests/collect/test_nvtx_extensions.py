# SPDX-License-Identifier: Apache-2.0
"""The NVTX injection's rarer marks: payloads by schemas, counters, resources, waits; Nvidia's own headers."""
import glob
import pathlib

import pytest

from recorded import Recorded, compiled

HERE = pathlib.Path(__file__).parent


@pytest.fixture(name="program", scope="module")
def extensions_program(tmp_path_factory):
    return compiled(HERE / "nvtx_extensions_program.c", tmp_path_factory.mktemp("nvtx") / "nvtx_extensions_program")


@pytest.fixture(name="run")
def run_of(program, tmp_path):
    return lambda part, **settings: Recorded([program, part], "NVTX_INJECTION64_PATH", tmp_path, **settings)


WORK = {"count": 2, "mode": "exact", "at.x": 0.5, "at.y": -1, "label": "abcdefg", "file": "a.bin", "sizes[0]": 7,
        "sizes[1]": 8, "sizes[2]": 9, "list[0]": -5, "list[1]": 6, "handle": "registered"}


def test_payloads_are_an_argument_for_each_entry_of_their_schema(run):
    recorded = run("payloads")
    assert recorded.only("extended")["args"] == WORK
    moment, range_ = sorted((event for event in recorded.events if event["name"] == "payload" and event["ph"] in "BX"),
                            key=lambda event: len(event.get("args", {})))
    assert range_["args"] == {"payload[0]": 1, "payload[1]": -2, "payload": 1}
    assert moment["dur"] == 0 and "args" not in moment  # of a schema that nobody knows
    begin, end = (recorded.only("payload", phase) for phase in "be")
    assert {**begin.get("args", {}), **end.get("args", {})} == {"id": 1, **WORK, "payload[0]": 1, "payload[1]": -2}
    assert recorded.only("named by its payload")["args"] == {"what": "named by its payload"}
    assert recorded.foreign() == 0


def test_counters_have_one_number_or_those_of_a_structure(run):
    recorded = run("counters")
    values = [(event["name"].rpartition("/")[2], *event["args"].values()) for event in recorded.events
              if event["ph"] == "C"]
    assert values == [("depth", 3), ("load", 0.25), ("point.x", 1.5), ("point.y", 2), ("depth", -4)]
    assert recorded.foreign() == 1


def test_resources_name_threads_and_waits_for_objects_are_spans(run):
    recorded = run("objects")
    assert "by resource" in recorded.threads
    waits = [(event["name"], event["args"]) for event in recorded.events if event.get("cat") == "sync"]
    about = {"object": "queue", "type": "data"}
    assert waits == [("wait", about), ("wait", about), ("wait cancelled", about)]
    assert recorded.foreign() == 2


def test_marks_with_a_payload_keep_it_and_foreign_handles_are_no_handles(run):
    recorded = run("marks")
    assert recorded.only("mark", "i")["cat"] == "data"
    assert recorded.only("mark")["args"] == {"argb": 0, "payload": 8} and recorded.only("mark")["dur"] == 0
    assert recorded.only("(null)", "i")["cat"] == "NVTX"


HEADERS = """
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtCounters.h>
typedef struct step { int number; double loss; } step;
int main(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("headers");
    const nvtxPayloadSchemaEntry_t entries[] = {
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "number", NULL, 0, 0, NULL, NULL},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "loss", NULL, 0, 8, NULL, NULL}};
    const nvtxPayloadSchemaAttr_t schema = {
        .fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
        .type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, .entries = entries, .numEntries = 2,
        .payloadStaticSize = sizeof(step)};
    const uint64_t id = nvtxPayloadSchemaRegister(domain, &schema);
    nvtxCounterAttr_t attributes = {.structSize = sizeof attributes, .schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64,
                                    .name = "queue"};
    const uint64_t counter = nvtxCounterRegister(domain, &attributes);
    for (int i = 0; i < 50; i++) {
        const step now = {i, 0.5};
        const nvtxPayloadData_t payload = {id, sizeof now, &now};
        nvtxRangePushPayload(domain, &payload, 1);
        nvtxCounterSampleInt64(domain, counter, i);
        nvtxRangePushA("inside");
        nvtxRangePop();
        nvtxRangePop();
        nvtxDomainRangePop(domain);
    }
    return 0;
}
"""


def header_folders():
    return [pathlib.Path(found).parents[1] for found in
            sorted(glob.glob("/usr/local/cuda*/include/nvtx3/nvToolsExtCounters.h") +
                   glob.glob("/usr/include/nvtx3/nvToolsExtCounters.h"))]


@pytest.mark.skipif(not header_folders(), reason="no NVTX headers with extensions: they come with CUDA 12.9 and later")
def test_a_program_on_nvidias_own_headers_with_extensions(tmp_path):
    (tmp_path / "headers.c").write_text(HEADERS)
    program = compiled(tmp_path / "headers.c", tmp_path / "headers", "-isystem", header_folders()[-1])
    (tmp_path / "run").mkdir()
    recorded = Recorded([program], "NVTX_INJECTION64_PATH", tmp_path / "run")
    assert recorded.counts() == {("headers", "payload"): 50, ("NVTX", "inside"): 50}
    assert sorted(event["args"]["number"] for event in recorded.events if event["name"] == "payload") == \
        list(range(50))
    assert sum(event["ph"] == "C" for event in recorded.events) == 50 and recorded.foreign() == 50
