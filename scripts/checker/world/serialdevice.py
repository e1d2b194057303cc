"""The bench behind a serial line: a pseudo-terminal and a line protocol."""

import asyncio
import os
import time
import tty


class SerialDevice:
    """Questions `R ch`, setpoints `M ch value`, doses `D ch value`, `X ch` to let go, `ID?`."""

    def __init__(self, name, plan, bench, trace, path, terminator):
        self.name, self.plan, self.bench, self.trace = name, plan, bench, trace
        self.path, self.terminator = path, terminator
        self.late, self.garble, self.mute, self.extra, self.refuse = 0.0, 0, False, 0, False
        self.master = None
        self.plug()

    def plug(self):
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        temporary = str(self.path) + ".new"
        if os.path.lexists(temporary):
            os.unlink(temporary)
        os.symlink(os.ttyname(self.slave), temporary)
        os.replace(temporary, self.path)
        self.buffer = b""
        asyncio.get_event_loop().add_reader(self.master, self.readable)

    def unplug(self):
        if self.master is None:
            return
        asyncio.get_event_loop().remove_reader(self.master)
        os.close(self.master)
        os.close(self.slave)
        self.master = None
        if os.path.lexists(self.path):
            os.unlink(self.path)
        self.trace.add("link", link=self.name, conn=0, up=False)

    def readable(self):
        try:
            self.buffer += os.read(self.master, 4096)
        except (BlockingIOError, OSError):
            return
        while self.terminator in self.buffer:
            line, self.buffer = self.buffer.split(self.terminator, 1)
            self.take(line.decode(errors="replace"))

    def take(self, line):
        request = self.trace.add("ask", dev=self.name, line=line, until=None)
        if "\x18" in line:   # what stands before the cancel character is void
            line = line.rsplit("\x18", 1)[1]
        answer, note = self.answer(line.split(), request)
        if answer is None or self.mute or line.startswith("D ") and self.bench.word_lost():
            return
        asyncio.ensure_future(self.reply(request, answer, note))

    async def reply(self, request, answer, note):
        master = self.master
        if self.late:
            await asyncio.sleep(self.late)
        if self.garble > 0 and self.bench.random.random() < 0.7:
            self.garble -= 1
            answer, note = self.spoilt(answer), dict(note, good=False) if note else None
        if self.extra > 0:
            self.extra -= 1
            answer += self.terminator.decode() + "99"
        if master != self.master or master is None:
            return
        if note:
            if time.monotonic() - request["t"] > self.plan.reply_timeout + 0.15:
                note = dict(note, good=False, raw="too late")
            self.trace.add("served", dev=self.name, **note)
        request["until"] = self.trace.add("answered", dev=self.name, line=answer)["t"]
        try:
            os.write(master, answer.encode() + self.terminator)
        except OSError:
            pass

    def spoilt(self, answer):
        """A line that no longer says what it said, and is seen to be wrong."""
        at = self.bench.random.randrange(len(answer))
        return answer[:at] + self.bench.random.choice("#@~") + answer[at + 1:]

    def answer(self, words, request):
        if not words:
            return None, None
        if words[0] == "ID?":
            return "STAGE 7", None
        if words[0] == "*IDN?":
            return "METER 3", None
        ch = words[1] if len(words) > 1 else ""
        if words[0] == "R" and ch in self.plan.channels(self.name):
            value = self.bench.read(ch)
            if value is None:
                return None, None
            said = self.bench.outward(ch, value)
            name = "" if self.plan.bare and self.name == "serial" else f"{ch}="
            return (f"{name}{said:.9f}", dict(ch=ch, value=self.bench.inward(ch, float(f"{said:.9f}")), good=True))
        try:
            if words[0] == "M":
                value = self.bench.inward(ch, float(words[2]))
                self.trace.add("set", dev=self.name, ch=ch, value=value, conn=0)
                if self.refuse:
                    return "ERR", None
                self.bench.write(ch, value)
                return "OK", None
            if words[0] == "D":
                self.trace.add("dose", dev=self.name, ch=ch, value=float(words[2]), name=None, conn=0, asked=request["t"])
                if self.refuse:
                    return "ERR", None
                self.bench.dose(ch, float(words[2]), None)
                return "OK", None
            if words[0] == "X":
                self.trace.add("release", dev=self.name, ch=ch, conn=0)
                self.bench.release(ch)
                return "OK", None
        except (ValueError, IndexError):
            pass
        return "WHAT", None

    def end(self):
        self.unplug()
