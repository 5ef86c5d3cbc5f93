# SPDX-License-Identifier: Apache-2.0
"""The package of the source tree with the library that is tested."""
import os
import signal
import sys

from python_program import BUILD, SOURCE

os.environ.setdefault("MXNET_LIBRARY_PATH", str(BUILD / "libmxnet.so"))
sys.path.insert(0, str(SOURCE / "python"))

# What a script runs in the background ignores Ctrl-C, and would hand that on to programs that tests
# start to interrupt them.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
