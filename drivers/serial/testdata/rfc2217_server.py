"""A serial server: pyserial's PortManager between a socket and a port.

Usage: rfc2217_server.py DEVICE PORT. It says "ready", serves one connection, and at its end says
how the line was set.
"""

import socket
import sys
import threading

import serial
import serial.rfc2217


class Line(serial.Serial):
    """A pseudo-terminal has no modem lines."""

    cts = dsr = ri = cd = True

    def _update_dtr_state(self):
        pass

    def _update_rts_state(self):
        pass


line = Line(sys.argv[1], timeout=0.02, dsrdtr=False, rtscts=False)
listener = socket.create_server(("127.0.0.1", int(sys.argv[2])))
print("ready", flush=True)
connection, _ = listener.accept()


class Writer:
    """What PortManager writes its own answers to."""

    def write(self, data):
        connection.sendall(data)


manager = serial.rfc2217.PortManager(line, Writer())


def from_line():
    while True:
        data = line.read(line.in_waiting or 1)
        if data:
            connection.sendall(b"".join(manager.escape(data)))


threading.Thread(target=from_line, daemon=True).start()
while True:
    heard = connection.recv(1024)
    if not heard:
        break
    line.write(b"".join(manager.filter(heard)))
print(line.baudrate, line.parity, int(line.stopbits), flush=True)
