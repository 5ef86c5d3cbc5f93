# SPDX-License-Identifier: Apache-2.0
"""Reads a Perfetto protobuf trace as its readers do, and insists on what they only forgive: written from the
public schema and knowing nothing of our writer. `Trace` has slices, instants, counter samples and flows."""
import struct
from collections import namedtuple

Slice = namedtuple("Slice", "track category name begin end args depth ending_flows")
Instant = namedtuple("Instant", "track category name time args flows ending_flows")
Sample = namedtuple("Sample", "track time value")

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS_STATE = 1, 2


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(field number, value) of a message; values are int, or bytes as they are."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            length, at = varint(data, at)
            assert at + length <= len(data), "a message that reaches beyond the one around it"
            value, at = data[at:at + length], at + length
        else:
            raise AssertionError(f"wire type {kind} is not in a trace")
        yield tag >> 3, value


def message(data):
    """Field number -> list of values."""
    found = {}
    for number, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def one(found, number, default=None):
    values = found.get(number, [default])
    assert len(values) == 1, f"field {number} occurs {len(values)} times"
    return values[0]


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


class Sequence:
    """What the packets of one writer have told so far."""
    NAMES, CATEGORIES, KEYS, TEXTS = 2, 1, 3, 29

    def __init__(self):
        self.valid = False
        self.clear()

    def clear(self):
        self.told = {kind: {} for kind in (self.NAMES, self.CATEGORIES, self.KEYS, self.TEXTS)}

    def take(self, data):
        for kind, entry in fields(data):
            entry = message(entry)
            iid = one(entry, 1)
            assert iid != 0, "0 is no id of interned data"
            assert iid not in self.told[kind], "told twice without a new state"
            self.told[kind][iid] = one(entry, 2).decode()

    def text(self, kind, iid):
        assert iid in self.told[kind], f"id {iid} of field {kind} was not told"
        return self.told[kind][iid]


class Trace:
    def __init__(self, data):
        self.sequences = {}
        self.tracks = {}  # uuid -> descriptor
        self.attributes = {}
        self.clocks = None
        self.events = []
        for number, packet in fields(data):
            assert number == 1, "a trace has nothing but packets"
            self.take_packet(message(packet))
        self.slices, self.instants, self.samples = [], [], []
        self.order_events()

    def take_packet(self, packet):
        sequence_id = one(packet, 10)
        assert sequence_id, "a packet without a sequence"
        flags = one(packet, 13, 0)
        first = sequence_id not in self.sequences
        sequence = self.sequences.setdefault(sequence_id, Sequence())
        if flags & CLEARED:
            sequence.clear()
            sequence.valid = True
        assert not first or flags & CLEARED, "the first packet of a sequence begins its state"
        if 12 in packet:
            assert sequence.valid
            sequence.take(one(packet, 12))
        if 6 in packet:
            self.clocks = dict((one(clock, 1), one(clock, 2)) for clock in
                               (message(entry) for number, entry in fields(one(packet, 6))))
        if 60 in packet:
            self.take_descriptor(message(one(packet, 60)))
        if 126 in packet:
            for _, entry in fields(one(packet, 126)):
                entry = message(entry)
                self.attributes[one(entry, 1).decode()] = one(entry, 3).decode()
        if 11 in packet:
            self.take_event(one(packet, 8), message(one(packet, 11)), flags, sequence)

    def take_descriptor(self, track):
        uuid = one(track, 1)
        assert uuid and uuid not in self.tracks
        parent = one(track, 5)
        assert parent is None or parent in self.tracks, "a track before the one it belongs to"
        made = {"parent": parent, "name": one(track, 2, b"").decode(), "counter": None}
        if 3 in track:
            process = message(one(track, 3))
            made |= {"kind": "process", "pid": one(process, 1), "name": one(process, 6).decode()}
            assert made["pid"]
        elif 4 in track:
            thread = message(one(track, 4))
            made |= {"kind": "thread", "pid": one(thread, 1), "tid": one(thread, 2),
                     "name": one(thread, 5).decode()}
            assert made["pid"] and made["tid"]
        elif 8 in track:
            counter = message(one(track, 8))
            made |= {"kind": "counter", "unit": one(counter, 3, 0), "unit_name": one(counter, 6, b"").decode()}
        else:
            made["kind"] = "lane"
        self.tracks[uuid] = made

    def take_event(self, time, event, flags, sequence):
        """Everything that has a type, as it is in the file."""
        assert time is not None and time < 1 << 63
        track = one(event, 11)
        assert track in self.tracks, "an event of an unknown track"
        uses_state = any(number in event for number in (3, 10)) or 4 in event
        assert not uses_state or flags & NEEDS_STATE and sequence.valid
        name = sequence.text(Sequence.NAMES, one(event, 10)) if 10 in event else one(event, 23, b"").decode()
        category = sequence.text(Sequence.CATEGORIES, one(event, 3)) if 3 in event else \
            one(event, 22, b"").decode()
        args = dict(self.argument(message(entry), sequence) for entry in event.get(4, []))
        value = None
        if 30 in event:
            value = signed(one(event, 30))
        if 44 in event:
            value = struct.unpack("<d", one(event, 44))[0]
        flows = [struct.unpack("<Q", entry)[0] for entry in event.get(47, [])]
        ending = [struct.unpack("<Q", entry)[0] for entry in event.get(48, [])]
        self.events.append((time, one(event, 9), track, category, name, args, value, flows, ending))

    @staticmethod
    def argument(entry, sequence):
        key = sequence.text(Sequence.KEYS, one(entry, 1))
        if 2 in entry:
            return key, bool(one(entry, 2))
        if 3 in entry:
            return key, one(entry, 3)
        if 4 in entry:
            return key, signed(one(entry, 4))
        if 5 in entry:
            return key, struct.unpack("<d", one(entry, 5))[0]
        if 6 in entry:
            return key, one(entry, 6).decode()
        return key, sequence.text(Sequence.TEXTS, one(entry, 17))

    def order_events(self):
        open_spans = {uuid: [] for uuid in self.tracks}
        for time, kind, track, category, name, args, value, flows, ending in \
                sorted(self.events, key=lambda event: event[0]):
            if kind == BEGIN:
                assert name
                assert not flows, "which no span of ours begins"
                open_spans[track].append((category, name, time, args, ending))
            elif kind == END:
                assert open_spans[track], "an end without a begin"
                category, name, begin, args, begun_ending = open_spans[track].pop()
                self.slices.append(Slice(track, category, name, begin, time, args, len(open_spans[track]),
                                         begun_ending))
            elif kind == INSTANT:
                assert name
                self.instants.append(Instant(track, category, name, time, args, flows, ending))
            else:
                assert kind == COUNTER and value is not None and self.tracks[track]["kind"] == "counter"
                self.samples.append(Sample(track, time, value))
        assert not any(open_spans.values()), "begins without an end"

    def thread_of(self, track):
        """The tid of the row, or None if it is the process's."""
        while track is not None and "tid" not in self.tracks[track]:
            track = self.tracks[track]["parent"]
        return self.tracks[track]["tid"] if track is not None else None

    def zero(self):
        """The trace's begin: events count from the clock's first point."""
        return self.clocks[6] if self.clocks else 0
