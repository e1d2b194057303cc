"""One run: the world of a seed, the program in it, session after session, and the faults."""

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import trace as tracing
from . import faults, oblivious
from .bench import Bench
from .broker import Broker, Proxy
from .execdevice import ExecDevice
from .journal import Live, snapshot
from .mqttdevice import MqttDevice
from .mqttwire import Client
from .plan import Plan
from .serialdevice import SerialDevice

HERE = Path(__file__).resolve().parent


class Run:
    def __init__(self, seed, seconds, tuner, folder, family=None, only=None, faultfs=None):
        self.plan, self.seconds, self.tuner, self.folder = Plan(seed, family), seconds, tuner, Path(folder)
        self.only, self.faultfs = only, faultfs
        self.random = random.Random(seed * 104729 + 5)
        self.trace = tracing.Trace()
        self.bench = Bench(self.plan, self.trace)
        self.process, self.session = None, 0
        self.journals, self.status, self.answers = [], {}, {}
        self.state = {}
        self.on_event = []          # callbacks waiting for the next event of a kind
        self.stopped = self.over = self.leaving = False
        self.mqtt = self.exec = self.serial = self.meter = self.disk = None
        self.proxies = {}
        self.background = []

    # The world.

    async def build(self):
        plan, folder = self.plan, self.folder
        folder.mkdir(parents=True, exist_ok=True)
        self.home = folder / "run"
        self.home.mkdir()
        if plan.faultfs and self.faultfs:
            self.disk = faults.Disk(self)
            await self.disk.mount()
        uses_mqtt = "mqtt" in plan.driver.values()
        if uses_mqtt or plan.commands:
            self.broker = Broker(folder, self.trace)
            await self.broker.start()
        ports, commands = {}, None
        if uses_mqtt:
            ports["mqtt"] = await self.proxy("mqtt", self.seen_mqtt)
            self.mqtt = MqttDevice(plan, self.bench, self.trace, self.broker.port)
        if plan.commands:
            commands = await self.proxy("commands", self.seen_commands)
            self.operator = Client(f"operator-{plan.seed}", self.broker.port,
                                   ["tuner/+/+/status", "tuner/+/+/state", "tuner/+/+/resp/+", "tuner/+/+/event"], self.heard)
        if "exec" in plan.driver.values():
            shutil.copy(HERE / "child.py", self.home / "child.py")
            self.exec = ExecDevice(plan, self.bench, self.trace, self.home / "child.sock")
            await self.exec.start()
        if "serial" in plan.driver.values():
            self.serial = SerialDevice("serial", plan, self.bench, self.trace, self.home / "stage.port", b"\n")
        if "meter" in plan.driver.values():
            self.meter = SerialDevice("meter", plan, self.bench, self.trace, self.home / "meter.port", b"\r\n")
        self.config = self.home / "check.toml"
        journal = self.disk.mountpoint / "check.db" if self.disk else self.home / "check.db"
        self.journal = journal
        self.live = Live(journal)
        self.before_exec = oblivious.become if self.disk and plan.local_disk and oblivious.possible() else None
        text = plan.toml(ports, commands) + f'\n[journal]\npath = "{journal}"\n' + ("min_free = 0\n" if self.before_exec else "")
        self.config.write_text(text)
        self.background.append(asyncio.ensure_future(tracing.heartbeat(self.trace, lambda: self.process.pid if self.process and not self.stopped else None)))
        self.trace.add("plan", seed=plan.seed, family=plan.family, toml=text, wall=time.time())

    async def proxy(self, name, seen):
        self.proxies[name] = Proxy(name, self.broker, self.trace, seen)
        await self.proxies[name].start()
        return self.proxies[name].port

    async def raze(self):
        for task in self.background:
            task.cancel()
        for one in (self.mqtt, self.exec, self.serial, self.meter):
            if one:
                one.end()
        self.live.close()
        if self.disk:
            await self.disk.unmount()
        if hasattr(self, "broker"):
            await self.broker.stop()

    # What passes by.

    def seen_mqtt(self, way, conn, topic, payload, retained):
        parts = topic.split("/")
        ch = parts[1] if len(parts) > 1 else topic
        if way == "in":
            if len(parts) == 2:
                self.trace.add("served", dev="mqtt", conn=conn, ch=ch, raw=payload.decode(errors="replace")[:80], retained=retained,
                               **self.value_of(ch, payload, retained))
            else:
                self.trace.add("told", dev="mqtt", conn=conn, topic=topic, payload=payload.decode(errors="replace"))
            return
        if len(parts) < 3:
            self.trace.add("odd", topic=topic)
            return
        if parts[2] == "release":
            self.trace.add("release", dev="mqtt", ch=ch, conn=conn)
        elif parts[2] == "set":
            self.seen_setpoint(ch, conn, payload, retained)

    def value_of(self, ch, payload, retained):
        try:
            value = json.loads(payload)["value"]
            if isinstance(value, str):      # some firmware says "12"
                value = float(value)
            if isinstance(value, (int, float)):
                value = self.bench.inward(ch, value)
            good = not retained and isinstance(value, (int, float)) and value == value and abs(value) < 1e300
            return dict(value=value, good=good)
        except (ValueError, KeyError, TypeError):
            return dict(value=None, good=False)

    def seen_setpoint(self, ch, conn, payload, retained):
        v = self.bench.by_channel(ch)
        try:
            message = {"value": float(payload)} if self.plan.number_format else json.loads(payload)
        except ValueError:
            self.trace.add("garbled-setpoint", ch=ch, payload=repr(payload))
            return
        kind = "dose" if v["dose"] else "set"
        more = {k: message.get(k) for k in ("seq", "ttl_ms", "session", "sent_ms", "for_ms") if not self.plan.number_format}
        self.trace.add(kind, dev="mqtt", ch=ch, value=self.bench.inward(ch, message["value"]), conn=conn, name=message.get("dose"), retained=retained, **more)

    def seen_commands(self, way, conn, topic, payload, retained):
        parts = topic.split("/")
        if way == "in" and len(parts) == 5 and parts[3] == "cmd":
            self.trace.add("command", command=parts[4], payload=payload.decode(errors="replace"), retained=retained)

    def heard(self, topic, payload, retained):
        last = topic.split("/", 3)[3]
        try:
            message = json.loads(payload) if payload else {}
        except ValueError:
            self.trace.add("odd", topic=topic, payload=repr(payload))
            return
        if last == "status":
            self.status = message
            self.trace.add("status", retained=retained, **{k: message.get(k) for k in ("state", "session")})
        elif last == "state":
            self.state = message
            if not retained:
                self.trace.add("state", **{k: message.get(k) for k in ("state", "paused", "step", "steps", "spent", "session", "doses", "first_out", "disk")})
        elif last == "event":
            if message.get("kind") == "outcome":
                self.trace.add("told-outcome", step=message.get("step"), mean=message.get("mean"), cost=message.get("cost"))
        elif last.startswith("resp/"):
            self.trace.add("answer", **{k: message.get(k) for k in ("transaction", "command", "ok", "code", "message", "state", "repeated")})
            self.answers[message.get("transaction")] = message

    # The program.

    def environment(self):
        keep = {k: os.environ[k] for k in ("PATH", "LANG", "TMPDIR") if k in os.environ}
        return dict(keep, HOME=str(self.folder), XDG_STATE_HOME=str(self.folder / "state"), XDG_RUNTIME_DIR=str(self.folder))

    async def begin(self, *more):
        self.session += 1
        self.leaving = False
        self.install_probe()
        self.trace.add("start", session=self.session, args=list(more))
        self.process = await asyncio.create_subprocess_exec(
            self.tuner, "run", str(self.config), "--json", *more, cwd=str(self.home), env=self.environment(), limit=1 << 22, preexec_fn=self.before_exec,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, start_new_session=True)
        self.readers = [asyncio.ensure_future(self.read("out", self.process.stdout)), asyncio.ensure_future(self.read("err", self.process.stderr))]

    async def read(self, name, stream):
        while line := await stream.readline():
            text = line.decode(errors="replace").rstrip()
            doc = None
            if name == "out":
                try:
                    doc = json.loads(line)
                except ValueError:
                    pass
            self.trace.add(name, line=text[:4000], doc=doc)

    def install_probe(self):
        """Each setpoint is held against the journal at the moment at which it is seen."""
        if getattr(self.trace, "probed", False):
            return
        self.trace.probed, add = True, self.trace.add

        def probing(kind, **data):
            event = add(kind, **data)
            if kind in ("set", "dose") and not self.blind():
                event["intents"] = self.live.intents(data["dev"], data["ch"])
            if kind == "out" and faults.a_step(event) and not self.blind():
                event["recorded"] = self.live.outcome(event["doc"]["n"])
            for want in list(self.on_event):
                if want[0] == kind and want[1](event):
                    self.on_event.remove(want)
                    want[2](event)
            return event
        self.trace.add = probing

    def blind(self):
        return self.disk is not None and self.disk.sick

    async def until(self, kind, match=lambda e: True, timeout=3.0, act=None):
        """Waits for the next event of a kind; act runs in the very moment at which it is seen."""
        future = asyncio.get_event_loop().create_future()

        def hit(event):
            if act:
                act(event)
            if not future.done():
                future.set_result(event)
        want = (kind, match, hit)
        self.on_event.append(want)
        try:
            return await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            return None
        finally:
            if want in self.on_event:
                self.on_event.remove(want)

    def running(self):
        return self.process is not None and self.process.returncode is None

    def signal(self, number):
        if self.running():
            self.trace.add("signal", signal=signal.Signals(number).name)
            self.leaving = self.leaving or number in (signal.SIGTERM, signal.SIGINT)
            self.stopped = number == signal.SIGSTOP or self.stopped and number != signal.SIGCONT
            self.process.send_signal(number)

    async def ended(self, timeout):
        """Waits for the end of the process, and takes the journal as it is then."""
        begun, over = time.monotonic(), False
        while not over:
            left = begun + timeout + self.trace.lost(begun) - time.monotonic()
            try:
                await asyncio.wait_for(self.process.wait(), max(left, 0.0))
                break
            except asyncio.TimeoutError:    # time in which the machine stood still was not the program's
                await asyncio.sleep(0.1)    # until it is on record
                over = begun + timeout + self.trace.lost(begun) <= time.monotonic()
        if over:
            self.trace.add("overdue", seconds=timeout)
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGKILL)
            await self.process.wait()
        ended = time.monotonic()
        self.live.close()    # a reader that stays would keep the next process from recovering the log
        await asyncio.wait(self.readers, timeout=2)
        self.stopped = False
        event = self.trace.add("exit", code=self.process.returncode, session=self.session, ended=ended,
                               knobs=dict(self.bench.knobs), released=sorted(self.bench.released))
        self.process = None
        await asyncio.sleep(0.3)    # what is on its way through the broker and in the device arrives
        event["later_knobs"] = dict(self.bench.knobs)
        if self.disk:
            await self.disk.heal()
        self.take_journal(f"after session {self.session}")
        return event

    def take_journal(self, when):
        taken = snapshot(self.journal)
        self.journals.append(taken)
        self.trace.add("journal", when=when, n=len(self.journals) - 1,
                       error=None if taken is None else taken.get("error"), there=taken is not None)
        return taken

    async def command_line(self, *args, timeout=15):
        process = await asyncio.create_subprocess_exec(
            self.tuner, *args, cwd=str(self.home), env=self.environment(), preexec_fn=self.before_exec,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
        try:
            out, _ = await asyncio.wait_for(process.communicate(), timeout)
        except asyncio.TimeoutError:
            with contextlib.suppress(ProcessLookupError):   # it has ended in this moment
                process.kill()
            out, _ = await process.communicate()
        except asyncio.CancelledError:  # the run has ended meanwhile: a second one would now be the first
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise
        self.trace.add("cli", args=list(args), code=process.returncode, out=out.decode(errors="replace")[-1500:])
        return process.returncode, out.decode(errors="replace")

    # The life of the run.

    async def live_it(self):
        await self.build()
        try:
            await asyncio.wait_for(self.sessions(), self.seconds + 120)
        except asyncio.TimeoutError:
            self.trace.add("trouble", text="the run did not come to its end")
        finally:
            self.over = True
            if self.running():
                self.process.kill()
                await self.process.wait()
            await self.raze()

    async def sessions(self):
        end = time.monotonic() + self.seconds
        script = faults.Script(self, end)
        while time.monotonic() < end and self.session < 40:
            waits = self.plan.commands and script.random.random() < 0.25
            await self.begin(*(["--resume", "hold"] if waits else []))
            task = asyncio.ensure_future(script.play())
            gone = asyncio.ensure_future(self.process.wait())
            await asyncio.wait([task, gone], timeout=max(1.0, end - time.monotonic()), return_when=asyncio.FIRST_COMPLETED)
            if not gone.done():
                task.cancel()
                await asyncio.wait([task], timeout=1)
                await script.heal()
                await script.close()
            else:
                await asyncio.wait([task], timeout=0.1)
                task.cancel()
                await asyncio.wait([task], timeout=1)
                await script.heal()
            gone.cancel()
            event = await self.ended(30)
            if not await script.between(event):
                break
        code, out = await self.command_line("replay", str(self.journal), timeout=60)
