"""A real Mosquitto, and a proxy before it that drops, stalls, halves, delays and reorders packets."""

import asyncio
import socket
import struct

from . import mqttwire as wire


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Broker:
    def __init__(self, folder, trace):
        self.folder, self.trace, self.port, self.process = folder, trace, free_port(), None

    async def start(self):
        conf = self.folder / "mosquitto.conf"
        conf.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\nlog_type none\n")
        self.process = await asyncio.create_subprocess_exec("mosquitto", "-c", str(conf))
        for _ in range(400):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            except OSError:
                await asyncio.sleep(0.02)
        raise RuntimeError("mosquitto does not listen")

    async def stop(self):
        if self.process and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()


class Proxy:
    """One way to the broker. What the program sends is on record the moment it is read here,
    and what it is told the moment it is passed on. `seen(direction, packet)` is called for both."""

    def __init__(self, name, broker, trace, seen):
        self.name, self.broker, self.trace, self.seen = name, broker, trace, seen
        self.port, self.conns, self.client = free_port(), [], ""
        self.refuse = False
        self.calm()

    def calm(self):
        """Every knob back to no fault."""
        self.delay, self.stall_out, self.stall_in, self.half, self.swap = 0.0, False, False, "", 0

    async def start(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    def drop(self, reset=True):
        for conn in list(self.conns):
            conn.cut(reset)

    async def _serve(self, reader, writer):
        if self.refuse:
            writer.close()
            return
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.broker.port)
        except OSError:
            writer.close()
            return
        conn = Conn(self, writer, up_writer)
        self.conns.append(conn)
        out, back = asyncio.Queue(), asyncio.Queue()
        pumps = [asyncio.ensure_future(conn.take("out", reader, out)), asyncio.ensure_future(conn.pass_on("out", out, up_writer)),
                 asyncio.ensure_future(conn.take("in", up_reader, back)), asyncio.ensure_future(conn.pass_on("in", back, writer))]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        conn.cut(False)
        for pump in pumps:
            pump.cancel()


class Conn:
    count = 0

    def __init__(self, proxy, down, up):
        Conn.count += 1
        self.id, self.proxy, self.down, self.up, self.open = Conn.count, proxy, down, up, False
        self.alive = True

    def cut(self, reset):
        if not self.alive:
            return
        self.alive = False
        if self in self.proxy.conns:
            self.proxy.conns.remove(self)
        self.proxy.trace.add("link", link=self.proxy.name, conn=self.id, up=False)
        for writer in (self.down, self.up):
            sock = writer.get_extra_info("socket")
            if reset and sock is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort() if reset else writer.close()

    async def take(self, way, reader, queue):
        """Reads what comes; what the program says is on record at once, whatever becomes of it."""
        packets = wire.Packets()
        try:
            while data := await reader.read(65536):
                for one in packets.feed(data):
                    if way == "out":
                        self._note(way, one)
                    queue.put_nowait(one)
        except (OSError, asyncio.CancelledError):
            pass

    async def pass_on(self, way, queue, writer):
        """Writes it to the other side, late, in another order, by half or not at all."""
        held = []
        try:
            while True:
                one = await queue.get()
                while (self.proxy.stall_out if way == "out" else self.proxy.stall_in) and self.alive:
                    await asyncio.sleep(0.02)
                if self.proxy.delay:
                    await asyncio.sleep(self.proxy.delay)
                if not self.alive:
                    return
                if self.proxy.half == way and wire.kind(one) == wire.PUBLISH:
                    self.proxy.half = ""
                    writer.write(one[:max(1, len(one) // 2)])
                    await asyncio.sleep(0.05)
                    self.cut(True)
                    return
                if self.proxy.swap and wire.kind(one) == wire.PUBLISH and not held:
                    self.proxy.swap -= 1
                    held.append(one)
                    continue
                for ready in [one] + held:
                    writer.write(ready)
                    if way == "in":
                        self._note(way, ready)
                held.clear()
        except (OSError, asyncio.CancelledError):
            pass

    def _note(self, way, one):
        kind = wire.kind(one)
        if kind == wire.CONNECT:
            self.proxy.client = wire.client_id(one)
        if kind == wire.CONNACK:
            self.open = True
            self.proxy.trace.add("link", link=self.proxy.name, conn=self.id, up=True, client=self.proxy.client)
        if kind == wire.PUBLISH:
            self.proxy.seen(way, self.id, *wire.publication(one))
