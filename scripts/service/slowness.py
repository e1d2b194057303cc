"""A machine that is several times slower, for the processes of a trial: they run for one
part of every 90 ms and stand still for the rest."""

import os
import signal
import threading
import time

PERIOD = 0.09
cycles = None  # how many have begun; None: nothing is slowed


def settled():
    """Waits until nobody is stopped or let go on who was not listed after this was called."""
    if cycles is not None:
        began = cycles
        while cycles < began + 2:
            time.sleep(PERIOD / 10)


def slow(factor, pids):
    """Slows the processes that pids() names down, those that there are then, for good."""
    def send(pid, what):
        try:
            os.kill(pid, what)
        except ProcessLookupError:
            pass

    def cycle():
        global cycles
        while True:
            cycles += 1
            still = list(pids())
            for pid in still:
                send(pid, signal.SIGSTOP)
            time.sleep(PERIOD * (1 - 1 / factor))
            for pid in still:
                send(pid, signal.SIGCONT)
            time.sleep(PERIOD / factor)
    global cycles
    cycles = 0
    threading.Thread(target=cycle, daemon=True).start()
