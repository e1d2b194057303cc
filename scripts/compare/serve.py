"""What the peers of scripts/compare have in common: they answer jobs, one a line, as long as they are asked."""

import sys
import time
from statistics import median

SAMPLE_S = 0.05


def serve(prepare):
    """answers each line of the standard input with the median of what executions take, in microseconds, of as many as fit
    into 50 ms (at least one). prepare makes, once, of a line's words a function that executes and returns the seconds"""
    prepared = {}
    for line in sys.stdin:
        if line not in prepared:
            prepared[line] = prepare(*line.split())
        took, end = [], time.monotonic() + SAMPLE_S
        while not took or time.monotonic() < end:
            took.append(prepared[line]())
        print(f"{1e6 * median(took):.1f}", flush=True)


def timed(execute, clock):
    """execute, as a function that returns the seconds that it took by a clock"""

    def once():
        start = clock()
        execute()
        return clock() - start

    return once
