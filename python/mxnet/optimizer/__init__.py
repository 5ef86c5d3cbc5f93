# SPDX-License-Identifier: Apache-2.0
"""Optimizers: how gradients change parameters. One operator updates one parameter."""
from .adam import Adam
from .optimizer import Optimizer, create, register
from .rmsprop import RMSProp
from .sgd import NAG, SGD
from .states import copy_state, load_states, save_states

__all__ = ["Adam", "NAG", "Optimizer", "RMSProp", "SGD", "copy_state", "create", "load_states",
           "register", "save_states"]
