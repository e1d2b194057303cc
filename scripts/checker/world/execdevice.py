"""The bench behind tuner-exec/1: the checker's end of world/child.py."""

import asyncio
import json
import time


class ExecDevice:
    def __init__(self, plan, bench, trace, path):
        self.plan, self.bench, self.trace, self.path = plan, bench, trace, path
        self.late, self.hang, self.wrong, self.refuse, self.age = 0.0, False, "", False, 0
        self.dose_delay = 0.0
        self.writer = None
        self.dying = False

    async def start(self):
        self.server = await asyncio.start_unix_server(self.serve, str(self.path), limit=1 << 20)

    async def serve(self, reader, writer):
        self.writer = writer
        self.trace.add("link", link="exec", conn=0, up=True)
        self.send(writer, self.hello())
        try:
            while line := await reader.readline():
                if line.startswith(b"pid "):
                    self.pid = int(line.split()[1])
                elif line.startswith(b"eof "):
                    self.bench.safe()
                    break
                else:
                    stamp, rest = line.split(b" ", 1)
                    self.take(writer, float(stamp), rest)
        except (OSError, ValueError):
            pass
        self.trace.add("link", link="exec", conn=0, up=False)
        writer.close()

    def send(self, writer, line):
        if not writer.is_closing():
            writer.write(line.encode() + b"\n")

    def hello(self):
        channels = []
        for ch in self.plan.channels("exec"):
            v = self.bench.by_channel(ch)
            if v is None:
                channels.append({"name": ch, "unit": "1", "access": "r"})
            elif v["dose"]:
                channels.append({"name": ch, "unit": "1", "access": "rw", "kind": "dose", "min": 0, "max": v["range"][1]})
            else:
                channels.append({"name": ch, "unit": "1", "access": "rw", "min": v["hard"][0], "max": v["hard"][1], "safe": v["safe"]})
                if v["lasts"] and v["lease"]:
                    channels[-1]["lasts"] = True
        return json.dumps({"protocol": "tuner-exec/1", "name": "bench", "channels": channels})

    def take(self, writer, stamp, line):
        try:
            request = json.loads(line)
        except ValueError:
            self.trace.add("nonsense", line=repr(line))
            return
        note = self.trace.add("ask", dev="exec", line=request, until=None)
        if request["op"] == "write":
            self.noted(request, note)
        if self.hang:
            return
        asyncio.ensure_future(self.reply(writer, request, note))

    def noted(self, request, note):
        for ch, value in request.get("values", {}).items():
            v = self.bench.by_channel(ch)
            if v and v["dose"]:
                self.trace.add("dose", dev="exec", ch=ch, value=value, name=request.get("dose"), conn=0, asked=note["t"])
            else:
                self.trace.add("set", dev="exec", ch=ch, value=value, conn=0, for_ms=request.get("for_ms", {}).get(ch))
        for ch in request.get("release", []):
            self.trace.add("release", dev="exec", ch=ch, conn=0)

    async def reply(self, writer, request, note):
        answer, served = self.answer(request)
        if "dose" in request and self.bench.word_lost():
            return
        delay = self.late + (self.dose_delay if "dose" in request else 0.0)
        if delay:
            await asyncio.sleep(delay)
        line = json.dumps(answer)
        if self.wrong:
            line, served = self.mistaken(answer), [dict(s, good=False) for s in served]
        if time.monotonic() - note["t"] > self.plan.reply_timeout + 0.15:
            served = [dict(s, good=False, raw="too late") for s in served]
        for one in served:
            self.trace.add("served", dev="exec", **one)
        note["until"] = self.trace.add("answered", dev="exec", id=request["id"])["t"]
        self.send(writer, line)

    def mistaken(self, answer):
        if self.wrong == "id":
            return json.dumps(dict(answer, id=answer["id"] + 1))
        if self.wrong == "text":
            return "all is well"
        if self.wrong == "nan":
            return json.dumps(dict(answer, values={k: float("nan") for k in answer.get("values", {"power": 0})}))
        return json.dumps(answer)[:-7]

    def answer(self, request):
        number, op = request["id"], request["op"]
        if op == "write":
            if self.refuse:
                self.trace.add("dose-refused", name=request.get("dose"))
                return {"id": number, "ok": False, "error": {"code": "busy", "message": "the checker says no", "retry": True}}, []
            return {"id": number, "ok": True, "values": self.apply(request)}, []
        if op == "read":
            age = self.age or self.plan.value_age
            values = {ch: self.bench.read(ch, age / 1e3) for ch in request["channels"]}
            values = {ch: v for ch, v in values.items() if v is not None and not isinstance(v, str)}
            reply = {"id": number, "ok": True, "values": values}
            if age:
                reply["age_ms"] = age
            return reply, [dict(ch=ch, value=v, good=True, age=age / 1e3) for ch, v in values.items()]
        if op == "safe":
            self.bench.safe()
            return {"id": number, "ok": True}, []
        if op == "bye":
            return {"id": number, "ok": True}, []
        return {"id": number, "ok": False, "error": {"code": "unknown_op", "message": op, "retry": False}}, []

    def apply(self, request):
        done = {}
        for ch, value in request.get("values", {}).items():
            v = self.bench.by_channel(ch)
            if v["dose"]:
                done[ch] = self.bench.dose(ch, value, request.get("dose"))
            else:
                self.bench.write(ch, value, request.get("for_ms", {}).get(ch))
                done[ch] = self.bench.knobs[ch]
        for ch in request.get("release", []):
            self.bench.release(ch)
        return done

    def die(self, code=1):
        if self.writer and not self.writer.is_closing():
            self.trace.add("fault", name="child dies", code=code)
            self.writer.write(b"!die %d\n" % code)

    def end(self):
        self.server.close()
