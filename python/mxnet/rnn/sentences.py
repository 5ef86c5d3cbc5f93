# SPDX-License-Identifier: Apache-2.0
"""Sentences as batches of one length each."""
from __future__ import annotations

import random
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as onp

from .. import ndarray as nd
from ..io import DataBatch, DataDesc, DataIter
from ..profiler.config import warn


def encode_sentences(sentences: Sequence[Sequence[str]], vocab: Optional[Dict[Any, int]] = None, invalid_label: int = -1,
                     invalid_key: str = "\n", start_label: int = 0, unknown_token: Optional[str] = None) -> Tuple[List[List[int]], Dict[Any, int]]:
    """Words as numbers, and the vocabulary: one is made, from `start_label` on, unless `vocab` is given."""
    grows = vocab is None
    words: Dict[Any, int] = {invalid_key: invalid_label} if vocab is None else vocab
    number, result = start_label, []
    for sentence in sentences:
        coded = []
        for word in sentence:
            if word not in words and (grows or unknown_token is not None):
                if unknown_token is not None:
                    word = unknown_token
                if word not in words:
                    number += number == invalid_label
                    words[word] = number
                    number += 1
            if word not in words:
                raise ValueError(f"Unknown token {word}")
            coded.append(words[word])
        result.append(coded)
    return result, words


class BucketSentenceIter(DataIter):
    """Batches of sentences of about one length, filled up with `invalid_label` to the length of their bucket, which is
    the batch's `bucket_key`; labels are the words that follow."""

    def __init__(self, sentences: Sequence[Sequence[int]], batch_size: int, buckets: Optional[Sequence[int]] = None,
                 invalid_label: int = -1, data_name: str = "data", label_name: str = "softmax_label",
                 dtype: str = "float32", layout: str = "NT") -> None:
        super().__init__(batch_size)
        lengths = onp.bincount([len(sentence) for sentence in sentences])
        self.buckets = sorted(buckets) if buckets else [i for i, count in enumerate(lengths) if count >= batch_size]
        if not self.buckets:
            raise ValueError(f"BucketSentenceIter: no length has {batch_size} sentences; give buckets")
        if sorted(layout) != ["N", "T"]:
            raise ValueError(f"BucketSentenceIter: layout must be 'NT' or 'TN', not {layout!r}")
        self.data_name, self.label_name, self.dtype, self.invalid_label = data_name, label_name, dtype, invalid_label
        self.layout, self.major_axis = layout, layout.find("N")
        rows: List[List[Any]] = [[] for _ in self.buckets]
        self.ndiscard = 0
        for sentence in sentences:
            at = int(onp.searchsorted(self.buckets, len(sentence)))
            if at == len(self.buckets):
                self.ndiscard += 1
                continue
            row = onp.full(self.buckets[at], invalid_label, dtype=dtype)
            row[:len(sentence)] = sentence
            rows[at].append(row)
        if self.ndiscard:
            warn(f"discarded {self.ndiscard} sentences longer than the largest bucket.")
        self.data = [onp.array(bucket, dtype=dtype).reshape(-1, size) for bucket, size in zip(rows, self.buckets)]
        self.default_bucket_key = max(self.buckets)
        self.provide_data = [self._desc(data_name, self.default_bucket_key)]
        self.provide_label = [self._desc(label_name, self.default_bucket_key)]
        self.idx = [(i, j) for i, bucket in enumerate(self.data) for j in range(0, len(bucket) - batch_size + 1, batch_size)]
        self.reset()

    def _desc(self, name: str, length: int) -> DataDesc:
        shape = (self.batch_size, length) if self.major_axis == 0 else (length, self.batch_size)
        return DataDesc(name, shape, dtype=self.dtype, layout=self.layout)

    def reset(self) -> None:
        """Another order of batches, and of sentences in their buckets."""
        self.curr_idx = 0
        random.shuffle(self.idx)
        for bucket in self.data:
            onp.random.shuffle(bucket)

    def next(self) -> DataBatch:
        if self.curr_idx == len(self.idx):
            raise StopIteration
        i, j = self.idx[self.curr_idx]
        self.curr_idx += 1
        data = self.data[i][j:j + self.batch_size]
        label = onp.full_like(data, self.invalid_label)
        label[:, :-1] = data[:, 1:]
        if self.major_axis == 1:
            data, label = data.T, label.T
        length = self.buckets[i]
        return DataBatch([nd.array(data, dtype=self.dtype)], [nd.array(label, dtype=self.dtype)], pad=0, bucket_key=length,
                         provide_data=[self._desc(self.data_name, length)], provide_label=[self._desc(self.label_name, length)])
