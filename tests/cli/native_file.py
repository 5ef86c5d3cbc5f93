# SPDX-License-Identifier: Apache-2.0
"""Writes native files (*.mxp) as docs/format.md describes them, with every byte known: what the
command prints of them is the same on every machine. Written from the description, not from the
library's writer, so that the two check each other."""
import struct

KIND = {"span": 1, "span_long": 2, "operator": 3, "variables": 4, "counter": 5, "memory": 6,
        "instant": 7, "flow": 8, "meta": 9, "wait": 10}
STYLE = {"none": 0, "span": 1, "async": 2, "counter": 3, "instant": 4, "flow": 5, "scope": 6}
SECTION = {"chunk": 1, "names": 2, "threads": 3, "clock": 4, "loss": 5, "info": 6, "stats": 7,
           "end": 8, "clock_cut": 13}
META = {"scope_push": 1, "scope_pop": 2, "step": 3, "state": 4, "thread_name": 5, "step_cpu": 6, "step_end": 7}
MAGIC = b"\x89MXP\r\n\x1a\n"
MASK = (1 << 64) - 1
K0, K1 = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03


def rotl(value, bits):
    return (value << bits | value >> 64 - bits) & MASK


def checksum(data):
    lanes = [K0 * (i + 1) & MASK for i in range(4)]
    filled = data.ljust((len(data) + 31) // 32 * 32, b"\0")
    for index, (word,) in enumerate(struct.iter_unpack("<Q", filled)):
        lanes[index % 4] = rotl(lanes[index % 4] ^ word * K0 & MASK, 29) * K1 & MASK
    total = len(data) * K0 & MASK
    for lane in lanes:
        total = rotl(total ^ (lane ^ lane >> 32) * K0 & MASK, 27) * K1 & MASK
    total = (total ^ total >> 32) * K0 & MASK
    return total ^ total >> 29


def word0(kind, units, ticks):
    return KIND[kind] | units << 8 | (ticks & (1 << 48) - 1) << 16


def words(*values):
    return struct.pack(f"={len(values)}Q", *values)


def sections(path, wanted):
    """Contents of a file's sections of this type, oldest first. Room that is not used yet, as a file has that is
    still recorded, is passed over."""
    data, at = path.read_bytes(), 64
    while at + 32 <= len(data):
        magic, kind, _, length, _, payload = struct.unpack_from("=IHHQQQ", data, at)
        if magic != 0x5350584D or length < 32:
            at += 16
            continue
        if kind == SECTION[wanted]:
            yield data[at + 32:at + 32 + payload]
        at += length


def raw_ends(path):
    """CLOCK_MONOTONIC_RAW at the first and the last point of a file."""
    clocks = list(sections(path, "clock"))
    counts = [struct.unpack_from("=I", clock, 4)[0] for clock in clocks]
    points = [struct.unpack_from("=Q", clock, 40 + 48 * i + 16)[0]
              for clock, count in zip(clocks, counts) for i in range(count)]
    return [points[0], points[-1]]


class NativeFile:
    """One tick is one nanosecond; trace time begins at tick `origin`."""

    def __init__(self, pid=4711, origin=1000, realtime_ns=1_700_000_000_000_000_000):
        self.pid = pid
        self.origin = origin
        self.realtime_ns = realtime_ns
        self.begun_ns = 0  # since the machine was started and some
        self.names = [(0, "none", 0, b""), (0, "none", 0, b"<names full>")]
        self.threads = []
        self.chunks = []
        self.losses = []
        self.info = []
        self.stats = []
        self.clock_cuts = None  # content of the section, if there is one

    # ---- names and threads
    def name(self, text, category="", style="none", unit=0):
        entry_category = self.name(category) if isinstance(category, str) and category else category
        raw = text if isinstance(text, bytes) else text.encode()
        entry = (entry_category or 0, style, unit, raw)
        if entry not in self.names:
            self.names.append(entry)
        return self.names.index(entry)

    def thread(self, name, start=0, end=0, lost=0):
        self.threads.append({"name": self.name(name), "start": start, "end": end, "lost": lost,
                             "records": 0, "bytes": b""})
        return len(self.threads) - 1

    def add(self, thread, record):
        self.threads[thread]["records"] += 1
        self.threads[thread]["bytes"] += record

    # ---- records, in trace time
    def span(self, thread, name, begin, end):
        self.add(thread, words(word0("span", 1, self.origin + begin), name | (end - begin) << 32))

    def span_long(self, thread, name, begin, end, flags=0):
        self.add(thread, words(word0("span_long", 3, self.origin + begin), name | flags << 32,
                               end - begin, self.origin + begin, 0, 0))

    def span_on(self, thread, name, begin, end, lane=0, scope=0, clock=0, context=0, args=()):
        """With all that a long span may have. `args`: (key, type, value); the value of a text is bytes."""
        listed, texts = b"", b""
        for key, kind, value in args:
            if kind == 5:
                at = (6 + 2 * len(args)) * 8 + len(texts)
                listed += words(key | kind << 32 | len(value) << 40, at | len(value) << 32)
                texts += value.ljust((len(value) + 7) // 8 * 8, b"\0")
            else:
                listed += words(key | kind << 32, value & MASK)
        body = (listed + texts).ljust((len(listed + texts) + 15) // 16 * 16, b"\0")
        times = (begin, end - begin) if clock else (self.origin + begin, end - begin)
        self.add(thread, words(word0("span_long", 3 + len(body) // 16, times[0]),
                               name | len(args) << 48 | clock << 56, times[1], times[0], lane | scope << 32,
                               context) + body)

    def counter(self, thread, name, at, value):
        self.add(thread, words(word0("counter", 2, self.origin + at), name | 1 << 32, value, 0))

    def instant(self, thread, name, at, scope=2):
        self.add(thread, words(word0("instant", 1, self.origin + at), name | scope << 32))

    def flow(self, thread, name, at, phase, flow_id, lane=0):
        self.add(thread, words(word0("flow", 2, self.origin + at), name | phase << 32, flow_id, lane))

    def operator(self, thread, name, begin, end, op_id, push=None, pusher=None, phase=0, scope=0,
                 released_by=0):
        """On cpu/0, pushed by `pusher` at `push` and ready at its begin."""
        pushed = begin - (begin if push is None else push)
        pusher = thread if pusher is None else pusher
        self.add(thread, words(word0("operator", 4, self.origin + begin), name | op_id << 32,
                               end - begin | phase << 48, pushed | pusher << 48, 0, released_by, scope, 0))

    def wait(self, thread, name, begin, end, op_id, what=1, flags=1):
        self.add(thread, words(word0("wait", 2, self.origin + begin), name | op_id << 32,
                               end - begin | what << 48 | flags << 52, 0))

    def meta(self, thread, what, at, name=0, value=0, second=0):
        self.add(thread, words(word0("meta", 2, self.origin + at), name | META[what] << 32,
                               value, second))

    # ---- the file
    def section(self, kind, payload, head=b""):
        length = (32 + len(head) + len(payload) + 15) // 16 * 16
        def packed(total):
            fields = struct.pack("=IHHQQQ", 0x5350584D, SECTION[kind], 1, length, total, len(payload))
            return (fields + head + payload).ljust(length, b"\0")
        return packed(checksum(packed(0)))

    def chunk_sections(self):
        for index, thread in enumerate(self.threads):
            if thread["bytes"]:
                head = struct.pack("=IIQQQ", index, 0, self.origin, 0, 0)
                yield self.section("chunk", thread["bytes"], head)

    def names_payload(self):
        payload = bytearray(struct.pack("=II", 0, len(self.names)))
        for category, style, unit, raw in self.names:
            payload += struct.pack("=IBBHI", category, STYLE[style], unit, 0, len(raw)) + raw + b"\0"
            payload += b"\0" * (-len(payload) % 4)
        return bytes(payload)

    def threads_payload(self):
        return b"".join(struct.pack("=IIQQQQII", index, 5000 + index, self.origin + thread["start"],
                                    self.origin + thread["end"] if thread["end"] else 0,
                                    thread["records"], thread["lost"], thread["name"], 0)
                        for index, thread in enumerate(self.threads))

    def clock_payload(self):
        points = b""
        for ns in (0, 10_000_000_000):
            since = self.begun_ns + ns
            points += words(self.origin + ns, 5_000 + since, 5_000 + since, 5_000 + since,
                            self.realtime_ns + since, 20)
        segment = struct.pack("=QqQ", self.origin, 0, 1 << 32)
        return struct.pack("=IIIIdqQ", 1, 2, 1, 0, 3.5, 0, 0) + points + segment

    def loss_payload(self):
        return b"".join(struct.pack("=IIQQQ", thread, reason, count, self.origin + begin,
                                    self.origin + end)
                        for thread, reason, count, begin, end in self.losses)

    def info_payload(self):
        payload = b""
        for key, value in self.info:
            payload += struct.pack("=II", len(key.encode()), len(value.encode()))
            payload += key.encode() + b"\0" + value.encode() + b"\0"
            payload += b"\0" * (-len(payload) % 4)
        return payload

    def sections(self):
        """All sections in the order of the file, as (kind, bytes)."""
        result = [("chunk", data) for data in self.chunk_sections()]
        result.append(("names", self.section("names", self.names_payload())))
        result.append(("threads", self.section("threads", self.threads_payload())))
        result.append(("clock", self.section("clock", self.clock_payload())))
        if self.clock_cuts is not None:
            result.append(("clock_cut", self.section("clock_cut", self.clock_cuts)))
        if self.losses:
            result.append(("loss", self.section("loss", self.loss_payload())))
        if self.info:
            result.append(("info", self.section("info", self.info_payload())))
        size = sum(len(thread["bytes"]) for thread in self.threads)
        result.append(("end", self.section("end", struct.pack("=QQ", len(result), size))))
        return result

    def header(self, min_reader=1):
        fields = struct.pack("=8sIHHIIQII", MAGIC, 0x01020304, 1, min_reader, 64, 0,
                             self.realtime_ns, self.pid, 8)
        return fields + struct.pack("=3Q", checksum(fields), 0, 0)

    def to_bytes(self):
        return self.header() + b"".join(data for _, data in self.sections())


def sample():
    """What most cases read: two threads, nested spans, tasks, frames, counters, marks, scopes, steps,
    losses. Times are chosen so that every sort order differs."""
    ms = 1_000_000
    file = NativeFile()
    main, helper = file.thread("main", end=9600 * ms), file.thread("helper \"one\"", start=10 * ms)
    work = file.name("work", "app", "span")
    load = file.name("load", "app", "span")
    flush = file.name("flush", "app", "span")
    task = file.name("task", "Dom", "async")
    frame = file.name("picture", "Dom,frame", "async")
    queue = file.name("queue", "Dom", "counter")
    mark = file.name("half way", "Dom,instant_marker", "instant")
    layer = file.name("layer", 0, "scope")
    inner = file.name("inner", layer, "scope")
    file.meta(main, "state", 0, value=1)
    for step in range(3):
        begin = (100 + step * 1000) * ms
        file.meta(main, "step", begin, value=step)
        file.meta(main, "scope_push", begin, name=layer)
        file.span(main, load, begin + 10 * ms, begin + (20 + step) * ms)
        file.meta(main, "scope_push", begin + 30 * ms, name=inner)
        file.counter(main, queue, begin + 40 * ms, 10 * (step + 1))
        file.span(main, work, begin + 50 * ms, begin + 250 * ms)
        file.meta(main, "scope_pop", begin + 260 * ms, name=inner)
        file.meta(main, "scope_pop", begin + 270 * ms, name=layer)
        file.span(main, frame, begin + 5 * ms, begin + 500 * ms)
    file.span_long(main, flush, 3200 * ms, 9200 * ms)
    file.instant(main, mark, 9300 * ms)
    file.span_long(main, work, 9400 * ms, 9500 * ms, flags=2)
    file.meta(main, "state", 9500 * ms, value=0)
    for i in range(5):
        file.span(helper, task, (200 + i * 100) * ms, (250 + i * 110) * ms)
    file.threads[helper]["lost"] = 7
    file.losses = [(helper, 1, 7, 700 * ms, 800 * ms), (0xFFFFFFFF, 3, 2, 900 * ms, 950 * ms)]
    file.info = [("record_cost_ns", "12.5"), ("command", "app --fast")]
    return file


def empty():
    """A session that was run and recorded nothing."""
    file = NativeFile()
    file.thread("main")
    return file
