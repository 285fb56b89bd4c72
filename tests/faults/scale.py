"""How much the fault tests do: a short form with every `make test`, the long one with `make soak`."""

from __future__ import annotations

import os
import random
from typing import TypeVar

T = TypeVar("T")

SOAK = os.environ.get("FAULTS_SOAK", "") not in ("", "0")
"""The long form."""
SEED = int(os.environ.get("FAULTS_SEED") or random.SystemRandom().randrange(1_000_000))
"""Of every random choice; set FAULTS_SEED to have the choices of an earlier run."""
NO_COVERAGE = {"COVERAGE_PROCESS_CONFIG": "", "COVERAGE_PROCESS_START": ""}
"""Environment of servers that are killed: nothing would come of measuring them, and it would slow them down."""


def choose(*, short: T, soak: T) -> T:
    """The one of this form."""
    return soak if SOAK else short


TIMEOUT_S = choose(short=300, soak=7_200)
"""Of one test: a bound on hangs."""
KEEPALIVE_S = choose(short=0.2, soak=15.0)
"""Of the server that most tests share."""
PING_S = 2
"""Between two signs of life on its sockets; the task of a socket that is gone ends with the next one (else 25 s)."""
STATES_KEPT_S = 5
"""How long that server remembers a tab that is gone, in case it comes back; Reflex's own patience is an hour."""


def rng(name: str) -> random.Random:
    """Random numbers of SEED for the test `name`, whichever tests run with it."""
    return random.Random(f"{SEED}:{name}")
