"""A machine that is several times slower, for the processes of a trial: they run for one
part of every 90 ms and stand still for the rest."""

import os
import signal
import threading
import time

PERIOD = 0.09


def slow(factor, pids):
    """Slows the processes that pids() names down, those that there are then, for good."""
    def send(pid, what):
        try:
            os.kill(pid, what)
        except ProcessLookupError:
            pass

    def cycle():
        while True:
            still = list(pids())
            for pid in still:
                send(pid, signal.SIGSTOP)
            time.sleep(PERIOD * (1 - 1 / factor))
            for pid in still:
                send(pid, signal.SIGCONT)
            time.sleep(PERIOD / factor)
    threading.Thread(target=cycle, daemon=True).start()
