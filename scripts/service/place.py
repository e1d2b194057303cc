"""The place of the trial: a folder with keys and certificates, a broker that uses them and
has the access rules of the sample, and a simulated laser of four knobs that is served
over it."""

import atexit
import collections
import os
import shutil
import socket
import subprocess
import tempfile

from witness import until

Knob = collections.namedtuple("Knob", "name unit channel low high safe slew")
KNOBS = [Knob("mirror_x", "mrad", "mx", -2.0, 2.0, 0.0, 12.0), Knob("mirror_y", "mrad", "my", -2.0, 2.0, 0.0, 12.0),
         Knob("grating", "mm", "gr", 10.0, 14.0, 12.0, 12.0), Knob("pump_current", "A", "pump", 60.0, 95.0, 60.0, 120.0)]
TREE = "tuner/bench/trial/"
USERS = ("tuner", "plant", "operator", "observer", "witness")

# Who may say and hear what: only the plant says what is measured, only the tuner sets and
# says how it stands, only the operator commands.
RULES = f"""user tuner
topic read lab/bench/+
topic write lab/bench/+/set
topic readwrite tuner-owner/lab/#
topic write {TREE}status
topic write {TREE}state
topic write {TREE}telemetry
topic write {TREE}event
topic write {TREE}resp/+
topic read {TREE}cmd/+
user plant
topic write lab/bench/+
topic read lab/bench/+/set
user operator
topic read tuner/#
topic write {TREE}cmd/+
user observer
topic read tuner/#
user witness
topic read #
"""


def configuration(place, user, secret):
    """The file of the tuner, the plant or the operator, which differ in who they are at the
    broker and in where the password is."""
    login = f'''broker = "tls://localhost:{place.port}"
ca_file = "{place.folder}/ca.pem"
username = "{user}"
{secret}
'''
    out = [f'''schema = 1
name = "trial"
site = "bench"
tick = "50ms"

[plant]
kind = "laser"

[objective]
sensor = "pulse_energy"
shots = 3

[[sensor]]
name = "pulse_energy"
unit = "mJ"
device = "bench"
channel = "energy"
range = [0.0, 20.0]
max_age = "10s"

[policy]
kind = "random"

[stop]
steps = 100000
verify = 6

[mqtt]
commands = true
telemetry = "250ms"
{login}
[[device]]
name = "bench"
driver = "mqtt"
{login}
[device.channel.energy]
read = {{ topic = "lab/bench/energy", path = "value" }}
''']
    for k in KNOBS:
        out.append(f'''
[device.channel.{k.channel}]
read = {{ topic = "lab/bench/{k.channel}", path = "value" }}
write = {{ topic = "lab/bench/{k.channel}/set", ttl = "30s" }}
[[variable]]
name = "{k.name}"
unit = "{k.unit}"
range = [{k.low}, {k.high}]
start = {k.safe}
device = "bench"
channel = "{k.channel}"
readback = {{ tolerance = 0.2, timeout = "60s" }}
[safety.variable.{k.name}]
hard = [{k.low - 0.5}, {k.high + 0.5}]
slew = {k.slew}
safe = {k.safe}
on_fault = "safe"
shutdown = "safe"
''')
    return "".join(out)


class Place:
    """A folder with keys and certificates, and a broker that uses them."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tuner-trial-")
        os.chmod(self.folder, 0o755)
        atexit.register(shutil.rmtree, self.folder, True)
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]
        self.passwords = {u: os.urandom(12).hex() for u in USERS}
        self.processes = []
        self.keys()
        self.broker()

    def path(self, name, text=None, mode=0o644):
        full = os.path.join(self.folder, name)
        if text is not None:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(text)
            os.chmod(full, mode)
        return full

    def keys(self):
        def openssl(*args):
            subprocess.run(["openssl", *args], check=True, capture_output=True, cwd=self.folder)
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=trial",
                "-addext", "basicConstraints=critical,CA:TRUE")
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "broker.key", "-out", "broker.csr", "-subj", "/CN=localhost")
        self.path("san", "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", "broker.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "broker.pem", "-days", "2",
                "-extfile", "san")
        os.chmod(self.path("broker.key"), 0o644)  # Mosquitto leaves root before it reads it

    def start(self, *args, log, **more):
        """Starts a process of the place, which ends with the trial."""
        p = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=open(self.path(log), "w", encoding="utf-8"), **more)
        atexit.register(p.kill)
        self.processes.append(p)

    def broker(self):
        self.path("acl", RULES)
        passwords = self.path("passwords", "", 0o600)
        for user, password in self.passwords.items():
            subprocess.run(["mosquitto_passwd", "-b", passwords, user, password], check=True, capture_output=True)
        os.chmod(passwords, 0o644)
        self.path("mosquitto.conf", f"""listener {self.port} 127.0.0.1
cafile {self.folder}/ca.pem
certfile {self.folder}/broker.pem
keyfile {self.folder}/broker.key
allow_anonymous false
password_file {passwords}
acl_file {self.folder}/acl
""")
        self.start(shutil.which("mosquitto"), "-c", self.path("mosquitto.conf"), log="mosquitto.log")
        if not until(self.listens):
            raise SystemExit("trial: error: the broker does not listen:\n" + self.log("mosquitto.log"))

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()
        except OSError:
            return False
        return True

    def plant(self, tuner):
        """Serves the simulated laser."""
        self.path("plant/mqtt-password", self.passwords["plant"] + "\n", 0o600)
        config = self.path("plant/plant.toml", configuration(self, "plant", 'password_file = "mqtt-password"'))
        self.start(tuner, "plant", config, log="plant.log")

    def operator(self):
        """The file of a person who commands from elsewhere."""
        self.path("operator/mqtt-password", self.passwords["operator"] + "\n", 0o600)
        return self.path("operator/trial.toml", configuration(self, "operator", 'password_file = "mqtt-password"'))

    def log(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as f:
            return "".join(f.readlines()[-20:])

    def client(self, program, user, *args):
        return [program, "-h", "localhost", "-p", str(self.port), "--cafile", self.path("ca.pem"), "-u", user, "-P", self.passwords[user], *args]
