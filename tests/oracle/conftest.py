# SPDX-License-Identifier: Apache-2.0
"""The library that is tested, by its C interface."""
import os

import pytest

import oracle_runtime


@pytest.fixture(scope="module")
def runtime():
    made = oracle_runtime.Runtime(os.path.join(os.environ["MXPROF_BUILD"], "libmxnet.so"))
    yield made
    made.numpy_shapes(False)  # as it was for the tests that come after these, in the same process
