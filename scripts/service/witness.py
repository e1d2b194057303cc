"""A witness at the broker, with an account of its own: it hears everything that is said
and keeps it in order, so that what was true for a moment is not missed by a slow reader."""

import atexit
import json
import subprocess
import threading
import time

LIMIT = 90.0  # seconds; it only ends a trial in which something never comes


def until(holds, limit=LIMIT):
    """Waits for a condition; whether it came true."""
    end = time.monotonic() + limit
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Witness:
    """Everything that was said at the broker, as (topic, payload)."""

    def __init__(self, place, knobs):
        self.place, self.knobs, self.all, self.last = place, knobs, [], {}
        process = subprocess.Popen(place.client("mosquitto_sub", "witness", "-v", "-t", "#"), stdout=subprocess.PIPE, text=True)
        atexit.register(process.kill)
        threading.Thread(target=self.listen, args=(process.stdout,), daemon=True).start()

    def listen(self, lines):
        for line in lines:
            topic, _, payload = line.rstrip("\n").partition(" ")
            self.last[topic] = payload
            self.all.append((topic, payload))

    def mark(self):
        """A place in what was said."""
        return len(self.all)

    def said(self, topic, since=0):
        """What was said on a topic from a mark on."""
        return [p for t, p in self.all[since:] if t == topic]

    def sets(self, since):
        """How many setpoints were written from a mark on."""
        return sum(t.endswith("/set") for t, _ in self.all[since:])

    def knob(self, channel):
        text = self.last.get(f"lab/bench/{channel}")
        return None if text is None else float(json.loads(text)["value"])

    def safe(self, since):
        """Whether every actuator, as told from a mark on, ends at its safe value."""
        told = [self.said(f"lab/bench/{k.channel}", since) for k in self.knobs]
        return all(t and abs(float(json.loads(t[-1])["value"]) - k.safe) < 0.05 for t, k in zip(told, self.knobs))

    def away(self, since):
        """Whether the tuner has set something from a mark on, and an actuator has left safe."""
        return self.sets(since) > 0 and any(
            abs(float(json.loads(p)["value"]) - k.safe) > 0.05 for k in self.knobs for p in self.said(f"lab/bench/{k.channel}", since))

    def where(self):
        return ", ".join(f"{k.channel} {self.knob(k.channel):.3g}" for k in self.knobs if self.knob(k.channel) is not None)
