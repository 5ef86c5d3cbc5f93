# SPDX-License-Identifier: Apache-2.0
"""Optimizers: how gradients change parameters. One operator updates one of them, or several."""
from .._absent import refusing
from .adam import Adam
from .lamb import LAMB
from .lars import LARS
from .leader import FTML, Ftrl
from .optimizer import Optimizer, create, register
from .rmsprop import RMSProp
from .sgd import NAG, SGD
from .signum import Signum
from .states import copy_state, load_states, save_states
from .text import optimizer_from_text, optimizer_text
from .updater import Updater, get_updater

__all__ = ["Adam", "FTML", "Ftrl", "LAMB", "LARS", "NAG", "Optimizer", "RMSProp", "SGD", "Signum",
           "Updater", "copy_state", "create", "get_updater", "load_states", "register", "save_states"]

__getattr__ = refusing(__name__)
