"""A power supply that is not there: a laser diode's current, and the light that comes of it.

It speaks SCPI on a raw socket, as bench supplies do: python3 psu.py [PORT]. The light is greatest at
2.4 A. One connection at a time.
"""

import math
import random
import socketserver
import sys

state = {"current": 0.5, "errors": []}


def answer(line):
    head, _, value = line.strip().partition(" ")
    if head == "*IDN?":
        return "EXAMPLE,PSU-1,42,1.0"
    if head == "SYST:ERR?":
        return state["errors"].pop(0) if state["errors"] else '0,"No error"'
    if head == "CURR?":
        return "%.3f" % state["current"]
    if head == "MEAS:POW?":
        return "%.4f" % (5 * math.exp(-(((state["current"] - 2.4) / 0.8) ** 2)) + random.gauss(0, 0.05))
    try:
        if head == "CURR" and 0 <= float(value) <= 5:
            state["current"] = float(value)
            return None
        state["errors"].append('-222,"Data out of range"' if head == "CURR" else '-113,"Undefined header"')
    except ValueError:
        state["errors"].append('-104,"Data type error"')
    return None


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            said = answer(line.decode("ascii", "replace"))
            if said is not None:
                self.wfile.write(said.encode() + b"\n")


class Server(socketserver.TCPServer):
    allow_reuse_address = True


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 5025), Connection)
    print("a power supply listens at %s:%d" % server.server_address, flush=True)
    server.serve_forever()
