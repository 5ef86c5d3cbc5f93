# SPDX-License-Identifier: Apache-2.0
"""The package of the source tree with the library that is tested."""
import os
import sys

from python_program import BUILD, SOURCE

os.environ.setdefault("MXNET_LIBRARY_PATH", str(BUILD / "libmxnet.so"))
sys.path.insert(0, str(SOURCE / "python"))
