# SPDX-License-Identifier: Apache-2.0
"""Native files of random nested spans, and the list of the spans, so that tests work out the answers of the
command by themselves and in another way."""
import dataclasses
import random

import native_file

KEYS = ("request", "path", "share")


@dataclasses.dataclass
class Span:
    thread: int
    name: str
    begin: int
    end: int
    depth: int
    args: dict
    is_async: bool = False

    @property
    def ns(self):
        return self.end - self.begin

    def encloses(self, other):
        return self.thread == other.thread and self.begin <= other.begin and other.end <= self.end


class RandomTrace:
    """Threads with trees of spans. All times differ, so that no order is by chance."""

    def __init__(self, seed, threads=3, spans=120):
        self.chance = random.Random(seed)
        self.file = native_file.NativeFile()
        self.spans = []
        self.names = {name: self.file.name(name, "app", "span") for name in ("read", "work", "sort", "send")}
        self.waiting = self.file.name("in queue", "app", "async")
        self.keys = {key: self.file.name(key) for key in KEYS}
        self.used = set()
        for index in range(threads):
            thread = self.file.thread(f"worker {index}")
            at = self.moment(1000)
            while sum(span.thread == thread for span in self.spans) < spans:
                at = self.tree(thread, at, 0) + self.moment(5000)
        # A thread's records are in the order of their ends.
        for span in sorted(self.spans, key=lambda span: span.end):
            self.write(span)

    def moment(self, most):
        return self.chance.randrange(1, most)

    def fresh(self, at):
        while at in self.used:
            at += 1
        self.used.add(at)
        return at

    def tree(self, thread, at, depth):
        begin = self.fresh(at)
        inside = []
        at = begin + self.moment(300)
        while depth < 4 and self.chance.random() < 0.6:
            first = len(self.spans)
            at = self.tree(thread, at, depth + 1) + self.moment(200)
            inside += self.spans[first:]
        end = self.fresh(at + self.moment(3000))
        args = {}
        if self.chance.random() < 0.5:
            args["request"] = self.chance.randrange(40)
        if self.chance.random() < 0.2:
            args["path"] = f"/data/{self.chance.randrange(8)} ü"
        if self.chance.random() < 0.2:
            args["share"] = -self.chance.randrange(1, 9)
        is_async = depth == 0 and not inside and self.chance.random() < 0.3
        self.spans.append(Span(thread, "in queue" if is_async else self.chance.choice(sorted(self.names)),
                               begin, end, 0 if is_async else depth, args, is_async))
        return end

    def write(self, span):
        name = self.waiting if span.is_async else self.names[span.name]
        if not span.args:
            self.file.span(span.thread, name, span.begin, span.end)
            return
        types = {"request": 1, "path": 5, "share": 2}
        args = [(self.keys[key], types[key], value.encode() if key == "path" else value)
                for key, value in span.args.items()]
        self.file.span_on(span.thread, name, span.begin, span.end, args=args)

    def bytes(self):
        return self.file.to_bytes()
