# SPDX-License-Identifier: Apache-2.0
"""1.x's name of `mxnet.gluon.metric`. Whoever imports it gets that module: there is one list of metrics."""
import sys

from .gluon import metric
from .gluon.metric import *  # pylint: disable=wildcard-import, unused-wildcard-import  # for type checkers

sys.modules[__name__] = metric
