# SPDX-License-Identifier: BSL-1.0
"""`quintet-bench probe`: a measurement close to the hardware, in a process of its own."""
import json
import time
from typing import Any

from .child import Child
from .errors import RunError

PATIENCE_S = 30.0                       # to allocate memory, in addition to the measured time
STARTING_S = 0.1


def probe(program: str, arguments: list[str], duration_s: float) -> dict[str, Any]:
    deadline = time.monotonic() + duration_s + PATIENCE_S
    with Child("the probe", [program, "probe", *arguments, "--duration", f"{duration_s:.3f}"]) as child:
        line = child.line(deadline)
        if child.wait(deadline) != 0 or line is None:
            raise RunError(f"the probe {child.ending()}")
    return dict(json.loads(line))
