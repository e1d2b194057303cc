"""MQTT 3.1.1 packets, and a small client: what the proxy and the checker's own devices speak."""

import asyncio

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PING, PONG, BYE = 1, 2, 3, 4, 8, 9, 12, 13, 14


class Packets:
    """Cuts a stream of bytes into whole packets."""

    def __init__(self):
        self.buffer = b""

    def feed(self, data):
        self.buffer += data
        whole = []
        while True:
            size, at = self._size()
            if size is None or len(self.buffer) < at + size:
                return whole
            whole.append(self.buffer[:at + size])
            self.buffer = self.buffer[at + size:]

    def _size(self):
        size, shift = 0, 0
        for at in range(1, min(len(self.buffer), 5)):
            size |= (self.buffer[at] & 127) << shift
            shift += 7
            if self.buffer[at] < 128:
                return size, at + 1
        return None, 0


def kind(packet):
    return packet[0] >> 4


def body(packet):
    at = 1
    while packet[at] >= 128:
        at += 1
    return packet[at + 1:]


def publication(packet):
    """Topic, payload and whether it is retained, of a PUBLISH."""
    data = body(packet)
    size = int.from_bytes(data[:2], "big")
    topic, rest = data[2:2 + size].decode(errors="replace"), data[2 + size:]
    if packet[0] & 6:
        rest = rest[2:]
    return topic, rest, bool(packet[0] & 1)


def client_id(packet):
    data = body(packet)[10:]
    return data[2:2 + int.from_bytes(data[:2], "big")].decode(errors="replace")


def text(s):
    raw = s.encode() if isinstance(s, str) else s
    return len(raw).to_bytes(2, "big") + raw


def packet(head, content):
    size, length = b"", len(content)
    while True:
        byte, length = length & 127, length >> 7
        size += bytes([byte | (128 if length else 0)])
        if not length:
            return bytes([head]) + size + content


def connect(name, keep_alive=30):
    return packet(CONNECT << 4, text("MQTT") + b"\x04\x02" + keep_alive.to_bytes(2, "big") + text(name))


def publish(topic, payload, retain=False):
    raw = payload.encode() if isinstance(payload, str) else payload
    return packet(PUBLISH << 4 | int(retain), text(topic) + raw)


def subscribe(topics):
    return packet(SUBSCRIBE << 4 | 2, b"\x00\x01" + b"".join(text(t) + b"\x00" for t in topics))


class Client:
    """A client at quality of service 0 that comes back by itself."""

    def __init__(self, name, port, topics, heard):
        self.name, self.port, self.topics, self.heard = name, port, topics, heard
        self.writer = None
        self.task = asyncio.ensure_future(self._live())

    async def _live(self):
        while True:
            try:
                await self._session()
            except (OSError, asyncio.IncompleteReadError):
                pass
            finally:
                if self.writer:
                    self.writer.close()
                self.writer = None
            await asyncio.sleep(0.05)

    async def _session(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(connect(self.name, 0) + (subscribe(self.topics) if self.topics else b""))
        packets = Packets()
        while data := await reader.read(65536):
            for one in packets.feed(data):
                if kind(one) == CONNACK:
                    self.writer = writer
                elif kind(one) == PUBLISH:
                    self.heard(*publication(one))

    def say(self, topic, payload, retain=False):
        if self.writer and not self.writer.is_closing():
            self.writer.write(publish(topic, payload, retain))
            return True
        return False

    def end(self):
        self.task.cancel()
        if self.writer:
            self.writer.close()
