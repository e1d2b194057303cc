"""The record of a run: everything that was seen from outside, in order, with monotonic times."""

import asyncio
import json
import os
import time


class Trace:
    """An ordered log of events. Each has t (seconds, monotonic), k (its kind) and what belongs to it."""

    def __init__(self):
        self.events = []

    def add(self, kind, **data):
        event = {"t": time.monotonic(), "k": kind, **data}
        self.events.append(event)
        return event

    def of(self, *kinds):
        return [e for e in self.events if e["k"] in kinds]

    def lost(self, since):
        """Seconds that the machine has withheld since then."""
        return sum(e["lost"] for e in self.events if e["k"] == "stall" and e["t"] >= since)

    def save(self, path):
        with open(path, "w") as out:
            for event in self.events:
                out.write(json.dumps(event, default=str) + "\n")

    @classmethod
    def load(cls, path):
        trace = cls()
        with open(path) as lines:
            trace.events = [json.loads(line) for line in lines]
        return trace


async def heartbeat(trace, pid):
    """Measures what the machine withheld: stalls of this process, and the time that the
    program's threads were ready to run and did not (schedstat, in nanoseconds). Bounds in
    time are judged with both added."""
    waited, known = {}, time.monotonic()
    while True:
        await asyncio.sleep(0.02)
        now = time.monotonic()
        if now - known > 0.06:
            trace.add("stall", since=known, lost=now - known - 0.02)
        program = pid()
        if program:
            lost = 0.0
            try:
                for task in os.listdir(f"/proc/{program}/task"):
                    with open(f"/proc/{program}/task/{task}/schedstat") as f:
                        delay = int(f.read().split()[1]) / 1e9
                    lost = max(lost, delay - waited.get((program, task), delay))
                    waited[(program, task)] = delay
            except (OSError, IndexError, ValueError):
                pass
            if lost > 0.01:
                trace.add("stall", since=known, lost=lost)
        known = now     # also what the look itself has waited counts the next time
