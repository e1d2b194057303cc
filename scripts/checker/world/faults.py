"""What goes wrong, drawn from the seed. Each fault says on the record when it begins and when all is well again."""

import asyncio
import json
import os
import random
import shutil
import signal
import time
from trace import Trace
from .bench import Bench, Knobs
from .execdevice import ExecDevice
from .journal import snapshot
from .mqttwire import Client



def a_step(event):
    return (event.get("doc") or {}).get("type") == "step"


class Script:
    def __init__(self, run, end):
        self.run, self.end = run, end
        self.random = random.Random(run.plan.seed * 15485863 + 3)
        self.order, self.transactions = [], 0
        self.refusals = 0

    async def play(self):
        if "--resume" in self.run.trace.of("start")[-1]["args"]:
            await asyncio.sleep(1.5)
            await self.acknowledge()
        if self.random.random() < 0.7:
            await self.settled()
        else:
            await self.run.until("set", timeout=2.0)
        while self.run.running() and not self.run.leaving and not self.run.over and time.monotonic() < self.end - 2:
            await asyncio.sleep(self.random.uniform(0.1, 1.2))
            name = self.next()
            self.run.trace.add("fault", name=name)
            try:
                await getattr(self, name)()
            finally:
                await self.heal()
                self.run.trace.add("fault-end", name=name)
            await self.settled()

    def next(self):
        """Each fault once, by lot, what few instruments can suffer first rather than last; then anew. A journal is taken
        away at the end of a run."""
        run = self.run
        if run.plan.seed % 7 == 3 and run.disk is None and time.monotonic() > self.end - 11 and run.only is None:
            return self.random.choice(["journal_deleted", "journal_replaced"])
        if not self.order:
            weights = self.applicable()
            self.order = sorted(weights, key=lambda name: self.random.random() ** (1 / weights[name]))
        return self.order.pop()

    async def settled(self, most=4.0):
        """Waits until steps go on, for a few seconds; what asks for a person gets one after a while."""
        run = self.run
        patience = time.monotonic() + self.random.choice([0.3, 1.0, 4.0])
        step = asyncio.ensure_future(run.until("out", a_step, timeout=most))
        while not step.done():
            await asyncio.wait([step], timeout=0.1)
            if time.monotonic() > patience and run.state.get("state") in ("tripped", "held", "fallen back", "disarmed"):
                break
        step.cancel()
        await self.acknowledge()

    async def acknowledge(self):
        """What holds the run until a person says so is said."""
        run = self.run
        if not (run.plan.commands and run.running()):
            return
        state = run.state.get("state")
        if state == "tripped":
            answer = await self.command("reset")
            if answer and not answer["ok"] and "watchdog" in answer["message"]:
                run.signal(signal.SIGTERM)   # only a new process clears it
                return
            await self.command("resume")
        elif state in ("held", "fallen back", "disarmed"):
            await self.command("resume")

    async def heal(self):
        """Every fault is taken back."""
        run, bench = self.run, self.run.bench
        if bench.door != 1.0:
            run.trace.add("door", open=False)
        bench.door, bench.spoil, bench.spoil_ch = 1.0, None, "power"
        bench.aux = 20.0
        bench.silent.clear()
        bench.stuck.clear()
        for proxy in run.proxies.values():
            proxy.calm()
            proxy.refuse = False
        if run.mqtt:
            run.mqtt.confirm_delay, run.mqtt.confirm_off, run.mqtt.refuse, run.mqtt.wrong_confirm = 0.0, False, False, ""
        if run.exec:
            run.exec.late, run.exec.hang, run.exec.wrong, run.exec.refuse, run.exec.age = 0.0, False, "", False, 0
            run.exec.dose_delay = 0.0
        for line in (run.serial, run.meter):
            if line:
                line.late, line.garble, line.mute, line.extra, line.refuse = 0.0, 0, False, 0, False
                if line.master is None:
                    line.plug()
        if run.stopped:
            run.signal(signal.SIGCONT)
        if hasattr(run, "broker") and run.broker.process.returncode is not None and not run.over:
            await run.broker.start()
        if run.disk:
            await run.disk.heal()

    def applicable(self):
        """The faults that this instrument can suffer, each with its weight: the fewer can, the heavier."""
        plan, run = self.run.plan, self.run
        return {name: weight for name, fits, weight in FAULTS if (run.only is None or name in run.only) and fits(plan, run)} or {"nothing": 1}

    async def close(self):
        """The end of a run: asked for, asked for while an actuator does not follow, or a kill or a power cut in the moment of a step."""
        run, r = self.run, self.random
        if run.leaving:
            return
        how = r.choice(["asked", "asked", "asked", "stuck", "cut"])
        if how == "cut" and await run.until("out", a_step, timeout=2.0, act=self.die):
            return
        await self.heal()
        if how == "stuck":
            self.stick(away=True)
        run.signal(signal.SIGCONT)
        run.trace.add("closing", how=how)
        run.signal(signal.SIGTERM)

    def stick(self, away=False):
        """A knob does not follow any more; where it is to be seen, one that is not at its safe value."""
        bench = self.run.bench
        knobs = [v for v in self.run.plan.variables if not v["dose"]]
        if away:
            knobs = [v for v in knobs if abs(bench.knobs[v["ch"]] - v["safe"]) > v["tolerance"]] or knobs
        if not knobs:
            return
        v = self.random.choice(knobs)
        low, high = v["range"]
        bench.stuck.add(v["ch"])
        bench.hold(v["ch"])
        self.run.trace.add("stuck", ch=v["ch"], value=bench.knobs[v["ch"]], span=high - low)

    async def between(self, event):
        """After a session: what a person would do next. False ends the run."""
        run, code, r = self.run, event["code"], self.random
        await self.heal()
        if run.trace.of("journal-gone"):
            await self.rescued()
            return False
        if time.monotonic() > self.end - 3:
            return False
        if code == 0 or self.finished():
            await self.after_the_end()
            return False
        killed = code in (-signal.SIGKILL, None)
        if killed and r.random() < 0.3:
            if r.random() < 0.3:
                self.stick(away=True)
            await run.command_line("make-safe", str(run.config))
            run.trace.add("after-make-safe", knobs=dict(run.bench.knobs), released=sorted(run.bench.released))
            await self.heal()
        await self.odd_start()
        if code in (4, 7) or killed and run.plan.doses or self.refusals:
            if r.random() < 0.5 and not self.refusals:
                self.refusals += 1
                return True                      # tried as it is: must be refused while it is latched
            self.refusals = 0
            for _ in range(3):
                done, _ = await run.command_line("reset", str(run.config))
                if done == 0:
                    break
                await asyncio.sleep(0.3)
        elif code not in (130, -signal.SIGKILL):
            self.refusals += 1
            if self.refusals > 2:
                return False
            await run.command_line("reset", str(run.config))
        await asyncio.sleep(0.1)
        return True

    async def rescued(self):
        """Steps that are in any journal of the folder, after the journal was taken away."""
        steps = set()
        for path in sorted(self.run.journal.parent.glob("*")):
            if path.suffix not in ("-wal", "-shm") and path.is_file() and path.open("rb").read(15) == b"SQLite format 3":
                found = snapshot(path)
                if found and "error" not in found:
                    steps |= {row["step"] for row in found["outcome"]}
        self.run.trace.add("rescued", steps=sorted(steps), files=sorted(p.name for p in self.run.journal.parent.iterdir()))

    async def odd_start(self):
        """Sometimes the next start finds something that forbids it to drive."""
        run, r = self.run, self.random
        kind = r.choice(["", "", "", "door", "aux", "outside"])
        knobs = [v for v in run.plan.variables if not v["dose"]]
        if kind == "door":
            run.bench.door = 0.0
        elif kind == "aux" and run.plan.permissive:
            run.bench.aux = 55.0
        elif kind == "outside" and knobs:
            v = r.choice(knobs)
            run.bench.knobs[v["ch"]] = v["hard"][1] + 0.2 * (v["hard"][1] - v["hard"][0])
        else:
            return
        run.trace.add("odd-start", what=kind)
        asyncio.ensure_future(self.even_again(kind))

    async def even_again(self, kind):
        await asyncio.sleep(2.0)
        self.run.bench.door, self.run.bench.aux = 1.0, 20.0
        for v in self.run.plan.variables:
            if kind == "outside" and not v["dose"] and self.run.bench.knobs[v["ch"]] > v["hard"][1]:
                self.run.bench.knobs[v["ch"]] = v["begin"]
                self.run.trace.add("hand", ch=v["ch"], value=v["begin"])

    def finished(self):
        last = self.run.journals[-1]
        return bool(last and last.get("result"))

    async def after_the_end(self):
        """A finished run is not begun again by accident."""
        await self.run.begin()
        await self.run.ended(10)

    # Kills and signals.

    async def nothing(self):
        await asyncio.sleep(2.0)

    def die(self, _=None):
        """The program is killed; where its disk forgets, every other time by a power cut: what was not synced is gone with it."""
        run = self.run
        run.signal(signal.SIGKILL)
        if run.disk and self.random.random() < 0.5:
            run.disk.crash_now()

    async def kill(self):
        await asyncio.sleep(self.random.uniform(0, 1.0))
        self.die()
        await asyncio.sleep(0.2)

    async def kill_at_setpoint(self):
        await self.run.until("set", act=self.die)
        await asyncio.sleep(0.2)

    async def kill_at_step(self):
        await self.run.until("out", a_step, act=self.die)
        await asyncio.sleep(0.2)

    async def kill_at_dose(self):
        """Half of the time before the device answers."""
        if self.random.random() < 0.5:
            self.answers_late(0.3)
        await self.run.until("dose", act=self.die)
        await asyncio.sleep(0.2)

    async def terminate(self):
        """Ended by a signal, every second time while a knob does not follow: not at rest, and not said to be."""
        stuck = self.random.random() < 0.5
        if stuck:
            self.stick(away=True)
        self.run.signal(self.random.choice([signal.SIGTERM, signal.SIGINT]))
        await self.run.until("exit", timeout=24 if stuck else 8)

    async def stop_and_go(self):
        self.run.signal(signal.SIGSTOP)
        await asyncio.sleep(self.random.choice([0.1, 0.4, 0.4, 1.2, 3.5]))
        self.run.signal(signal.SIGCONT)
        await asyncio.sleep(0.5)

    async def stop_at_setpoint(self):
        """Stalled with a setpoint on its way, for longer than its lease and time to live."""
        if self.run.mqtt:
            self.run.mqtt.confirm_delay = 0.3
        if self.run.exec:
            self.run.exec.late = 0.2
        await self.run.until("set", act=lambda e: self.run.signal(signal.SIGSTOP))
        await asyncio.sleep(3.6)
        await self.heal()
        await asyncio.sleep(0.8)

    async def twin(self):
        """A copy of the run as it stood when it told of a step is resumed beside it: both must propose the same next."""
        await Twin(self.run).compare()

    # The interlock.

    async def door_opens(self):
        await self.open_door()

    async def open_door(self, seconds=1.6):
        self.run.bench.door = 0.0
        self.run.trace.add("door", open=True)
        if self.run.mqtt and "door" in self.run.mqtt.channels:
            self.run.mqtt.say("door")
        await asyncio.sleep(seconds)
        self.run.bench.door = 1.0
        self.run.trace.add("door", open=False)

    async def door_at_setpoint(self):
        """The interlock opens while a write waits for its answer, which comes late."""
        if self.run.mqtt and self.run.plan.confirm:
            self.run.mqtt.confirm_delay = self.random.choice([0.6, 2.0])
        if self.run.exec:
            self.run.exec.late = self.random.choice([0.1, 0.4])
        if self.run.serial:
            self.run.serial.late = self.random.choice([0.1, 0.3])
        await self.run.until("set", lambda e: True)
        await self.open_door(2.5)

    async def door_after_drops(self):
        for _ in range(self.random.choice([1, 2, 3, 4])):
            self.run.proxies["mqtt"].drop()
            await asyncio.sleep(self.random.uniform(0.3, 1.2))
        await self.run.until("link", lambda e: e["up"] and e["link"] == "mqtt", timeout=2)
        await asyncio.sleep(0.5)
        await self.open_door(3.0)

    async def door_with_late_delivery(self):
        """What the program abandons is delivered late: the device must end at the safe value."""
        proxy = self.run.proxies["mqtt"]
        await self.run.until("set")
        proxy.stall_out = True
        await asyncio.sleep(0.2)
        self.run.bench.door = 0.0
        self.run.trace.add("door", open=True)
        await asyncio.sleep(self.random.choice([0.5, 1.5]))
        proxy.stall_out = False
        await asyncio.sleep(2.0)
        self.run.bench.door = 1.0
        self.run.trace.add("door", open=False)

    async def door_silent(self):
        self.run.bench.silent.add("door")
        self.run.trace.add("door-silent", silent=True)
        await asyncio.sleep(2.2)
        self.run.bench.silent.discard("door")
        self.run.trace.add("door-silent", silent=False)

    # Links.

    async def drop(self):
        for _ in range(self.random.choice([1, 1, 2, 5])):
            self.run.proxies["mqtt"].drop(self.random.random() < 0.5)
            await asyncio.sleep(self.random.uniform(0.3, 1.0))
        await asyncio.sleep(1.0)

    async def drop_at_setpoint(self):
        await self.run.until("set", act=lambda e: self.run.proxies["mqtt"].drop())
        await asyncio.sleep(1.5)

    async def stall(self):
        proxy = self.run.proxies["mqtt"]
        which = self.random.choice(["in", "out", "both"])
        proxy.stall_in, proxy.stall_out = which != "out", which != "in"
        self.run.trace.add("stalled", link="mqtt", way=which)
        await asyncio.sleep(self.random.choice([0.4, 1.0, 5.0]))
        proxy.calm()
        await asyncio.sleep(0.5)

    async def half(self):
        self.run.proxies["mqtt"].half = self.random.choice(["in", "out"])
        await asyncio.sleep(1.5)

    async def delayed(self):
        self.run.proxies["mqtt"].delay = self.random.choice([0.02, 0.06])
        await asyncio.sleep(2)

    async def reordered(self):
        self.run.proxies["mqtt"].swap = self.random.choice([1, 3, 10])
        await asyncio.sleep(1.5)

    async def broker_restarts(self):
        await self.run.broker.stop()
        for proxy in self.run.proxies.values():
            proxy.drop()
        await asyncio.sleep(self.random.choice([0.2, 1.5]))
        await self.run.broker.start()
        await asyncio.sleep(1.5)

    async def take_over(self):
        """A stranger takes a name that can be made from what the setpoints say, or guessed."""
        sets = [e for e in self.run.trace.of("set", "dose") if e.get("session")]
        names = {"tuner", "tuner-check", f"tuner-{self.run.plan.name}"}
        if sets:
            names |= {f"tuner-{sets[-1]['session']}", sets[-1]["session"]}
        before = len([e for e in self.run.trace.of("link") if not e["up"] and e["link"] == "mqtt"])
        strangers = [Client(name, self.run.broker.port, [], lambda *a: None) for name in sorted(names)]
        await asyncio.sleep(1.0)
        for one in strangers:
            one.end()
        after = len([e for e in self.run.trace.of("link") if not e["up"] and e["link"] == "mqtt"])
        self.run.trace.add("take-over", names=sorted(names), thrown_out=after - before)
        await asyncio.sleep(0.5)

    async def forged(self):
        """Messages that a good driver does not take: retained, no number, too large, of a strange unit."""
        port, r = self.run.broker.port, self.random
        stranger = Client("forger", port, [], lambda *a: None)
        await asyncio.sleep(0.2)
        for _ in range(6):
            ch = r.choice(self.run.plan.channels("mqtt"))
            payload = r.choice(['{"value":"12"}', '{"value":NaN}', '{"value":1e999}', '{"value":null}', "77", "{", '{"other":5}', '{"value":[1]}', "x" * 2000])
            stranger.say(f"bench/{ch}", payload)
            await asyncio.sleep(0.1)
        stranger.end()

    async def retained_while_away(self):
        """A value of the objective that was left behind at the broker is no measurement."""
        stranger = Client("forger", self.run.broker.port, [], lambda *a: None)
        await asyncio.sleep(0.1)
        proxy = self.run.proxies["mqtt"]
        proxy.refuse = True
        proxy.drop()
        self.run.bench.silent.add("power")
        stranger.say("bench/power", '{"value":55.5}', True)
        await asyncio.sleep(0.2)
        proxy.refuse = False
        await asyncio.sleep(2.0)
        self.run.bench.silent.discard("power")
        stranger.say("bench/power", "", True)
        await asyncio.sleep(0.1)
        stranger.end()

    async def confirm_late(self):
        self.run.mqtt.confirm_delay = self.random.choice([0.3, 0.7, 1.5])
        await asyncio.sleep(2.5)

    async def confirm_lost(self):
        self.run.mqtt.confirm_off = True
        await asyncio.sleep(self.random.choice([0.5, 2.0]))

    async def confirm_wrong(self):
        """What comes is a confirmation, and not of this message."""
        self.run.mqtt.wrong_confirm = self.random.choice(["higher", "older", "session", "released", "nobody", "text"])
        await asyncio.sleep(1.0)

    async def device_refuses(self):
        for one in (self.run.mqtt, self.run.exec, self.run.serial):
            if one and (one is not self.run.mqtt or self.run.plan.confirm):
                one.refuse = True
        await asyncio.sleep(self.random.choice([0.4, 1.5]))

    async def exposed(self):
        await asyncio.sleep(4.0)

    # Lines and children.

    def line(self):
        return self.random.choice([one for one in (self.run.serial, self.run.meter) if one])

    async def unplugged(self):
        line = self.line()
        line.unplug()
        await asyncio.sleep(self.random.choice([0.2, 1.5]))
        line.plug()
        await asyncio.sleep(1.0)

    async def garbled(self):
        self.line().garble = self.random.choice([1, 3, 8])
        await asyncio.sleep(1.5)

    async def mute(self):
        line = self.line()
        line.mute = True
        await asyncio.sleep(self.random.choice([0.3, 1.5]))
        line.mute = False
        await asyncio.sleep(0.8)

    async def late_answers(self):
        late = self.random.choice([0.05, 0.3, 0.8])
        for one in (self.run.serial, self.run.meter, self.run.exec):
            if one:
                one.late = late
        await asyncio.sleep(1.5)

    async def extra_lines(self):
        self.line().extra = self.random.choice([1, 2])
        await asyncio.sleep(1.2)

    async def child_dies(self):
        self.run.exec.die(self.random.choice([0, 1, 3]))
        await asyncio.sleep(1.5)

    async def child_dies_at_setpoint(self):
        await self.run.until("set", act=lambda e: self.run.exec.die(1))
        await asyncio.sleep(1.5)

    async def child_hangs(self):
        self.run.exec.hang = True
        await asyncio.sleep(self.random.choice([0.3, 1.2]))
        self.run.exec.hang = False
        await asyncio.sleep(1.0)

    async def child_wrong(self):
        self.run.exec.wrong = self.random.choice(["id", "text", "nan", "cut"])
        await asyncio.sleep(0.4)
        self.run.exec.wrong = ""
        await asyncio.sleep(1.0)

    async def old_values(self):
        """The child says that its values are old: older than the last setpoint, they are no shot of it."""
        self.run.exec.age = self.random.choice([400, 2500])
        await asyncio.sleep(1.5)

    # Sensors and actuators.

    async def sensor_silent(self):
        self.run.bench.silent.add(self.random.choice(["power", "aux", "aux"]))
        await asyncio.sleep(self.random.choice([1.5, 2.5]))

    async def long_silence(self):
        """Held for longer than hold_max: the run falls back."""
        plan = self.run.plan
        self.run.bench.silent.add("aux")
        ways = [(v["range"][1] - v["range"][0]) / v["slew"] * (1 + 4 * bool(v["dwell"])) for v in plan.variables if not v["dose"]]
        await asyncio.sleep(1.0 + plan.hold_max + max(ways, default=0.0) + 1.6)

    async def sensor_frozen(self):
        """The same number, bit for bit, while the knobs move."""
        self.run.bench.spoil, self.run.bench.spoil_ch = (lambda value: 20.015625), "aux"
        self.run.trace.add("frozen", ch="aux")
        await asyncio.sleep(2.5)

    async def sensor_spikes(self):
        """Jumps that the rate does not allow."""
        sign = [1]

        def spike(value):
            sign[0] = -sign[0]
            return value + 25.0 * sign[0]
        self.run.bench.spoil, self.run.bench.spoil_ch = spike, "aux"
        await asyncio.sleep(2.0)

    async def second_instance(self):
        """Another process of the same file: refused, and nothing is driven by it."""
        run = self.run
        await run.command_line("run", str(run.config), "--json")

    async def sensor_out_of_range(self):
        self.run.bench.spoil, self.run.bench.spoil_ch = (lambda value: 5000.0), self.random.choice(["power", "aux"])
        self.run.trace.add("out-of-range", ch=self.run.bench.spoil_ch)
        await asyncio.sleep(self.random.choice([0.1, 1.2]))

    async def knob_stuck(self):
        """A setpoint does not show in the readback."""
        self.stick()
        await asyncio.sleep(self.random.choice([0.7, 2.5, 7.0, 7.0]))

    async def moved_by_hand(self):
        v = self.random.choice([v for v in self.run.plan.variables if not v["dose"]])
        low, high = v["range"]
        self.run.bench.knobs[v["ch"]] = round(low + (high - low) * self.random.random(), 3)
        self.run.trace.add("hand", ch=v["ch"], value=self.run.bench.knobs[v["ch"]])
        await asyncio.sleep(2.5)

    async def dry_pump(self):
        """Doses that show nowhere: the run must trip."""
        bench = self.run.bench
        bench.spoil, bench.spoil_ch = (lambda value: 1.0), "ec"
        await asyncio.sleep(8.0)

    def answers_late(self, seconds):
        """Doses are answered late."""
        run = self.run
        if run.exec:
            run.exec.dose_delay = seconds
        if run.mqtt:
            run.mqtt.confirm_delay = seconds
        if run.serial:
            run.serial.late = seconds

    async def dose_late(self):
        self.answers_late(self.random.choice([0.3, 0.5, 0.8, 1.2, 2.5]))
        await self.run.until("dose", timeout=2)
        await asyncio.sleep(2.0)

    async def dose_unanswered(self):
        """A dose is given, and nobody hears of it: the line is cut, or the answer lost."""
        run = self.run

        def unheard(_):
            if run.exec:
                run.exec.hang = True
            if run.mqtt:
                run.mqtt.confirm_off = True
            if run.serial:
                run.serial.mute = True
        for _ in range(self.random.choice([1, 1, 2])):
            if not await run.until("dose", act=unheard, timeout=2.5):
                break
            await asyncio.sleep(self.random.choice([0.5, 1.5]))
            await self.heal()
            await asyncio.sleep(0.4)
            await self.acknowledge()

    async def door_at_dose(self):
        self.answers_late(0.4)
        await self.run.until("dose", timeout=2)
        await self.open_door(1.5)

    # Commands.

    async def command(self, name, transaction=None, session=None, expires=5000, retain=False, raw=None, **more):
        self.transactions += 1
        run = self.run
        key = transaction or f"t{run.session}-{self.transactions}"
        payload = raw if raw is not None else json.dumps(dict({
            "transaction": key, "session": session or run.status.get("session", ""), "expires_ms": expires, "args": {"reason": "checker"}}, **more))
        run.trace.add("order", command=name, transaction=key, repeat=transaction is not None)
        run.operator.say(f"tuner/lab/{run.plan.name}/cmd/{name}", payload, retain)
        for _ in range(40):
            if key in run.answers and transaction is None:
                return run.answers[key]
            await asyncio.sleep(0.05)
            if not run.running():
                return None
        return run.answers.get(key)

    async def pause_resume(self):
        answer = await self.command("pause")
        await asyncio.sleep(self.random.choice([0.5, 2.0]))
        if answer and self.random.random() < 0.4:   # a repeat does not act
            await self.command("resume")
            await asyncio.sleep(0.5)
            await self.command("pause", transaction=answer["transaction"])
            await asyncio.sleep(0.5)
        await self.command("resume")

    async def stop_command(self):
        if self.random.random() < 0.5:
            await self.run.until("set", timeout=1.5)
        await self.command("stop", raw=self.random.choice(["", None, "stop now"]))
        await asyncio.sleep(8)

    async def bad_commands(self):
        """Each is to be refused and to change nothing."""
        for _ in range(4):
            kind = self.random.choice(["session", "expired", "malformed", "unknown", "retained", "expires"])
            self.run.trace.add("bad-order", bad=kind)
            if kind == "session":
                await self.command("pause", session="0123456789abcdef")
            elif kind == "expired":
                await self.command("pause", issued="2026-01-01T00:00:00Z")
            elif kind == "expires":
                await self.command("pause", expires=0)
            elif kind == "malformed":
                await self.command("pause", raw='{"transaction":"m","session"')
            elif kind == "unknown":
                await self.command("pause", surprise=1)
            else:
                await self.retained_command()
            if not self.run.running():
                return

    async def retained_command(self):
        run = self.run
        session = run.status.get("session", "")
        proxy = run.proxies["commands"]
        proxy.refuse = True
        proxy.drop()
        await asyncio.sleep(0.1)
        topic = f"tuner/lab/{run.plan.name}/cmd/pause"
        self.transactions += 1
        run.trace.add("retained-order", transaction=f"r{self.transactions}")
        run.operator.say(topic, json.dumps({"transaction": f"r{self.transactions}", "session": session, "expires_ms": 60000}), True)
        await asyncio.sleep(0.1)
        proxy.refuse = False
        await run.until("link", lambda e: e["up"] and e["link"] == "commands", timeout=4)
        await asyncio.sleep(0.6)
        proxy.refuse = True
        proxy.drop()
        run.operator.say(topic, "", True)
        await asyncio.sleep(0.1)
        proxy.refuse = False
        await run.until("link", lambda e: e["up"] and e["link"] == "commands", timeout=4)

    async def set_best(self):
        await self.command("set-best")
        await asyncio.sleep(8)

    # The record.

    async def journal_deleted(self):
        os.unlink(self.run.journal)
        self.run.trace.add("journal-gone", how="deleted")
        await asyncio.sleep(4)

    async def journal_replaced(self):
        path = self.run.journal
        path.with_name("other.db").write_bytes(b"")
        os.replace(path.with_name("other.db"), path)
        self.run.trace.add("journal-gone", how="replaced")
        await asyncio.sleep(4)

    async def disk_full(self):
        await self.run.disk.say("full on")
        await asyncio.sleep(self.random.choice([1.0, 3.0]))

    async def disk_errors(self):
        await self.run.disk.say("errors on")
        await asyncio.sleep(self.random.choice([0.5, 2.0]))

    async def disk_slow(self):
        await self.run.disk.say(f"slow {self.random.choice([20, 150])}")
        await asyncio.sleep(2)

    async def power_cut(self, when="set", match=lambda e: True):
        """The program and everything that was not synced are gone at once."""
        run = self.run

        def cut(_):
            run.signal(signal.SIGKILL)
            run.disk.crash_now()
        if not await run.until(when, match, timeout=2.5, act=cut):
            cut(None)
        await asyncio.sleep(0.3)

    async def power_cut_at_step(self):
        await self.power_cut("out", a_step)

    async def power_cut_at_dose(self):
        await self.power_cut("dose")


class Twin:
    """A second process on a copy of journal and control state, with an instrument of its own that knows no faults."""

    def __init__(self, run):
        self.run, self.home = run, run.folder / f"twin{len(run.trace.of('twin'))}"

    async def compare(self):
        run = self.run
        if not await run.until("out", a_step, timeout=4.0, act=lambda e: run.signal(signal.SIGSTOP)):
            return
        stopped = snapshot(run.journal)
        shutil.copytree(run.home, self.home, ignore=lambda folder, names: [n for n in names if n.endswith((".sock", ".lock")) or n in ("disk", "backing")])
        for path in run.journal.parent.glob("check.*"):
            if path.suffix not in (".sock", ".lock", ".db-shm", ".toml"):
                shutil.copyfile(path, self.home / path.name)
        run.signal(signal.SIGCONT)
        decided, done = len(stopped["decision"]), len(stopped["outcome"])
        if decided != done:
            run.trace.add("twin", skipped=f"decision {decided} was on record already", step=done)
            return
        resumed = await self.resume(done + 1)
        went_on = await self.went_on(done + 1)
        if resumed is None or went_on is None:
            run.trace.add("twin", skipped="no next proposal", step=done, resumed=resumed, went_on=went_on)
        else:
            run.trace.add("twin", step=done, same=resumed == went_on, resumed=resumed, went_on=went_on)

    async def resume(self, step):
        run = self.run
        bench = Bench(run.plan, Trace())
        bench.knobs = Knobs(run.bench.knobs)
        bench.doses, bench.ec = dict(run.bench.doses), run.bench.ec
        device = ExecDevice(run.plan, bench, bench.trace, self.home / "child.sock")
        await device.start()
        journal = self.home / "check.db"
        config = self.home / "check.toml"
        config.write_text(run.config.read_text().replace(str(run.journal), str(journal)))
        environment = dict(run.environment(), XDG_STATE_HOME=str(self.home / "state"), XDG_RUNTIME_DIR=str(self.home))
        process = await asyncio.create_subprocess_exec(run.tuner, "run", str(config), "--json", cwd=str(self.home), env=environment,
                                                       stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        try:
            for _ in range(100):
                found = snapshot(journal)
                if found and "error" not in found and proposal(found, step):
                    return proposal(found, step)
                if process.returncode is not None:
                    run.trace.add("twin-ended", code=process.returncode, said=(await process.stderr.read()).decode(errors="replace")[-500:])
                    return None
                await asyncio.sleep(0.1)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
            device.end()
        return None

    async def went_on(self, step):
        for _ in range(40):
            found = snapshot(self.run.journal)
            if found and "error" not in found and proposal(found, step):
                return proposal(found, step)
            if not self.run.running():
                return None
            await asyncio.sleep(0.1)
        return None


def proposal(journal, step):
    """Control set and requested values of a decision, unless it was cut by its deadline."""
    decision = next((d for d in journal["decision"] if d["step"] == step), None)
    if decision is None or decision["cut"]:
        return None
    values = [(r["variable"], r["requested"], r["applied"]) for r in journal["decision_value"] if r["step"] == step]
    return [decision["control_set"], decision["work"], sorted(values)] if values else None


class Disk:
    """The other engineer's file system under the journal: scripts/checker/faultfs."""

    def __init__(self, run):
        self.run = run
        self.mountpoint, self.backing = run.home / "disk", run.home / "backing"
        self.control = run.home / "disk.sock"
        self.sick = self.changed = False

    async def mount(self):
        self.mountpoint.mkdir()
        self.backing.mkdir()
        self.process = await asyncio.create_subprocess_exec(str(self.run.faultfs), str(self.mountpoint), str(self.backing), "--control", str(self.control))
        for _ in range(200):
            if os.path.ismount(self.mountpoint) and self.control.exists():
                return
            await asyncio.sleep(0.05)
        raise RuntimeError("faultfs does not mount")

    async def say(self, command):
        self.sick = self.sick or command in ("full on", "errors on")
        self.changed = True
        reader, writer = await asyncio.open_unix_connection(str(self.control))
        writer.write(command.encode() + b"\n")
        answer = await asyncio.wait_for(reader.readline(), 70)
        writer.close()
        self.run.trace.add("disk", command=command, answer=answer.decode(errors="replace").strip())

    def crash_now(self):
        """In one go, so that nothing is synced after the kill."""
        import socket
        self.sick = True
        self.run.live.close()
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(str(self.control))
            seed = self.run.random.choice(["", " 1", " 2", " 3", " 4"])
            s.sendall(f"crash{seed}\n".encode())
            self.run.trace.add("disk", command="crash", answer=s.recv(200).decode(errors="replace").strip())

    async def heal(self):
        if self.sick or self.changed:
            for command in ("full off", "errors off", "slow 0"):
                await self.say(command)
            self.sick = self.changed = False

    async def unmount(self):
        if self.process.returncode is None:
            self.process.terminate()
            try:
                await asyncio.wait_for(self.process.wait(), 5)
            except asyncio.TimeoutError:
                self.process.kill()
                await self.process.wait()


def _always(p, run):
    return True


def _mqtt(p, run):
    return run.mqtt is not None


def _line(p, run):
    return run.serial is not None or run.meter is not None


def _exec(p, run):
    return run.exec is not None


def _knobs(p, run):
    return any(not v["dose"] for v in p.variables)


def _commands(p, run):
    return p.commands


def _dose(p, run):
    return p.doses


def _disk(p, run):
    return run.disk is not None


def _twin(p, run):
    return set(p.driver.values()) == {"exec"} and not p.commands


def _both(*tests):
    return lambda p, run: all(t(p, run) for t in tests)


def _confirm(p, run):
    return run.mqtt is not None and p.confirm


FAULTS = [
    ("door_opens", _always, 2), ("kill_at_setpoint", _knobs, 2), ("kill_at_dose", _dose, 3), ("pause_resume", _commands, 1), ("disk_slow", _disk, 2),
    ("door_at_setpoint", _knobs, 1), ("dry_pump", _dose, 2), ("long_silence", _knobs, 1), ("confirm_wrong", _confirm, 3), ("child_wrong", _exec, 1),
    ("stop_at_setpoint", _knobs, 1), ("garbled", _line, 2), ("twin", _twin, 3), ("dose_late", _dose, 3), ("dose_unanswered", _dose, 4), ("power_cut_at_step", _disk, 3),
    ("retained_while_away", _mqtt, 2), ("knob_stuck", _knobs, 2), ("device_refuses", _always, 1), ("mute", _line, 2), ("stop_command", _commands, 2),
    ("sensor_silent", _always, 1), ("kill_at_step", _always, 2), ("door_silent", _always, 2), ("drop_at_setpoint", _both(_mqtt, _knobs), 1),
    ("late_answers", lambda p, r: _line(p, r) or _exec(p, r), 1), ("confirm_lost", _confirm, 2), ("door_at_dose", _dose, 3), ("disk_full", _disk, 1),
    ("bad_commands", _commands, 1), ("sensor_out_of_range", _always, 1), ("exposed", lambda p, r: p.exposure, 2), ("child_dies_at_setpoint", _both(_exec, _knobs), 1),
    ("door_after_drops", _mqtt, 1), ("terminate", _always, 2), ("unplugged", _line, 1), ("door_with_late_delivery", _both(_mqtt, _knobs), 1),
    ("sensor_frozen", _both(_knobs, lambda p, r: p.stuck_readings), 2), ("sensor_spikes", lambda p, r: p.rate, 1), ("power_cut", _both(_disk, _knobs), 2),
    ("old_values", _exec, 3), ("take_over", _mqtt, 1), ("forged", _mqtt, 1), ("reordered", _mqtt, 1), ("moved_by_hand", _knobs, 1), ("extra_lines", _line, 1),
    ("child_hangs", _exec, 1), ("confirm_late", _confirm, 2), ("second_instance", _always, 1), ("kill", _always, 1), ("stop_and_go", _always, 1), ("drop", _mqtt, 1),
    ("stall", _mqtt, 1), ("half", _mqtt, 1), ("delayed", _mqtt, 1), ("broker_restarts", _mqtt, 1), ("child_dies", _exec, 1), ("disk_errors", _disk, 1),
    ("power_cut_at_dose", _both(_disk, _dose), 3), ("set_best", _commands, 1),
]
