# SPDX-License-Identifier: Apache-2.0
"""Files of a job whose ways between processes carry so much, and whose owners take so long, as was asked for; with what the
start's probe is said to have reached."""
from rank_files import MS, US, Job

KEY_BYTES = 1_000_000


class BoundJob(Job):
    """Of each of `keys` keys a megabyte, or `key_bytes`, goes out and comes back, `rate` bytes a second each way; an owner takes
    `owner_ms` for a key after the last arrival. `probe`: rate, least, most; None: there was none."""

    def __init__(self, ranks, seed, rate, keys=4, owner_ms=0.01, probe=None, rounds=True, key_bytes=KEY_BYTES):
        super().__init__(ranks, seed)
        self.rate, self.keys, self.owner_ns, self.probe, self.has_rates = rate, keys, owner_ms * MS, probe, rounds
        self.key_bytes = key_bytes
        self.way_ns = key_bytes / rate * 1e9
        self.exchange_ns = (keys + 1) * self.way_ns + keys * self.owner_ns

    def train(self, steps=40, base_ms=20.0, **how):
        self.extra_ms = self.exchange_ns / MS
        super().train(steps, keys=self.keys, base_ms=base_ms, late_ms=self.extra_ms, **how)  # late_ms: room, nobody is late
        for rank, file in enumerate(self.files if self.probe else []):
            numbers = zip(("bytes", "pieces", "bytes_per_s", "least_bytes_per_s", "most_bytes_per_s", "elsewhere"),
                          (64 << 19, 64, *self.probe, 1))
            peer = (file.name("peer"), 4, file.name(f"worker {(rank + 1) % len(self.files)}"))
            thread = file.thread("probe")
            file.span_on(thread, file.name("KVStore probe", "communication", "async"), file.own(1 * MS), file.own(30 * MS),
                         args=[peer] + [(file.name(name), 1, int(value)) for name, value in numbers])

    def answered(self, key, latest):
        """When the owner of a key answers: keys arrive one after another, and it takes them in that order."""
        at = 0
        for i in range(key + 1):
            at = max(at, latest + (i + 1) * self.way_ns) + self.owner_ns
        return at

    def waits(self, file, thread, step, keys, arrivals, rank, last, done):
        span = file.name("KVStoreDistDefaultStoragePushPull", "communication", "async")
        text = {word: file.name(word) for word in ("key", "round", "bytes", "waited_ns", "waited_for", "send_ns", "bytes_out",
                                                   "bytes_in", "receive_ns")}
        back = 0
        for key in range(keys):
            back = max(back, self.answered(key, arrivals[last])) + self.way_ns
            numbers = {"round": step, "bytes": self.key_bytes, "waited_ns": arrivals[last] - arrivals[rank], "waited_for": last}
            if self.has_rates:
                numbers.update(send_ns=(key + 1) * self.way_ns, bytes_out=self.key_bytes, bytes_in=self.key_bytes, receive_ns=self.way_ns)
            file.span_on(thread, span, file.own(arrivals[rank]), file.own(back),
                         args=[(text["key"], 4, file.name(f"w{key}"))] + [(text[word], 1, int(value)) for word, value in numbers.items()])

    def rounds(self, step, keys, arrivals, last, done):
        for key in range(keys):
            owner = key % len(self.files)
            file = self.files[owner]
            end = self.answered(key, arrivals[last])
            here = arrivals[last] + (key + 1) * self.way_ns
            numbers = {"round": step, "first": arrivals.index(min(arrivals)), "last": last, "spread_ns": max(arrivals) - min(arrivals),
                       "bytes": self.key_bytes, "add_ns": 10 * US, "own_ns": end - here}
            file.span_on(self.threads[owner]["store"], file.name("KVStore round", "communication", "async"),
                         file.own(min(arrivals)), file.own(end),
                         args=[(file.name("key"), 4, file.name(f"w{key}"))] + [(file.name(word), 1, int(value)) for word, value in numbers.items()])
