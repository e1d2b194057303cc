"""Instruments that can be computed: a flow reactor, a beam line, LEDs before a spectrometer, an optical coating."""

import csv
import math
from functools import lru_cache

import numpy as np

from packaged import located
from problem import Cost, Knob, Problem

GAS = 0.008314  # kJ/(K mol)
# Hone et al., React. Chem. Eng. 2 (2017) 103: rate at 90 degC in 0.6/(M min), activation energy in kJ/mol, of the ways to
# the ortho and the para product and of both to the product of two substitutions. The values are those of Summit (MIT).
RATES = ((57.9, 33.3), (2.70, 35.3), (0.865, 38.9), (1.63, 44.8))


def snar_yield(minutes, equivalents, molar, celsius, steps=300):
    """Per cent of the dinitrofluorobenzene that leaves a plug-flow reactor as the ortho product."""
    warm, reference = celsius + 273.15, 90 + 273.15
    ka, kb, kc, kd = (0.6 * k * math.exp(-e / GAS * (1 / warm - 1 / reference)) for k, e in RATES)

    def change(c):
        ring, amine, ortho, para = c
        one, two, three, four = ka * ring * amine, kb * ring * amine, kc * amine * ortho, kd * amine * para
        return -one - two, -one - two - three - four, one - three, two - four

    def ahead(c, k, h):
        return tuple(a + h * b for a, b in zip(c, k))

    c, h = (molar, equivalents * molar, 0.0, 0.0), minutes / steps
    for _ in range(steps):
        k1 = change(c)
        k2 = change(ahead(c, k1, h / 2))
        k3 = change(ahead(c, k2, h / 2))
        k4 = change(ahead(c, k3, h))
        c = tuple(v + h / 6 * (p + 2 * q + 2 * r + s) for v, p, q, r, s in zip(c, k1, k2, k3, k4))
    return 100 * c[2] / molar


def reactor():
    """A chromatogram scatters by 0.3 points and 2 % of the value; a step lasts three residence times and 2 minutes."""
    loss = lambda x: -snar_yield(*x)
    return Problem(
        id="reactor/snar", group="reactor/snar", source="kinetics of Hone et al. 2017, doi 10.1039/C6RE00109B, as in Summit (MIT)",
        knobs=[Knob("residence_time", 0.5, 2, "min"), Knob("equivalents", 1, 5), Knob("concentration", 0.1, 0.5, "M"),
               Knob("temperature", 30, 120, "degC")],
        loss=loss, sd=lambda x: 0.3 - 0.02 * loss(x), cost=Cost(2, {"residence_time": 3}, "min"), **OPTIMA["reactor/snar"])


# The Experimental Area of ARES (DESY): drifts and quadrupoles in m, as Kaiser et al., Sci. Rep. 14 (2024) 15733, describe it.
DRIFTS, QUADRUPOLE = (0.175, 0.428, 0.204, 0.224, 0.179, 0.470), 0.122


def drift(length):
    return np.array([[1.0, length], [0.0, 1.0]])


def quadrupole(k):
    """One plane of a quadrupole: focusing where k is positive (1/m^2)."""
    root, length = math.sqrt(abs(k)), QUADRUPOLE
    if root < 1e-9:
        return drift(length)
    if k > 0:
        c, s = math.cos(root * length), math.sin(root * length)
        return np.array([[c, s / root], [-root * s, c]])
    c, s = math.cosh(root * length), math.sinh(root * length)
    return np.array([[c, s / root], [root * s, c]])


def beam_size(q1, q2, steer_y, q3, steer_x):
    """The mean of |position| and size of the beam on the screen in both planes, in mm; correctors in mrad."""
    out = 0.0
    for plane, centre, size in ((1, (0.8, -0.3), (0.35, 0.20)), (-1, (-0.5, 0.4), (0.30, 0.25))):
        mean, spread = np.array(centre), np.diag(np.square(size))  # mm, mrad
        for i, part in enumerate((q1, q2, None, q3, None)):
            step = drift(DRIFTS[i])
            mean, spread = step @ mean, step @ spread @ step.T
            if part is None:
                kick = steer_y if i == 2 else steer_x
                if (i == 2) == (plane < 0):
                    mean = mean + np.array([0.0, kick])
                continue
            step = quadrupole(plane * part)
            mean, spread = step @ mean, step @ spread @ step.T
        step = drift(DRIFTS[5])
        mean, spread = step @ mean, step @ spread @ step.T
        out += abs(mean[0]) + math.sqrt(spread[0, 0])
    return out / 4


def beam():
    """The screen blurs: a reading scatters by 3 um and 5 % of the value. Magnets take their time: steps cost the same."""
    return Problem(
        id="beam/ares", group="beam/ares", source="linear optics after the ARES Experimental Area (Kaiser et al. 2024, doi 10.1038/s41598-024-66263-y)",
        knobs=[Knob("q1", -30, 30, "1/m^2"), Knob("q2", -30, 30, "1/m^2"), Knob("steer_y", -6, 6, "mrad"),
               Knob("q3", -30, 30, "1/m^2"), Knob("steer_x", -6, 6, "mrad")],
        loss=lambda x: beam_size(*x), sd=lambda x: 0.003 + 0.05 * beam_size(*x), **OPTIMA["beam/ares"])


CHANNELS = (410, 440, 470, 510, 550, 583, 620, 670)  # nm, of the spectrometer AS7341
TARGET = (31.0, 12.0, 58.0)  # brightness of red, green and blue that is looked for


@lru_cache
def spectra():
    """Measured intensity of each LED at each channel, for a brightness of 1."""
    rows = []
    for colour in ("red", "green", "blue"):
        with open(located("self-driving-lab-demo", f"self_driving_lab_demo/data/{colour}.csv"), encoding="utf-8-sig") as f:
            points = sorted((float(a), float(b)) for a, b in csv.reader(f))
        wave, power = zip(*points)
        rows.append(np.interp(CHANNELS, wave, power, left=0, right=0))
    return np.array(rows)


def leds():
    """The mean distance between eight channels and a spectrum to be matched; counts scatter with their size."""
    table = spectra()
    want = np.array(TARGET) @ table
    unit = want.mean() / 100

    def loss(x):
        return float(np.abs(np.asarray(x) @ table - want).mean() / unit)

    return Problem(
        id="leds/match", group="leds/match", source="spectra of self-driving-lab-demo 0.8.13 (MIT; Baird and Sparks, doi 10.1016/j.matt.2022.11.007)",
        knobs=[Knob(c, 0, 89) for c in ("red", "green", "blue")], loss=loss, sd=lambda x: 1 + 0.03 * loss(x), optimum=0.0, best=list(TARGET))


WAVES = np.arange(400, 900, 5.0)  # nm


def reflected(permittivities, depth):
    """Mean reflection in per cent, 400 to 900 nm at normal incidence, of layers of equal thickness on a substrate of
    permittivity 9: admittances from the substrate up."""
    index = np.sqrt(np.asarray(permittivities, float))
    phase = 2 * np.pi * depth / len(index) / WAVES
    y = np.full(len(WAVES), 3.0 + 0j)
    for n in index[::-1]:
        t = 1j * np.tan(phase * n)
        y = n * (y + n * t) / (n + y * t)
    return float(100 * np.mean(np.abs((1 - y) / (1 + y)) ** 2))


def coating(layers, depth):
    """A reflectometer: 0.05 points and 3 % of the value."""
    name = f"coating/{layers}"
    loss = lambda x: reflected(x, depth)
    return Problem(
        id=name, group="coating", source="anti-reflective coating of nevergrad 1.0.12 (MIT; Centeno and Moreau), computed anew",
        knobs=[Knob(f"layer{i + 1}", 1, 9) for i in range(layers)], loss=loss, sd=lambda x: 0.05 + 0.03 * loss(x), **OPTIMA[name])


# Found by `arena optima`, a dense search with descents from its best settings; a test looks for better ones.
OPTIMA = {
    "reactor/snar": {"optimum": -91.72340829237132, "best": [1.9703333, 2.9680405, 0.27117317, 30.0]},
    "beam/ares": {"optimum": 0.056292183638812804, "best": [29.984465, -22.299167, -0.23528802, 24.557794, 0.0030165309]},
    "coating/10": {"optimum": 0.0009048397463124999, "best": [1.2129504, 1.0, 1.2950679, 1.6511014, 1.5237962, 2.5257659, 3.0495482, 4.6587113, 6.5663757, 8.3707357]},
    # Not searched: no coating reflects less than nothing.
    "coating/20": {"optimum": 0.0, "best": None, "bound": True},
}


def problems():
    return {"reactor/snar": ("reactor/snar", reactor), "beam/ares": ("beam/ares", beam), "leds/match": ("leds/match", leds),
            "coating/10": ("coating", lambda: coating(10, 400)), "coating/20": ("coating", lambda: coating(20, 600))}
