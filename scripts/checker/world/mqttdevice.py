"""The bench behind MQTT topics: obeys the device's side of drivers/mqtt/README.md."""

import asyncio
import json
import time

from .mqttwire import Client


class MqttDevice:
    def __init__(self, plan, bench, trace, port):
        self.plan, self.bench, self.trace = plan, bench, trace
        self.channels = plan.channels("mqtt")
        self.knobs = [v for v in plan.variables if v["ch"] in self.channels]
        self.seen = {}              # channel -> (session, seq)
        self.old = set()            # sessions that are over
        self.fastest = {}           # session -> least (now - sent_ms)
        self.confirm_delay, self.confirm_off, self.refuse, self.wrong_confirm = 0.0, False, False, ""
        self.period = 0.07
        topics = [f"bench/{v['ch']}/{what}" for v in self.knobs for what in ("set", "release")]
        self.client = Client(f"device-{plan.seed}", port, topics, self.heard)
        self.task = asyncio.ensure_future(self.tell())

    async def tell(self):
        while True:
            for ch in self.channels:
                self.say(ch)
            await asyncio.sleep(self.period)

    def say(self, ch, retain=False):
        variable = self.bench.by_channel(ch)
        if variable and variable["dose"]:
            return
        value = self.bench.read(ch)
        if value is not None:
            value = self.bench.outward(ch, value)
            self.client.say(f"bench/{ch}", json.dumps({"value": value}) if not isinstance(value, str) else value, retain)

    def heard(self, topic, payload, retained):
        _, ch, what = topic.split("/")
        if retained:
            return
        if self.plan.number_format:
            if payload != b"off":
                self.bench.write(ch, self.bench.inward(ch, float(payload)))
            else:
                self.bench.release(ch)
            return
        try:
            message = json.loads(payload)
        except ValueError:
            return
        if not self.fresh(ch, message):
            self.trace.add("too-old", ch=ch, message=message)
            return
        answer = {"session": message["session"], "seq": message["seq"], "released": what == "release"}
        if self.refuse:
            answer["error"] = "the checker says no"
            self.trace.add("dose-refused", name=message.get("dose"))
        elif what == "release":
            self.bench.release(ch)
        elif "dose" in message:
            answer["delivered"] = self.bench.dose(ch, message["value"], message["dose"])
        else:
            self.bench.write(ch, self.bench.inward(ch, message["value"]), message.get("for_ms"))
        if self.plan.confirm:
            if self.plan.others_confirmed:
                self.confirm_another(ch, answer)
            if self.wrong_confirm:
                answer = self.mistaken(answer)
            if not self.confirm_off and not ("dose" in message and self.bench.word_lost()):
                asyncio.ensure_future(self.answer(ch, answer, self.confirm_delay + self.plan.confirm_takes))
        self.say(ch)

    def confirm_another(self, ch, answer):
        """The same number of another session, which this device or one like it has taken: nobody's answer."""
        self.client.say(f"bench/{ch}/taken", json.dumps({"session": "0011223344556677", "seq": answer["seq"], "released": answer["released"]}))

    def mistaken(self, answer):
        """A confirmation that is none of this message."""
        return {"higher": dict(answer, seq=answer["seq"] + 1000), "older": dict(answer, seq=answer["seq"] - 1),
                "session": dict(answer, session="0011223344556677"), "released": dict(answer, released=not answer["released"]),
                "nobody": {"seq": answer["seq"], "released": answer["released"]}, "text": dict(answer, seq=str(answer["seq"]))}[self.wrong_confirm]

    async def answer(self, ch, answer, delay):
        if delay:
            await asyncio.sleep(delay)
        self.client.say(f"bench/{ch}/taken", json.dumps(answer))
        self.trace.add("confirmed", ch=ch, seq=answer["seq"])

    def fresh(self, ch, message):
        """Not above the last one's number, of a session that is over, or older than its time to live: not obeyed."""
        session, seq = message["session"], message["seq"]
        known, last = self.seen.get(ch, (None, 0))
        if session in self.old or session == known and seq <= last:
            return False
        if known not in (None, session):
            self.old.add(known)
        self.seen[ch] = (session, seq)
        took = time.monotonic() - message["sent_ms"] / 1e3
        self.fastest[session] = min(self.fastest.get(session, took), took)
        return took - self.fastest[session] <= message["ttl_ms"] / 1e3

    def end(self):
        self.task.cancel()
        self.client.end()
