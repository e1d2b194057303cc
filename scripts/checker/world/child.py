"""The program that tuner starts: hands every line to the checker, which answers in its place."""

import os
import socket
import sys
import threading
import time

link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1] if len(sys.argv) > 1 else "child.sock")
link.sendall(b"pid %d\n" % os.getpid())


def answers():
    for line in link.makefile("rb"):
        if line.startswith(b"!die"):
            os._exit(int(line.split()[1]))
        os.write(1, line)
    os._exit(9)


threading.Thread(target=answers, daemon=True).start()
for line in sys.stdin.buffer:
    link.sendall(b"%.6f " % time.monotonic() + line)
link.sendall(b"eof %.6f\n" % time.monotonic())
time.sleep(0.05)
os._exit(0)
