# SPDX-License-Identifier: Apache-2.0
"""Readers of the formats of stacks, written from what the formats' owners say of them and from nothing of
ours. Each gives {(process, thread, frame, ...): own ns}; the process is None where the format leaves it out."""
import collections
import json


def folded(text, has_process):
    sums = collections.Counter()
    for line in text.splitlines():
        stack, weight = line.rsplit(" ", 1)
        frames = tuple(stack.split(";"))
        assert all(frames) and int(weight) > 0
        sums[frames if has_process else (None, *frames)] += int(weight)
    return sums


def speedscope(text):
    """Also holds the file to the format's schema, as far as sampled profiles go."""
    parsed = json.loads(text)
    assert parsed["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(parsed) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    assert set(parsed["shared"]) == {"frames"}
    frames = parsed["shared"]["frames"]
    assert all(set(frame) <= {"name", "file", "line", "col"} and isinstance(frame["name"], str)
               for frame in frames)
    sums = collections.Counter()
    for profile in parsed["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", "nanoseconds", 0)
        assert len(profile["samples"]) == len(profile["weights"]) > 0
        assert profile["endValue"] == sum(profile["weights"])
        process, thread = profile["name"].split(": ", 1)
        for sample, weight in zip(profile["samples"], profile["weights"]):
            assert isinstance(weight, int) and weight >= 0
            assert all(isinstance(frame, int) and 0 <= frame < len(frames) for frame in sample)
            sums[process, thread, *(frames[frame]["name"] for frame in sample)] += weight
    return sums


def fields(data):
    """Each (number, value) of a protobuf message: an int, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 == 2, "pprof has numbers and what has a length"
            length = varint()
            assert at + length <= len(data)
            yield tag >> 3, data[at:at + length]
            at += length


def message(data):
    values = collections.defaultdict(list)
    for number, value in fields(data):
        values[number].append(value)
    return values


def only(values):
    value, = values
    return value


def pprof(data, counts=None):
    """profile.proto: sample_type 1, sample 2, location 4, function 5, string_table 6. `counts` gets the
    first value of each stack."""
    profile = message(data)
    texts = [text.decode() for text in profile[6]]
    assert texts[0] == "" and only(profile[9]) > 0 and texts[only(profile[14])] == "wall"
    types = [message(one) for one in profile[1]]
    assert [(texts[only(one[1])], texts[only(one[2])]) for one in types] == [
        ("spans", "count"), ("wall", "nanoseconds")]
    functions = {only(one[1]): texts[only(one[2])] for one in map(message, profile[5])}
    locations = {only(one[1]): functions[only(message(only(one[4]))[1])] for one in map(message, profile[4])}
    assert len(functions) == len(profile[5]) and len(locations) == len(profile[4]) and 0 not in locations
    sums = collections.Counter()
    for sample in map(message, profile[2]):
        assert len(sample[2]) == len(types)
        labels = {texts[only(label[1])]: texts[only(label[2])] for label in map(message, sample[3])}
        stack = (labels["process"], labels["thread"], *(locations[place] for place in reversed(sample[1])))
        sums[stack] += sample[2][1]
        if counts is not None:
            counts[stack] += sample[2][0]
    return sums
