package sim

import (
	"math"
	"time"
)

// The reservoir of the dosing plant: what is in the water, and what pumps, plants and
// the air do to it. Between two events (a dose, a refill) the contents have a closed
// form in the time t since the last one:
//
//	V(t) = V - evaporation t             volume, L
//	S(t) = S exp(-uptake t)              salts, as conductivity times volume, mS/cm L
//	B(t) = B + drift t                   base beyond pH 7, mmol
//	EC = S/V,  pH = 7 + B/(buffer V)
//
// Evaporation leaves the salts behind, so EC rises with it and falls with uptake;
// plants that take up nitrate make pH rise. Where the level falls to tankLow, a float
// valve fills up with tap water. The numbers are ours, in the order of magnitude of a
// small hydroponic system.
const (
	tankFull        = 20.0 // L
	tankLow         = 16.0 // L
	tankEvaporation = 2.0  // L/day
	tankUptake      = 0.15 // 1/day
	tankDrift       = 20.0 // mmol/day
	tankBuffer      = 4.0  // mmol/(L pH)
	tapEC           = 0.4  // mS/cm
	tapPH           = 7.6

	// saltStrength is what 1 mL of nutrient adds, in mS/cm L; acidStrength what 1 mL
	// of acid or base does, in mmol.
	saltStrength = 0.2
	acidStrength = 1.0
	// pumpStep is the least amount of a pump, in mL; pumpMost the most for one write;
	// pumpDead what runs back out of the hose of a pump that has stood for
	// pumpIdle, and has to be filled again before anything arrives.
	pumpStep = 0.5
	pumpMost = 150.0
	pumpDead = 1.0
	pumpIdle = time.Hour
	// drainBelow is how far below the EC a target must lie for half of the water to be
	// drained and replaced by tap water: nothing else lowers it at once.
	drainBelow = 0.5 // mS/cm
	drainShare = 0.5
	// tankMixing is the time constant with which a dose reaches the probes and roots.
	tankMixing = time.Minute
)

// water is the contents of the reservoir.
type water struct{ volume, salt, base float64 }

func (w water) ec() float64 { return w.salt / w.volume }
func (w water) ph() float64 { return 7 + w.base/(tankBuffer*w.volume) }

// tap is so much tap water, in L.
func tap(volume float64) water {
	return water{volume, tapEC * volume, (tapPH - 7) * tankBuffer * volume}
}

func (w water) plus(other water) water {
	return water{w.volume + other.volume, w.salt + other.salt, w.base + other.base}
}

// after is the water after so long without an event.
func (k *tank) after(d time.Duration) water {
	days := d.Hours() / 24
	return water{k.volume - k.size*tankEvaporation*days, k.salt * math.Exp(-tankUptake*days), k.base + k.size*tankDrift*days}
}

// The pumps.
const (
	pumpSalt = iota
	pumpAcid
	pumpBase
	pumps
)

// tank is the reservoir with its pumps.
type tank struct {
	water // at since
	since time.Duration
	// size is its volume as a share of tankFull; what leaves and grows in it goes with
	// that.
	size float64
	// behind is how far what probes and roots meet lies behind the water, at since.
	behindEC, behindPH float64
	// used is when each pump last ran, and dosed what all have counted, in mL.
	used  [pumps]time.Duration
	dosed float64
}

// newTank returns a reservoir that was filled and dosed before: the pumps' hoses are
// empty.
func newTank(ec, ph float64) *tank {
	return newVessel(ec, ph, tankFull)
}

// newVessel returns a reservoir of another volume, in L.
func newVessel(ec, ph, volume float64) *tank {
	t := &tank{water: water{volume, ec * volume, (ph - 7) * tankBuffer * volume}, size: volume / tankFull}
	for i := range t.used {
		t.used[i] = -2 * pumpIdle
	}
	return t
}

// advance carries out the refills that are due up to now. Otherwise the state stays
// that of the last event, so that looking at it changes not even its rounding.
func (k *tank) advance(now time.Duration) {
	for {
		low := k.since + time.Duration((k.volume/k.size-tankLow)/tankEvaporation*24*float64(time.Hour))
		if low > now {
			return
		}
		k.move(max(low, k.since))
		k.change(k.plus(tap(tankFull*k.size - k.volume)))
	}
}

// move lets time pass without an event.
func (k *tank) move(now time.Duration) {
	k.behindEC, k.behindPH = k.behind(now)
	k.water, k.since = k.after(now-k.since), now
}

// behind is how far probes and roots are behind the water at now.
func (k *tank) behind(now time.Duration) (ec, ph float64) {
	fade := math.Exp(-(now - k.since).Seconds() / tankMixing.Seconds())
	return k.behindEC * fade, k.behindPH * fade
}

// change replaces the water at once; probes and roots notice by and by.
func (k *tank) change(to water) {
	k.behindEC += to.ec() - k.ec()
	k.behindPH += to.ph() - k.ph()
	k.water = to
}

// at is what probes and roots meet at now, which is not before the last event; no
// refill is due in between.
func (k *tank) at(now time.Duration) (ec, ph float64) {
	w := k.after(now - k.since)
	ec, ph = k.behind(now)
	return w.ec() - ec, w.ph() - ph
}

// pump runs a pump for an amount in mL and returns what arrives.
func (k *tank) pump(which int, amount float64) float64 {
	amount = math.Floor(min(amount, pumpMost)/pumpStep) * pumpStep
	if !(amount > 0) {
		return 0
	}
	arrives := amount
	if k.since-k.used[which] > pumpIdle {
		arrives = max(0, amount-pumpDead)
	}
	k.used[which] = k.since
	k.dosed += amount
	return arrives
}

// doseEC brings the conductivity towards a target at the tank's present time: up by
// nutrient, down only by draining, and only where it is far. dead says that the pump
// turns and nothing arrives.
func (k *tank) doseEC(target float64, dead bool) {
	if target < k.ec()-drainBelow {
		kept := water{k.volume * (1 - drainShare), k.salt * (1 - drainShare), k.base * (1 - drainShare)}
		k.change(kept.plus(tap(tankFull*k.size - kept.volume)))
	}
	arrives := k.pump(pumpSalt, (target*k.volume-k.salt)/saltStrength)
	if !dead {
		k.change(k.plus(water{arrives / 1000, arrives * saltStrength, 0}))
	}
}

// dosePH brings the pH towards a target, by acid or base; reversed says that the two
// bottles have been swapped.
func (k *tank) dosePH(target float64, dead, reversed bool) {
	want := (target - k.ph()) * tankBuffer * k.volume / acidStrength
	which, sign := pumpBase, 1.0
	if want < 0 {
		which, sign = pumpAcid, -1
	}
	arrives := k.pump(which, math.Abs(want))
	if reversed {
		sign = -sign
	}
	if !dead {
		k.change(k.plus(water{arrives / 1000, 0, sign * arrives * acidStrength}))
	}
}
