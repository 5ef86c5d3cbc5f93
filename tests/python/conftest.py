# SPDX-License-Identifier: Apache-2.0
"""The package of the source tree with the library that is tested."""
import os
import pathlib
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", SOURCE / "build/release"))

os.environ.setdefault("MXNET_LIBRARY_PATH", str(BUILD / "libmxnet.so"))
sys.path.insert(0, str(SOURCE / "python"))
