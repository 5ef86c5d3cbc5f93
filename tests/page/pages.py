# SPDX-License-Identifier: Apache-2.0
"""The pages that the tests of the page open: every number in them is made here.

    python pages.py DIRECTORY     writes NAME.html, NAME.json (what is in it) and NAME.sections.json of each
"""
import base64
import gzip
import json
import pathlib
import random
import struct
import sys

import page_writer as w

MS = 1_000_000
HOSTILE = ["</script><img src=x onerror=alert(1)>", "\"quoted\" 'twice'", "\u202eright\u202cto left", "a\u0000b\nc", "=1+1", "x" * 1_000_000, "\ud800half",
           "<b>bold</b> & more", "--><!--", "\u2066isolate\u2069 \ufeff"]


def documents(kinds, steps):
    """report, explain, whatif and path in the form of the command's own JSON."""
    layers = [{"scope": "net:conv1", "no_phase_ns": 0, "forward_ns": 12 * MS, "backward_ns": 24 * MS, "update_ns": 2 * MS, "communication_ns": 0, "sum_ns": 38 * MS,
               "path_ns": 36 * MS, "waited_ns": 4 * MS, "queued_ns": 0, "calls": 12},
              {"scope": "net:dense0", "no_phase_ns": 0, "forward_ns": 8 * MS, "backward_ns": 0, "update_ns": 0, "communication_ns": 0, "sum_ns": 8 * MS,
               "path_ns": 0, "waited_ns": 0, "queued_ns": 0, "calls": 4}]
    operators = [{"name": "Convolution", "category": "operator", "scope": "net:conv1", "phase": "forward", "calls": 4, "total_ns": 12 * MS, "self_ns": 12 * MS,
                  "path_ns": 12 * MS, "waited_ns": MS, "queued_ns": 0, "p50_ns": 3 * MS, "p90_ns": 3 * MS, "p99_ns": 3 * MS, "max_ns": 3 * MS, "exact": True},
                 {"name": "_backward_Convolution", "category": "operator", "scope": "net:conv1", "phase": "backward", "calls": 4, "total_ns": 24 * MS,
                  "self_ns": 24 * MS, "path_ns": 24 * MS, "waited_ns": 0, "queued_ns": 0, "p50_ns": 6 * MS, "p90_ns": 6 * MS, "p99_ns": 6 * MS,
                  "max_ns": 6 * MS, "exact": False}]
    spans = [{"name": "MXImperativeInvoke", "category": "MXNET_C_API", "calls": 8, "total_ns": 4 * MS, "self_ns": 4 * MS, "path_ns": 0, "overlaps": False,
              "p50_ns": MS // 2, "p90_ns": MS // 2, "p99_ns": MS // 2, "max_ns": MS // 2, "exact": True}]
    report = {"file": "small.mxp", "processes": [7], "chosen_steps": len(steps), "wall_ns": sum(s[3] - s[2] for s in steps), "steps": [], "layers": layers,
              "operators": operators, "spans": spans, "path": None, "quality": {"damaged": False, "records": 55, "lost": 0, "own_cost_ns": 1000}}
    cause = {"cause": "slow layer", "is_told": True, "gain_from": "path", "gain_ns": 4 * MS, "gain_low_ns": 3 * MS, "gain_high_ns": 5 * MS, "left_ns": 21 * MS,
             "is_upper_bound": True, "p": 0.01, "steps": 4, "where": [{"place": "net:conv1/_backward_Convolution", "ns": 24 * MS}], "next": "mxprof whatif small.mxp --scope net:conv1=0.5"}
    other = {**cause, "cause": "tiny operators", "is_told": False, "gain_ns": 12345, "next": "mxprof whatif small.mxp --bulk 8"}
    explain = {"processes": [{"pid": 7, "has_steps": True, "steps": 4, "mean_ns": 25 * MS, "median_ns": 24 * MS, "p90_ns": 30 * MS, "noise_ns": MS, "is_noisy": False,
                              "run_delay_share": 0.012, "is_busy": False,
                              "has_operators": True, "replay": "exact", "causes": [cause, other]}]}
    whatif = {"processes": [{"steps": 4, "recorded_mean_ns": 25 * MS, "predictions": [
        {"changes": [{"change": "scope", "of": "net:conv1", "factor": 0.5}], "mean_ns": 20 * MS, "median_ns": 20 * MS, "gain_ns": 5 * MS, "gain_low_ns": 4 * MS,
         "gain_high_ns": 6 * MS, "upper_bound": False, "model": False, "without_roof": 0, "other_operators_share_cores": False},
        {"changes": [{"change": "prefetch"}], "mean_ns": 24 * MS, "median_ns": 24 * MS, "gain_ns": MS, "gain_low_ns": 0, "gain_high_ns": 2 * MS, "upper_bound": True,
         "model": True, "without_roof": 0, "other_operators_share_cores": False}],
        "slack": [{"name": "Convolution", "scope": "net:conv1", "phase": "forward", "runs": 4, "without": 2, "least_ns": 0, "mean_ns": 2 * MS}]}]}
    path = {"processes": [{"pid": 7, "steps": 4, "total_ns": 100 * MS, "contradictions": 0,
                           "bounds_ns": {"work": 44 * MS, "workers": 1, "dependencies": 36 * MS, "program": 8 * MS},
                           "kinds_ns": {"run": 60 * MS, "call": 30 * MS, "input": 10 * MS, "memory": 0, "unknown": 0},
                           "rows": [{"what": "run", "where": "net:conv1/Convolution", "phase": "forward", "total_ns": 60 * MS, "pieces": 8, "steps": 4},
                                    {"what": "call", "where": "MXImperativeInvoke", "phase": "", "total_ns": 40 * MS, "pieces": 4, "steps": 4}], "pieces": []}]}
    told = [{"process": 0, "cause": 0, "title": "One slow layer, net:conv1", "evidence": ["36 % of the path", "forward 3 ms, backward 6 ms"],
             "next": cause["next"], "step": 2}]  # a place: the third step
    return {"report": report, "explain": explain, "whatif": whatif, "path": path, "told": told}


def small(**more):
    """Four steps of 20, 24, 24 and 32 ms: an operator thread with two rows, a thread of calls, frames, instants, memory, a counter."""
    kinds, length = w.Kinds(), 100 * MS
    conv = kinds.of("Convolution", "operator", "net:conv1", "forward")
    back = kinds.of("_backward_Convolution", "operator", "net:conv1", "backward")
    dense = kinds.of("FullyConnected", "operator", "net:dense0", "forward")
    bulk = kinds.of("ImperativeBulk", "operator", "", "backward")
    update = kinds.of("sgd_update", "operator", "net:conv1", "update")
    call = kinds.of("MXImperativeInvoke", "MXNET_C_API")
    inner = kinds.of("shape", "MXNET_C_API")
    wait = kinds.of("MXNDArrayWaitAll", "MXNET_C_API", form=w.WAIT)
    frame = kinds.of("step", "training,frame", form=w.STEP)
    mark = kinds.of("mark", "user", form=w.INSTANT)
    launch = kinds.of("launch", "ac2g", form=w.INSTANT)
    begins = [0, 20 * MS, 44 * MS, 68 * MS, 100 * MS]
    operators, calls, frames, identity = [], [], [], 10
    for i, (begin, end) in enumerate(zip(begins, begins[1:])):
        rows = [(2, 3, conv, 0), (5, 2, dense, 0), (8, 7, bulk, 0), (9, 6, back, 1)]
        if i % 2:
            rows.append((15, 1, update, 0))
        for at, duration, kind, depth in rows:
            released = identity - 1 if kind != conv else 0
            operators.append((begin + at * MS, duration * MS, kind, depth, at * MS - MS // 2, MS // 4, identity, released, 1))
            identity += 1
        calls += [(begin + MS, MS // 2, call, 0), (begin + MS + 1000, 2000, inner, 1), (begin + 4 * MS, MS // 2, call, 0), (begin + 8 * MS, end - begin - 9 * MS, wait, 0)]
        frames.append((begin, end - begin, frame, 0))
    instants = [(30 * MS, 0, mark, 0), (30 * MS + 1000, 0, mark, 0), (90 * MS, 0, mark, 0)]
    tracks = [w.Track("worker", "operators", operators, 0), w.Track("main", "calls", calls, 1), w.Track("main", "async", frames, 1),
              w.Track("main", "instants", instants, 1)]
    members, sections = w.encode(tracks, length)
    steps = [[0, i + 1, b, e, 5 * MS, 6 * MS, MS * (i % 2), 0, 0, e - b - 9 * MS, 1 | (2 if i == 0 else 0)] for i, (b, e) in enumerate(zip(begins, begins[1:]))]
    times, most = [k * 5 * MS for k in range(20)], [(10 + k % 5) * 1_000_000 + (7_654_321 if k == 7 else 0) for k in range(20)]
    sections["m"] = w.pack(20, [w.varint(w.differences(times)), w.varint(most), w.varint([9_000_000] * 20), w.varint([m // 2 for m in most]), w.varint([m // 4 for m in most])])
    values = [float(k * k) for k in range(20)]
    doubles = struct.pack("<20d", *values)
    sections["c0"] = w.pack(20, [w.varint(w.differences(times)), doubles, doubles, doubles])
    pieces = [(1, b + 2 * MS, 13 * MS, 0, 1) for b in begins[:-1]] + []
    ends = [0] + [p[1] + p[2] for p in pieces]
    sections["p"] = w.pack(len(pieces), [w.varint([p[0] for p in pieces]), w.zigzag([p[1] - e for p, e in zip(pieces, ends)]), w.varint([p[2] for p in pieces]),
                                         w.varint([p[3] for p in pieces]), w.varint([p[4] for p in pieces])])
    points = [(MS + 1000, 1, 1, 2), (3 * MS, 1, 3, 1), (21 * MS + 1000, 2, 3, 2), (22 * MS + 1000, 2, 1, 1), (40 * MS, 3, 1, 2)]  # the second ends early, the third nowhere
    sections["f"] = w.pack(len(points), [w.varint(w.differences([p[0] for p in points])), w.varint([launch] * len(points)), *(w.varint([p[i] for p in points]) for i in (1, 2, 3)),
                                         w.varint([0] * len(points))])
    gains = [(0, i, n * MS) for i, n in enumerate((5, 4, 6, 5))] + [(1, i, MS) for i in (1, 2)]
    sections["w"] = w.pack(len(gains), [w.varint([g[0] for g in gains]), w.varint([g[1] for g in gains]), w.zigzag([g[2] for g in gains])])
    texts = ["all", "net", "conv1", "forward", "Convolution"]
    sections["i"] = w.pack(5, [w.varint([0, 1, 1, 1, 1]), w.varint([0, 1, 2, 3, 4]), w.varint([0, 0, 0, 1, 1]), w.varint([0, 0, 0, 0, 60 * MS]),
                               w.varint([60 * MS] * 5), w.varint([4, 0, 0, 0, 4])])
    made = documents(kinds, steps)
    owners = ["net:conv1", "net:dense0"]
    memory = {"pid": 7, "lost": 0, "devices": [{"device": "cpu/0", "records": 20, "peak": {"bytes": max(most), "at_ns": 35 * MS, "step": 2, "block_of": "net:conv1 Convolution"},
              "owners": [{"owner": "net:conv1", "kind": "owner", "bytes": max(most) // 2, "blocks": 3, "categories": {"output": max(most) // 2}},
                         {"owner": "net:dense0", "kind": "owner", "bytes": max(most) // 4, "blocks": 1, "categories": {}}],
              "growth": {"steps": 4, "is_known": True, "grows": True, "bytes_a_step": 1000, "bytes_a_step_low": 900, "bytes_a_step_high": 1100, "owners": []}}]}
    head = w.head_of(kinds, tracks, length, title="conv1 takes 9.5 of the 25 ms of a step, most of it backward", file="small.mxp", command="mxprof view small.mxp", steps=steps,
                     cpu=[[9 * MS, 0]] * 4, texts=texts, plain="One slow layer, net:conv1\nNothing was lost", path_refused="", whatif_refused="", other="before.mxp",
                     report=made["report"], explain=made["explain"], told=made["told"], whatif=made["whatif"],
                     memory={"documents": [memory], "devices": [{"process": 0, "name": "cpu/0", "bins": 20, "peak_bytes": max(most), "peak_ns": 35 * MS, "owners": owners}]},
                     flows={"points": len(points), "left_out": 0}, counters=[{"process": 0, "name": "loss", "category": "user", "unit": 0, "bins": 20}],
                     path={"categories": ["run", "call", "input", "memory", "unknown"], "document": made["path"], "steps": [[i, 1] for i in range(4)]},
                     icicle={"nodes": 5, "steps": 4, "wall_ns": 100 * MS}, **members)
    judged = {"verdict": "slower", "before_ns": 20 * MS, "after_ns": 25 * MS, "change": 0.25, "change_low": 0.2, "change_high": 0.3, "p": 0.01, "splits": 70, "pairs": 0}
    difference = {"verdict": "slower", "at_least": 0.01, "wall": judged, "cpu": {**judged, "verdict": "none"}, "disturbed_runs": 0,
                                "differences": {"operators_a_step": {"before": 4.0, "after": 5.0}, "rows": {"before": 3, "after": 4, "common": 3}, "settings": []},
                                "path": [{"kind": "run", "scope": "net:conv1:", "name": "Convolution", "before_ns": MS, "after_ns": 3 * MS, "change_ns": 2 * MS, "adjusted_p": 0.02},
                                         {"kind": "call", "scope": "", "name": "shape", "before_ns": MS, "after_ns": 0, "change_ns": -MS, "adjusted_p": None}],
                                "slower_beside_the_path": []}
    sections["d"] = json.dumps({"diff": difference, "other": {"processes": [{"pid": 5, "steps": [[i, 20 * MS, True] for i in range(5)]}], "plain": "Nothing stands out"}}).encode()
    head.update(more)
    return head, sections, tracks


def large(seed=1, spans=60_000, kept=None):
    """Nested spans of all lengths on two threads: levels, tiles, many blocks."""
    random_ = random.Random(seed)
    kinds = w.Kinds()
    names = [kinds.of(f"op{i}", "operator", f"net:layer{i % 5}", list(w.PHASES)[i % 4]) for i in range(20)]
    length, tracks = 4_000_000_000, []
    for t in range(2):
        at, found = 0, []
        while len(found) < spans // 2:
            duration = int(10 ** random_.uniform(1, 6.2))
            at += random_.randrange(1, 60_000)
            found.append((at, duration, random_.choice(names), 0))
            if duration > 1000 and random_.random() < 0.5:
                found.append((at + duration // 4, duration // 3, random_.choice(names), 1))
            at += duration
        scale = at / (length * 0.99)
        found = [(int(b / scale), max(0, int(d / scale) - 1), k, depth) for b, d, k, depth in found]
        tracks.append(w.Track(f"thread {t}", "calls" if t else "lane", found, t))
    members, sections = w.encode(tracks, length, kept=kept)
    steps = [[0, i, i * length // 1000, (i + 1) * length // 1000, length // 4000, length // 5000, 0, 0, 0, -1, 1] for i in range(1000)]
    return w.head_of(kinds, tracks, length, title="a large one", file="large.mxp", steps=steps, report={"chosen_steps": 1000, "wall_ns": length, "layers": [], "operators": [], "spans": []}, **members), sections, tracks


def budget():
    """The large one with the classes from 2 kept in two stretches only."""
    kept = [[10**9, 12 * 10**8], [3 * 10**9, 31 * 10**8]]
    head, sections, tracks = large(kept=(2, kept))
    spans = sum(len(t.spans) for t in tracks)
    head["dropped"] = {**head["dropped"], "is_whole": False, "word": "short spans outside of two stretches only as sums", "spans": spans, "kept": kept, "full": kept,
                       "kept_spans": sum(b[2] for b in head["blocks"]), "class": 2}
    return head, sections, tracks


def hostile():
    kinds = w.Kinds()
    ids = [kinds.of(text, "operator" if i % 2 else text[:50], text[:300], "forward" if i % 2 else "") for i, text in enumerate(HOSTILE)]
    tracks = [w.Track(text[:2000], "operators" if i % 2 else "calls", [(10 + i * 100, 90, kind, 0)], -1) for i, (text, kind) in enumerate(zip(HOSTILE, ids))]
    members, sections = w.encode(tracks, 2000)
    rows = [{"name": t, "category": "operator", "scope": t, "phase": "forward", "calls": 1, "total_ns": 90, "self_ns": 90, "path_ns": 1, "p50_ns": 90, "p90_ns": 90, "p99_ns": 90, "max_ns": 90, "exact": True} for t in HOSTILE]
    layers = [{"scope": t, "no_phase_ns": 1, "forward_ns": 90, "backward_ns": 0, "update_ns": 0, "communication_ns": 0, "sum_ns": 91, "path_ns": 1, "waited_ns": 0, "calls": 1} for t in HOSTILE]
    info = [[t, t] for t in HOSTILE]
    told = [{"process": 0, "cause": 0, "title": t, "evidence": [t], "next": t, "step": -1} for t in HOSTILE[:4]]
    report = {"chosen_steps": 0, "wall_ns": 2000, "layers": layers, "operators": rows, "spans": rows, "quality": {"records": 1, "lost": 0}}
    return w.head_of(kinds, tracks, 2000, title=HOSTILE[0] + HOSTILE[2], file=HOSTILE[0], command=HOSTILE[1], report=report, told=told, plain="\n".join(HOSTILE[:5]),
                     processes=[{"pid": 1, "name": HOSTILE[0], "died": True, "info": info}], losses=[[0, -1, 100, 200, 5, HOSTILE[0]]], states=[[0, 300, 400, HOSTILE[7]]],
                     trust={"state": "bad", "word": HOSTILE[7], "rows": [[HOSTILE[0], HOSTILE[2]]]}, whatif_refused=HOSTILE[0], path_refused=HOSTILE[7], **members), sections, tracks


def unmarked():
    made = documents(None, [])
    process, = made["explain"]["processes"]
    process |= {"has_steps": False, "steps": 0, "causes": [{**process["causes"][0], "is_told": False, "steps": 1}]}
    return {"report": {**made["report"], "chosen_steps": 0, "wall_ns": 100 * MS}, "explain": made["explain"]}


def told_of_a_rank():
    made = documents(None, [])
    process, = made["explain"]["processes"]
    told, = made["told"]
    return {"explain": {"processes": [{**process, "pid": 100 + i} for i in range(3)]}, "told": [{**told, "process": 1, "step": 8}]}  # the fourth step of the second


def odd():
    """Pages with little or nothing in them."""
    kinds = w.Kinds()
    one = kinds.of("only", "user")
    lone = [w.Track("main", "calls", [(5, 1, one, 0)], 1)]
    none = [w.Track("main", "calls", [], 1)]
    for name, tracks, length, more in (("one", lone, 10, {}), ("nothing", none, 0, {}), ("no tracks", [], 0, {}),
                                       ("huge", [w.Track("main", "calls", [(0, 2**53 - 2, one, 0)], 1)], 2**53 - 1, {"begin": str(-2**63)}),
                                       ("lost", lone, 10**9, {"losses": [[0, 0, 10, 10**8, 1000, "full"], [0, -1, 2 * 10**8, 3 * 10**8, 1, "ring"]],
                                                              "states": [[0, 5 * 10**8, 6 * 10**8, "paused"]], "trust": {"state": "bad", "word": "1,001 records were lost", "rows": []}}),
                                       ("unmarked", lone, 100 * MS, unmarked()),
                                       ("many", [w.Track(f"thread {i}", "calls", [(j * 1000 + i, 500, one, 0) for j in range(5)], -1) for i in range(400)], 6000, {}),
                                       ("ranks", [w.Track("main", "calls", [(5, 100, one, 0)], i, i) for i in range(3)], 1000,
                                        {"processes": [{"pid": 100 + i, "name": f"rank {i}", "died": i == 2, "info": []} for i in range(3)],
                                         "threads": [{"process": i, "name": "main", "tid": i} for i in range(3)], **told_of_a_rank(),
                                         "steps": [[i, 10 * i + n, n * 100, n * 100 + 90 + i, 10, 10, 0, 50, 0, 0, 1] for i in range(3) for n in range(5)]})):
        members, sections = w.encode(tracks, length)
        yield name.replace(" ", "_"), (w.head_of(kinds, tracks, length, **members, **more), sections, tracks)




def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (head, sections, tracks) in {"small": small(), "large": large(), "budget": budget(), "hostile": hostile(), **dict(odd())}.items():
        (folder / f"{name}.html").write_bytes(w.page(head, sections))
        coded = {key: base64.b64encode(gzip.compress(data, 6, mtime=0)).decode() for key, data in sections.items()}
        (folder / f"{name}.sections.json").write_text(json.dumps({"head": {**head, "sizes": {k: len(v) for k, v in sections.items()}}, "sections": coded}))
        (folder / f"{name}.json").write_text(json.dumps([[s[:4] for s in t.spans] for t in tracks]))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
