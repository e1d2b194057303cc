"""Instruments that others wrote, for the tests beside: python3 simulators.py NAME PORT [KEY=VALUE].

Each has a knob, and where it can compute, a reading that is best, 10, where the knob is at 3. It says "ready" once it answers.
"""

import asyncio
import json
import logging
import socket
import sys
import threading
import time

BEST = 3.0


def reading(knob):
    return 10.0 - (knob - BEST) ** 2


def ready():
    print("ready", flush=True)


def ready_at(port):
    """Says so once a server that is about to be started takes connections, on Linux: it calls from 127.0.0.2."""

    def ask():
        while True:
            try:
                # Not from the same address, or it might be given this port and connect with itself.
                socket.create_connection(("127.0.0.1", int(port)), 5, ("127.0.0.2", 0)).close()
                return ready()
            except OSError:
                time.sleep(0.05)

    threading.Thread(target=ask, daemon=True).start()


def opcua(port, keys):
    """asyncua's server; with cert and key, encrypted and for the user anna."""
    from asyncua import Server, ua
    from asyncua.server.user_managers import UserManager
    from asyncua.crypto.permission_rules import User, UserRole

    class Anna(UserManager):
        def get_user(self, iserver, username=None, password=None, certificate=None):
            return User(role=UserRole.User) if (username, password) == ("anna", "secret") else None

    async def serve():
        secured = "cert" in keys
        server = Server(user_manager=Anna() if secured else None)
        await server.init()
        server.set_endpoint(f"opc.tcp://127.0.0.1:{port}/lab")
        if secured:
            await server.set_application_uri("urn:lab:server")
            await server.load_certificate(keys["cert"])
            await server.load_private_key(keys["key"], format="pem")
            server.set_security_policy([ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt, ua.SecurityPolicyType.Basic256Sha256_Sign])
        index = await server.register_namespace("urn:lab")
        laser = await server.nodes.objects.add_object(index, "Laser")
        knob = await laser.add_variable(ua.NodeId("current", index), "current", 1.0)
        await knob.set_writable()
        await knob.add_property(ua.NodeId("unit", index), ua.QualifiedName("EngineeringUnits", 0), ua.EUInformation(DisplayName=ua.LocalizedText("A")))
        await knob.add_property(ua.NodeId("range", index), ua.QualifiedName("EURange", 0), ua.Range(Low=0, High=8))
        energy = await laser.add_variable(ua.NodeId("energy", index), "energy", 0.0)
        async with server:
            ready()
            while True:
                await energy.write_value(reading(await knob.read_value()))
                await asyncio.sleep(0.1)

    asyncio.run(serve())


def softioc(port, keys):
    """An EPICS IOC of softioc: its channel access port is in the environment."""
    from softioc import asyncio_dispatcher, builder
    from softioc import softioc as ioc

    dispatcher = asyncio_dispatcher.AsyncioDispatcher()
    builder.SetDeviceName("LASER")
    energy = builder.aIn("ENERGY", initial_value=reading(1), EGU="mJ", PREC=4)
    builder.aOut("CURRENT", initial_value=1.0, DRVL=0, DRVH=8, EGU="A", PREC=4, always_update=True, on_update=lambda v: energy.set(reading(v)))
    broken = builder.aIn("BROKEN", initial_value=1.0, EGU="mJ")
    builder.LoadDatabase()
    ioc.iocInit(dispatcher)
    broken.set_alarm(3, 17)
    ready()
    while True:
        time.sleep(1)


def caproto(port, keys):
    """An EPICS IOC of caproto, which shares no code with the other one."""
    from caproto.server import PVGroup, pvproperty, run

    class Laser(PVGroup):
        current = pvproperty(value=1.0, units="A", lower_ctrl_limit=0.0, upper_ctrl_limit=8.0, name="CURRENT")
        energy = pvproperty(value=reading(1), units="mJ", name="ENERGY")

        @current.putter
        async def current(self, instance, value):
            await self.energy.write(reading(value))

        @current.startup
        async def current(self, instance, async_lib):
            ready()

    run(Laser(prefix="LASER:").pvdb, interfaces=["127.0.0.1"], log_pv_names=False)


def modbus(port, keys):
    """pymodbus' server: a knob in register 10, in hundredths."""
    from pymodbus.server import StartTcpServer
    from pymodbus.simulator import DataType, SimData, SimDevice

    ready_at(port)
    StartTcpServer(SimDevice(id=17, simdata=[SimData(10, values=100, datatype=DataType.UINT16)]), address=("127.0.0.1", port))


def modbus_rtu(port, keys):
    """The same with the frames of a serial line: RTU."""
    from pymodbus import FramerType
    from pymodbus.server import StartTcpServer
    from pymodbus.simulator import DataType, SimData, SimDevice

    ready_at(port)
    StartTcpServer(SimDevice(id=17, simdata=[SimData(10, values=100, datatype=DataType.UINT16)]), address=("127.0.0.1", port), framer=FramerType.RTU)


def discoverable(port, keys):
    """A number and two sensors of ha-mqtt-discoverable, as Home Assistant finds them at a broker; port is the broker's."""
    from ha_mqtt_discoverable import Settings
    from ha_mqtt_discoverable.sensors import Number, NumberInfo, Sensor, SensorInfo

    broker = Settings.MQTT(host="127.0.0.1", port=port)
    energy = Sensor(Settings(mqtt=broker, entity=SensorInfo(name="energy", unit_of_measurement="mJ")))
    knob_is = Sensor(Settings(mqtt=broker, entity=SensorInfo(name="knob_is")))
    state = {"knob": 1.0}

    def told(client, user_data, message):
        state["knob"] = float(message.payload.decode())
        knob.set_value(state["knob"])

    knob = Number(Settings(mqtt=broker, entity=NumberInfo(name="knob", min=0, max=8, step=0.001, mode="box")), told)
    knob.set_value(1.0)  # it says a value once; the sensors repeat themselves
    ready()
    while True:
        knob_is.set_state(state["knob"])
        energy.set_state(reading(state["knob"]))
        time.sleep(0.2)


def modbus_rows(keys):
    """The rows of a test: [address, type, word order, value]."""
    return json.loads(keys["rows"])


def modbus_types(port, keys):
    """pymodbus' server with numbers that pymodbus itself has laid out in registers, in both word orders."""
    from pymodbus.client import ModbusTcpClient
    from pymodbus.server import StartTcpServer
    from pymodbus.simulator import DataType, SimData, SimDevice

    registers = [0] * 1000
    for address, kind, order, value in modbus_rows(keys):
        words = ModbusTcpClient.convert_to_registers(value, getattr(ModbusTcpClient.DATATYPE, kind), word_order=order)
        registers[address : address + len(words)] = words
    ready_at(port)
    StartTcpServer(SimDevice(id=17, simdata=[SimData(0, values=registers, datatype=DataType.REGISTERS)]), address=("127.0.0.1", port))


def modbus_client(port, keys):
    """pymodbus' client: what stands in the server's registers, as pymodbus reads it."""
    from pymodbus.client import ModbusTcpClient

    client = ModbusTcpClient("127.0.0.1", port=port)
    assert client.connect()
    values = []
    for address, kind, order, _ in modbus_rows(keys):
        kind = getattr(client.DATATYPE, kind)
        answer = client.read_holding_registers(address, count=kind.value[1], device_id=17)
        values.append(client.convert_from_registers(answer.registers, kind, word_order=order))
    print(json.dumps(values))


def lewis(port, keys):
    """lewis' own example of a motor, which travels 2 mm in a second, on a line over TCP."""
    from lewis.scripts.run import run_simulation

    ready_at(port)
    run_simulation(["-k", "lewis.examples", "example_motor", "-p", f"stream: {{bind_address: 127.0.0.1, port: {port}}}"])


def tango(port, keys):
    """A Tango device of PyTango, in its test context: without a database."""
    from tango.server import Device, attribute
    from tango.test_context import DeviceTestContext

    class Laser(Device):
        knob = 1.0

        @attribute(dtype=float, unit="A", min_value=0, max_value=8)
        def current(self):
            return self.knob

        @current.write
        def current(self, value):
            self.knob = value

        @attribute(dtype=float, unit="mJ")
        def energy(self):
            return reading(self.knob)

    with DeviceTestContext(Laser, port=port, host="127.0.0.1", process=True) as proxy:
        print(proxy.name(), flush=True)
        ready()
        while True:
            time.sleep(1)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    globals()[sys.argv[1]](int(sys.argv[2]), dict(pair.split("=", 1) for pair in sys.argv[3:]))
