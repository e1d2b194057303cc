"""From a seed, an instrument and its configuration file."""

import random

FAMILIES = ["mqtt", "exec", "dose-exec", "mqtt-number", "serial", "mixed", "dose-mqtt", "exec-sets", "mqtt", "dose-serial"]
SHIFT = "bench"  # the device that has everything


class Plan:
    """What stands in the file, in a form that can be judged by."""

    def __init__(self, seed, family=None):
        self.seed = seed
        r = self.random = random.Random(seed)
        self.family = family or FAMILIES[seed % len(FAMILIES)]
        self.name = f"check{seed}"
        self.tick = r.choice([0.1, 0.1, 0.05])
        self.doses = self.family.startswith("dose")
        self._drivers()
        self.shots = r.choice([1, 2, 3, 4])
        self.objective_timeout = 2.0
        self.variables = self._variables()
        self.confirm = self.driver["act"] == "mqtt" and (self.family == "mqtt" and r.random() < 0.6 or self.doses)
        self.commands = r.random() < (0.75 if "mqtt" in self.driver.values() else 0.5)
        self.sets = self._sets()
        self.cost = self._cost()
        self.policy = self._policy()
        self.steps = r.choice([400, 400, 12]) if not self.doses else r.choice([400, 9])
        self.budget = round(r.uniform(20, 60), 2) if self.cost and r.random() < 0.35 else None
        self.verify = 6 if self.steps == 12 and not self.doses and r.random() < 0.5 else 0
        self.hold_max = r.choice([2.0, 4.0])
        self.comms = 3.0
        self.reply_timeout, self.dose_timeout = 0.6, 2.0
        self.confirm_timeout = 0.8
        self.retries = 3
        self.stuck_readings = r.choice([0, 0, 8])
        self.max_age = {"power": 1.0, "door": r.choice([0.6, 1.5, 2.0]), "aux": 1.0, "ec": 1.0}
        self.ranges = {"power": (-100.0, 100.0), "door": (0.0, 1.0), "aux": (-10.0, 60.0), "ec": (0.0, 100.0)}
        self.ttl = r.choice([1.0, 3.0])
        self.faultfs = r.random() < 0.5
        self.local_disk = r.random() < 0.7      # it passes for one: the journal has a shared log, as users have it
        self.permissive = r.random() < 0.4
        self.goal = r.choice(["maximize", "maximize", "minimize"])
        self.statistic = "median" if r.random() < 0.15 and self.policy["kind"] != "rahbo" and self.shots > 1 else "mean"
        self.rate = 20.0 if r.random() < 0.4 else None     # of sensor aux, a second
        self.bare = self.driver["act"] == "serial" and r.random() < 0.6    # answers do not name their channel
        self.exposure = self._exposure() if r.random() < 0.15 else None
        self.units = {s: self._units(0.5) for s in ("power", "aux", "ec")}
        self._habits()

    def _units(self, chance):
        """What one of the device's units and its zero are in the units of the file."""
        r = self.random
        return (r.choice([0.5, 2.0, -1.0]), r.choice([4.0, -1.5])) if r.random() < chance else (1.0, 0.0)

    def _habits(self):
        """What the instrument does all the time, and may do: a child answers with values of a moment ago; a device takes its
        time before it confirms, and on its topic others are confirmed too: another session's messages, of any number; the word
        that a dose was given is lost now and then."""
        r = self.random
        self.value_age = r.choice([0, 0, 120, 200])     # ms, of a child's answers
        self.confirm_takes = r.choice([0.0, 0.25])
        self.others_confirmed = r.random() < 0.7
        self.dose_words_lost = r.choice([0.0, 0.12])
        if self.value_age:
            self.max_age["door"] = max(self.max_age["door"], 1.5)

    def _drivers(self):
        """Which driver carries the actuators, the objective, and the interlock."""
        r, f = self.random, self.family
        if f in ("mqtt", "mqtt-number", "dose-mqtt"):
            self.driver = dict(act="mqtt", sense="mqtt", door="mqtt")
        elif f in ("serial", "dose-serial"):
            self.driver = dict(act="serial", sense="serial", door="serial")
        elif f in ("exec", "exec-sets", "dose-exec"):
            self.driver = dict(act="exec", sense="exec", door="exec")
        else:
            act = r.choice(["mqtt", "exec", "serial"])
            door = r.choice([d for d in ("mqtt", "exec", "serial") if d != act])
            self.driver = dict(act=act, sense=r.choice([act, door]), door=door)
        if f == "serial" and r.random() < 0.5:
            self.driver["sense"] = "meter"
        self.number_format = f == "mqtt-number"

    def _variables(self):
        r, result = self.random, []
        for ch in ("x", "y", "z")[:r.choice([1, 2, 2, 3])] if not self.doses else ("x",)[:r.choice([0, 1])]:
            low = r.choice([-2.0, 0.0, 10.0])
            high = low + r.choice([2.0, 4.0, 10.0])
            span = high - low
            safe = round(low + span * r.choice([0.1, 0.5]), 3)
            resolution = r.choice([None, None, 0.01]) if self.driver["act"] != "serial" else r.choice([0.001, 0.01])
            result.append(dict(
                name="v" + ch, ch=ch, dose=False, range=(low, high), hard=(low - r.choice([0, 0.1]) * span, high + r.choice([0, 0.1]) * span),
                slew=round(span * r.choice([1.0, 2.0, 5.0]), 6), safe=safe, begin=round(low + span * 0.5, 3),
                best=low + span * r.uniform(0.2, 0.8), resolution=resolution,
                on_fault=r.choice(["safe", "safe", "safe", "safe", "off" if self.driver["act"] != "serial" else "safe", "hold"]),
                shutdown=r.choice(["safe", "safe", "hold"]),
                lease=r.choice([None, 1.5, 1.5, 3.0]), lasts=r.random() < 0.6,
                tolerance=0.002 * span + 0.001, settle=r.choice([0.0, 0.1, 0.3]), timeout=1.0,
                dwell=r.choice([None, None, 0.3]), on_release="hold", scale=1.0, offset=0.0, lag=r.choice([0.0, 0.0, 0.25])))
            if self.driver["act"] in ("mqtt", "serial"):
                result[-1]["scale"], result[-1]["offset"] = self._units(0.6)
        if self.doses:
            for ch in ("feed", "acid")[:r.choice([1, 1, 2])]:
                result.append(dict(
                    name="v" + ch, ch=ch, dose=True, range=(0.0, 5.0), best=r.uniform(1, 4), resolution=0.01, begin=0.0,
                    per_dose=5.0, hour=r.choice([1000.0, 30.0]), run=r.choice([1000.0, 25.0, 50.0]), min_interval=r.choice([0.3, 1.0]),
                    settle=0.1, safe=0.0))
        return result

    def _exposure(self):
        """One knob may be above a value for a limited time in a row."""
        for v in self.variables:
            low, high = v["range"]
            if not v["dose"] and v["on_fault"] == "safe":
                return dict(name=v["name"], ch=v["ch"], above=round(max(low + 0.5 * (high - low), v["safe"] + 0.02 * (high - low)), 3), time=1.5)
        return None

    def _sets(self):
        """Control sets: all variables, or some with costs, the others random."""
        settable = [v for v in self.variables]
        if self.family != "exec-sets" or len(settable) < 2:
            return [([v["name"] for v in settable], 0.0)]
        r = self.random
        for v in settable:
            v["on_release"] = r.choice(["release", "park"])
        return [([settable[0]["name"]], 0.5), ([v["name"] for v in settable], 2.0)]

    def _cost(self):
        r = self.random
        if self.family != "exec-sets" and r.random() < 0.25:
            return None
        cost = dict(per_step=r.choice([0.0, 0.25]), per_shot=r.choice([0.0, 0.1, 1.0]), per_move={}, formula=None)
        plain = [v for v in self.variables if not v["dose"]]
        if plain and r.random() < 0.6:
            cost["per_move"] = {plain[0]["name"]: 0.3}
        if plain and r.random() < 0.4 and len(self.sets) == 1:
            cost["formula"] = (plain[0]["name"], 0.05)
        if len(self.sets) == 1 and not cost["per_step"] and not cost["per_shot"]:
            cost["per_step"] = 0.25
        return cost

    def _policy(self):
        r = self.random
        if len(self.sets) > 1:
            return dict(kind="ucb-cvs")
        kind = r.choice(["rahbo", "gp-ucb", "irgp-ucb", "sobol", "random", "ei"])
        if kind == "rahbo" and self.shots == 1:
            kind = "gp-ucb"
        return dict(kind=kind, risk=0.5) if kind == "rahbo" else dict(kind=kind)

    # What the file says.

    def device_of(self, ch):
        if ch in ("door",):
            role = "door"
        elif ch in ("power", "aux", "ec"):
            role = "sense"
        else:
            role = "act"
        return self.driver[role]

    def sensors(self):
        return ["power", "door", "aux"] + (["ec"] if self.doses else [])

    def counts(self, ch):
        """(scale, offset) of a channel: a value is scale times what its device says, plus offset. A child says values."""
        v = next((v for v in self.variables if v["ch"] == ch), None)
        if v is not None:
            return (1.0, 0.0) if v["dose"] else (v["scale"], v["offset"])
        return (1.0, 0.0) if self.device_of(ch) == "exec" else self.units.get(ch, (1.0, 0.0))

    def channels(self, device):
        own = [v["ch"] for v in self.variables if self.driver["act"] == device]
        return own + [s for s in self.sensors() if self.device_of(s) == device]

    def devices(self):
        return sorted(set(self.driver.values()))

    def toml(self, ports, commands_port):
        out = [f'schema = 1\nname = "{self.name}"\nseed = {self.seed % 1000 + 1}\ntick = "{int(self.tick * 1000)}ms"\n']
        out.append(f'[objective]\nsensor = "power"\nshots = {self.shots}\ntimeout = "{self.objective_timeout}s"\n'
                   f'goal = "{self.goal}"\nstatistic = "{self.statistic}"')
        for s in self.sensors():
            low, high = self.ranges[s]
            out.append(f'[[sensor]]\nname = "{s}"\nunit = "1"\ndevice = "{self.device_of(s)}"\nchannel = "{s}"\n'
                       f'range = [{low}, {high}]\nmax_age = "{int(self.max_age[s] * 1000)}ms"')
        for v in self.variables:
            out.append(self._variable(v))
        out += self._policy_text() + self._safety_text()
        for device in self.devices():
            out.append(getattr(self, "_" + device)(device, ports))
        if commands_port:
            out.append(f'[mqtt]\nbroker = "tcp://127.0.0.1:{commands_port}"\ncommands = true\nheartbeat = "1s"\ntelemetry = "1s"')
        return "\n\n".join(out) + "\n"

    def _variable(self, v):
        low, high = v["range"]
        text = f'[[variable]]\nname = "{v["name"]}"\nunit = "1"\nrange = [{low}, {high}]\ndevice = "{self.driver["act"]}"\nchannel = "{v["ch"]}"\n'
        text += f'settle = "{int(v["settle"] * 1000)}ms"\n'
        if v["resolution"]:
            text += f'resolution = {v["resolution"]}\n'
        if v["dose"]:
            return text + 'kind = "dose"\nstart = 1.0'
        text += f'readback = {{ tolerance = {v["tolerance"]}, timeout = "{v["timeout"]}s" }}\n'
        if v["on_release"] != "hold":
            text += f'on_release = "{v["on_release"]}"\n'
            if v["on_release"] == "release":
                text += 'when_random = { distribution = "uniform" }\n'
        return text + f'start = {v["begin"]}'

    def _policy_text(self):
        out = []
        if len(self.sets) > 1:
            for names, cost in self.sets:
                out.append(f'[[control_set]]\nvariables = {names}\ncost = {cost}'.replace("'", '"'))
        if self.cost:
            c = self.cost
            text = f'[cost]\nunit = "EUR"\nper_step = {c["per_step"]}\nper_shot = {c["per_shot"]}'
            if c["per_move"]:
                text += "\nper_move = { " + ", ".join(f"{k} = {w}" for k, w in c["per_move"].items()) + " }"
            if c["formula"]:
                text += f'\nformula = "{c["formula"][1]}*{c["formula"][0]}^2"'
            out.append(text)
        text = f'[policy]\nkind = "{self.policy["kind"]}"\ndeadline = "2s"'
        if "risk" in self.policy:
            text += f'\nrisk = {self.policy["risk"]}'
        if self.policy["kind"] not in ("sobol", "random"):
            text += '\ninitial = { design = "sobol", steps = 5 }'
        out.append(text)
        stop = f"[stop]\nsteps = {self.steps}\nverify = {self.verify}"
        if self.budget:
            stop += f"\ncost = {self.budget}"
            if self.verify:
                stop += f"\nverify_cost = {self.budget}"
        out.append(stop)
        return out

    def _safety_text(self):
        out = [f'[safety]\nhold_max = "{self.hold_max}s"\ncomms_timeout = "{self.comms}s"\nretries = {self.retries}']
        for v in self.variables:
            if v["dose"]:
                out.append(f'[[safety.dose]]\nvariable = "{v["name"]}"\nunit = "1"\nper_dose = {v["per_dose"]}\nhour = {v["hour"]}\n'
                           f'run = {v["run"]}\nmin_interval = "{int(v["min_interval"] * 1000)}ms"')
                out.append(f'[[safety.response]]\nvariable = "{v["name"]}"\nsensor = "ec"\nchange = 1.0\nmoves = 0.05\nwithin = "3s"')
                continue
            text = (f'[safety.variable.{v["name"]}]\nhard = [{v["hard"][0]}, {v["hard"][1]}]\nslew = {v["slew"]}\nsafe = {v["safe"]}\n'
                    f'on_fault = "{v["on_fault"]}"\nshutdown = "{v["shutdown"]}"')
            if v["lease"]:
                text += f'\nlease = "{int(v["lease"] * 1000)}ms"'
            if v["dwell"]:
                text += f'\ndwell = "{int(v["dwell"] * 1000)}ms"'
            if self.exposure and self.exposure["ch"] == v["ch"]:
                text += f'\nexposure = {{ above = {self.exposure["above"]}, time = "{self.exposure["time"]}s" }}'
            out.append(text)
        out.append('[[safety.interlock]]\nsensor = "door"\nrange = [0.5, 1.0]')
        if self.rate or self.stuck_readings:
            out.append("[safety.sensor.aux]" + (f"\nrate = {self.rate}" if self.rate else "") + (f"\nstuck = {self.stuck_readings}" if self.stuck_readings else ""))
        if self.permissive:
            out.append('[[safety.permissive]]\nsensor = "aux"\nrange = [0.0, 50.0]')
        return out

    def _mqtt(self, device, ports):
        text = (f'[[device]]\nname = "mqtt"\ndriver = "mqtt"\nbroker = "tcp://127.0.0.1:{ports["mqtt"]}"\nkeep_alive = "2s"\n'
                'ping_timeout = "1s"\nwrite_timeout = "1s"\nconnect_timeout = "2s"\nhalt_timeout = "2s"')
        for ch in self.channels("mqtt"):
            v = next((v for v in self.variables if v["ch"] == ch), None)
            text += f'\n\n[device.channel.{ch}]\n'
            if not v:
                text += f'read = {{ topic = "bench/{ch}", path = "value" }}{self._counts(ch)}'
                continue
            if not v["dose"]:
                text += f'read = {{ topic = "bench/{ch}", path = "value" }}\nsafe = {v["safe"]}\nsafe_tolerance = {v["tolerance"]}\n'
                text += f'scale = {v["scale"]}\noffset = {v["offset"]}\n'
                text += f'min = {v["hard"][0]}\nmax = {v["hard"][1]}\n'
            more = ', format = "number"' if self.number_format else ""
            if v.get("lasts") and v["lease"] and not self.number_format:
                more = ", lasts = true"
            text += f'write = {{ topic = "bench/{ch}/set", ttl = "{int(self.ttl * 1000)}ms"{more} }}\n'
            payload = ', payload = "off"' if self.number_format else ""
            text += f'release = {{ topic = "bench/{ch}/release"{payload} }}\n'
            if self.confirm:
                text += f'confirm = {{ topic = "bench/{ch}/taken", timeout = "{int(self.confirm_timeout * 1000)}ms" }}\n'
            if v["dose"]:
                text += "dose = true\n"
        return text

    def _counts(self, sensor):
        """The units of a sensor's channel, where its driver knows any."""
        scale, offset = self.units.get(sensor, (1.0, 0.0))
        return "" if (scale, offset) == (1.0, 0.0) else f"\nscale = {scale}\noffset = {offset}"

    def _exec(self, device, ports):
        text = ('[[device]]\nname = "exec"\ndriver = "exec"\ncommand = ["python3", "-S", "-E", "child.py"]\n'
                f'reply_timeout = "{int(self.reply_timeout * 1000)}ms"\nexit_timeout = "1s"')
        return text + f'\ndose_timeout = "{int(self.dose_timeout * 1000)}ms"' if self.doses else text

    def _serial(self, device, ports):
        text = (f'[[device]]\nname = "serial"\ndriver = "serial"\nport = "stage.port"\nbaud = 115200\nterminator = "\\n"\n'
                f'reply_timeout = "{int(self.reply_timeout * 1000)}ms"\nhalt_timeout = "2s"\nreconnect_max = "1s"\nspoil = "\\u0018"\n'
                'identify = { out = "ID?", match = "^STAGE" }')
        for ch in self.channels("serial"):
            v = next((v for v in self.variables if v["ch"] == ch), None)
            text += f'\n\n[device.channel.{ch}]\n'
            if v and v["dose"]:
                text += f'dose = true\nwrite = {{ out = "D {ch} %.2f", ack = "^OK$" }}\nrelease = {{ out = "X {ch}", ack = "^OK$" }}'
                continue
            text += f'read = {{ out = "R {ch}", in = "{"" if self.bare else ch + "="}%f" }}{self._counts(ch)}'
            if v:
                text += f'\nscale = {v["scale"]}\noffset = {v["offset"]}'
                text += f'\nwrite = {{ out = "M {ch} %.3f", ack = "^OK$" }}\nsafe = {v["safe"]}\nsafe_tolerance = {v["tolerance"]}'
        return text

    def _meter(self, device, ports):
        text = ('[[device]]\nname = "meter"\ndriver = "serial"\nport = "meter.port"\nbaud = 115200\nterminator = "\\r\\n"\n'
                'reply_timeout = "600ms"\nidentify = { out = "*IDN?", match = "^METER" }')
        for ch in self.channels("meter"):
            text += f'\n\n[device.channel.{ch}]\nread = {{ out = "R {ch}", in = "{ch}=%f" }}{self._counts(ch)}'
        return text
