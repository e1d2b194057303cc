"""The instrument that tuner starts: it speaks tuner-exec/1 and passes every request on to the arena, which has the problem.

    python3 child.py SOCKET HELPER

It imports no package, so that it says hello at once. HELPER is the folder of tuner_exec.py.
"""

import json
import os
import socket
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[2])

from tuner_exec import Instrument, output, sensor, serve  # noqa: E402


class Remote(Instrument):
    def __init__(self, path):
        line = socket.socket(socket.AF_UNIX)
        line.connect(path)
        self.line = line.makefile("rw", encoding="utf-8")
        self.names = []
        for knob in self.ask({"op": "hello"})["knobs"]:
            self.names.append(knob["name"])
            self.channels = self.channels + [output(knob["name"], knob["unit"], knob["low"], knob["high"])]
        self.channels = self.channels + [sensor("loss", "1")]

    def ask(self, request):
        request["cpu"] = sum(os.times()[:2])
        self.line.write(json.dumps(request) + "\n")
        self.line.flush()
        return json.loads(self.line.readline())

    def read(self, names):
        return self.ask({"op": "read", "loss": "loss" in names})["values"]

    def write(self, values, release):
        return self.ask({"op": "write", "values": values})["values"]

    def safe(self):
        """Nothing here can come to harm."""


serve(Remote(sys.argv[1]), "arena")
