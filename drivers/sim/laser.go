package sim

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// The laser: pulse energy over its knobs, of which the first eight act. It has two good regions, so
// that a policy that minds risk chooses differently from one that does not:
//
//	bright   the highest energy, in a small region, with a shot noise of 18%
//	quiet    7% less energy, in a larger region, with a shot noise of about 4%
//
// In file order the axes pair up, (0,1), (2,3), ...; a pair is a ridge, steep
// along the sum of its two knobs and shallow along their difference, as two
// mirrors are that undo each other's tilt. A last odd axis has no partner. With
// δ = u - centre,
//
//	q = Σ_pairs ( ((δ0+δ1)/√2 / steep)² + ((δ0-δ1)/√2 / shallow)² ) + (δ_odd / steep)²
//	g = exp(-q/2), one for each region, with its own centre and widths
//	e = dark + (1-dark) (b + s - b s),   b = g_bright, s = quietPeak g_quiet
//	r = quietNoise + brightNoise g_bright + lostNoise (1-g_bright)(1-g_quiet)
//	sd = noise √((r e)² + floor²)
//
// The mean energy is e and the standard deviation of a shot sd, both times
// fullScale of the energy sensor's range. A shot is log-normal with these two
// moments: energies are positive.
//
// The widths grow with √(d/4), so that about the same share of the cube has light
// at every number d of knobs that act. The axis of a knob with a logarithmic scale is the logarithm of its value.
const (
	laserDark       = 0.05
	laserQuietPeak  = 0.93
	laserQuietNoise = 0.03
	laserBright     = 0.155
	laserLost       = 0.12
	laserFloor      = 0.0125
	laserFullScale  = 0.4
)

// laserWidths holds the steep and the shallow width of the bright and of the quiet
// region.
var laserWidths = [2]struct{ steep, shallow float64 }{{0.22, 0.38}, {0.32, 0.50}}

// laserActs is how many knobs act at most: as many as have centres.
const laserActs = 8

// laserCentres holds the centres of the bright and of the quiet region for each
// axis. Within a pair both lie near the diagonal, where the pointing is straight.
var laserCentres = [laserActs][2]float64{
	{0.70, 0.34}, {0.62, 0.30}, {0.30, 0.66}, {0.72, 0.55},
	{0.35, 0.68}, {0.42, 0.74}, {0.66, 0.30}, {0.60, 0.36},
}

// The rest of the laser: how its parts behave in time.
const (
	// laserPulse is the time between two pulses.
	laserPulse = 100 * time.Millisecond
	// laserNoLight is the share of pulses without light.
	laserNoLight = 0.005
	// laserSpeed is a knob's speed in ranges per second, and laserLag how slowly it
	// closes in at the end; together they leave 5e-4 of the range after 0.2 s.
	laserSpeed = 0.5
	laserLag   = 50 * time.Millisecond
	// laserPlay is the play of the first pair of knobs, the mirrors, as a share of
	// their range.
	laserPlay = 0.002
	// laserDraw is the time between two draws of a knob that is left alone. A draw
	// comes laserEarly before a pulse, so that a reader that is late for the pulse
	// before still sees that pulse's setting.
	laserDraw  = time.Second
	laserEarly = 10 * time.Millisecond
	// laserMargin is how close to the edge of the cube drift brings a centre before
	// it turns round.
	laserMargin = 0.1
	// laserTilt and laserJitter are the pointing's slope against the difference of
	// the mirrors and its jitter's standard deviation, as shares of the pointing
	// sensor's range.
	laserTilt   = 0.3
	laserJitter = 0.02
)

// laser implements model.
type laser struct {
	source
	// dim is how many knobs there are, ratio of each the highest value over the lowest where its scale is logarithmic,
	// else 0; nil: none is.
	dim   int
	ratio []float64
	// noise and drift as in Options.
	noise, drift float64
	// saturation as in Options.
	saturation float64
	// energy and pointing are the sensors' ranges.
	energy, pointing interval
}

// interval is a range of values.
type interval struct{ low, high float64 }

func (r interval) span() float64 { return r.high - r.low }
func (r interval) mid() float64  { return r.low + r.span()/2 }

func (l *laser) signals() int { return 2 }

// shift returns how far drift has moved axis i: back and forth at a constant
// speed, between the ends where one of the centres meets the margin.
func (l *laser) shift(i int, hours float64) float64 {
	a, b := laserCentres[i][0], laserCentres[i][1]
	down := laserMargin - min(a, b)
	width := 1 - laserMargin - max(a, b) - down
	way := l.drift * hours
	if i%2 == 1 {
		way = -way
	}
	y := math.Mod(way-down, 2*width)
	if y < 0 {
		y += 2 * width
	}
	return down + width - math.Abs(y-width)
}

// acts is how many of the knobs act.
func (l *laser) acts() int { return min(l.dim, laserActs) }

// centre returns the centre of the bright (0) or quiet (1) region; of a knob that does not act, the middle.
func (l *laser) centre(region int, hours float64) []float64 {
	c := slices.Repeat([]float64{0.5}, l.dim)
	for i := range l.acts() {
		c[i] = l.onKnob(i, laserCentres[i][region]+l.shift(i, hours))
	}
	return c
}

// onAxis is the axis of knob i at u of its range, log(1 + u (ratio - 1)) / log(ratio) where its scale is
// logarithmic; onKnob is its inverse.
func (l *laser) onAxis(i int, u float64) float64 {
	if l.ratio == nil || l.ratio[i] == 0 {
		return u
	}
	return math.Log(max(1+u*(l.ratio[i]-1), math.SmallestNonzeroFloat64)) / math.Log(l.ratio[i])
}

func (l *laser) onKnob(i int, axis float64) float64 {
	if l.ratio == nil || l.ratio[i] == 0 {
		return axis
	}
	return (math.Pow(l.ratio[i], axis) - 1) / (l.ratio[i] - 1)
}

// intensities returns g_bright and g_quiet.
func (l *laser) intensities(u []float64, hours float64) (bright, quiet float64) {
	var q [2]float64
	d := l.acts()
	widen := math.Sqrt(float64(d) / 4)
	for i := 0; i < d; i += 2 {
		x := l.onAxis(i, u[i]) - l.shift(i, hours)
		if i+1 == d {
			for k := range q {
				a := (x - laserCentres[i][k]) / (widen * laserWidths[k].steep)
				q[k] += a * a
			}
			break
		}
		y := l.onAxis(i+1, u[i+1]) - l.shift(i+1, hours)
		for k := range q {
			dx, dy := x-laserCentres[i][k], y-laserCentres[i+1][k]
			a := (dx + dy) / (math.Sqrt2 * widen * laserWidths[k].steep)
			b := (dx - dy) / (math.Sqrt2 * widen * laserWidths[k].shallow)
			q[k] += a*a + b*b
		}
	}
	return math.Exp(-q[0] / 2), math.Exp(-q[1] / 2)
}

// relative returns the energy and its standard deviation as shares of the peak.
func (l *laser) relative(u []float64, hours float64) (e, sd float64) {
	bright, quiet := l.intensities(u, hours)
	s := laserQuietPeak * quiet
	e = laserDark + (1-laserDark)*(bright+s-bright*s)
	r := laserQuietNoise + laserBright*bright + laserLost*(1-bright)*(1-quiet)
	return e, l.noise * math.Hypot(r*e, laserFloor)
}

func (l *laser) moments(k int, u []float64, hours float64) (mean, variance float64) {
	if k == 1 {
		sd := l.jitter()
		return l.meanPointing(u), sd * sd
	}
	e, sd := l.relative(u, hours)
	if top := l.top(); top < 1 {
		e, sd = clippedMoments(e, sd, top/laserFullScale)
	}
	scale := laserFullScale * l.energy.span()
	return l.energy.low + scale*e, scale * scale * sd * sd
}

// top is the share of the energy sensor's range that the detector can show.
func (l *laser) top() float64 { return cmp.Or(l.saturation, 1) }

// clippedMoments returns mean and standard deviation of min(X, c), where X is
// log-normal with mean e and standard deviation sd. With s² = log(1 + (sd/e)²) and
// m = log e - s²/2,
//
//	E[min(X,c)^k] = exp(k m + k² s²/2) Φ((log c - m)/s - k s) + c^k Φ((m - log c)/s)
func clippedMoments(e, sd, c float64) (mean, clippedSD float64) {
	if sd == 0 {
		return min(e, c), 0
	}
	s2 := math.Log1p(sd * sd / (e * e))
	s := math.Sqrt(s2)
	m := math.Log(e) - s2/2
	moment := func(k float64) float64 {
		return math.Exp(k*m+k*k*s2/2)*normalCDF((math.Log(c)-m)/s-k*s) + math.Pow(c, k)*normalCDF((m-math.Log(c))/s)
	}
	mean = moment(1)
	return mean, math.Sqrt(max(moment(2)-mean*mean, 0))
}

// meanPointing returns the mean pointing.
func (l *laser) meanPointing(u []float64) float64 {
	tilt := l.onAxis(0, u[0]) - 0.5
	if l.dim > 1 {
		tilt -= l.onAxis(1, u[1]) - 0.5
	}
	return l.pointing.mid() + laserTilt*l.pointing.span()*tilt
}

func (l *laser) jitter() float64 { return l.noise * laserJitter * l.pointing.span() }

// pulse returns the energy of a pulse whose noise is the standard normal number z.
func (l *laser) pulse(e, sd, z float64) float64 {
	s2 := math.Log1p(sd * sd / (e * e))
	shown := min(laserFullScale*e*math.Exp(math.Sqrt(s2)*z-s2/2), l.top())
	return l.energy.low + l.energy.span()*shown
}

func (l *laser) shot(out, u []float64, hours float64, n uint64) {
	e, sd := l.relative(u, hours)
	out[0] = l.pulse(e, sd, l.normal(streamShot, n))
	out[1] = l.meanPointing(u) + l.jitter()*l.flicker(n)
}

// hasLight reports whether pulse n has light.
func (l *laser) hasLight(n uint64) bool { return l.uniform(streamLight, n) >= laserNoLight }

func (l *laser) outcomes(u []float64, hours float64, visit func([]float64, float64)) {
	e, sd := l.relative(u, hours)
	out := make([]float64, 2)
	straight, jitter := l.meanPointing(u), l.jitter()
	for _, node := range hermite {
		out[0] = l.pulse(e, sd, node[0])
		for _, other := range hermite {
			out[1] = straight + jitter*other[0]
			visit(out, node[1]*other[1])
		}
	}
}

func (l *laser) landmarks(hours float64) [][]float64 {
	return [][]float64{l.centre(0, hours), l.centre(1, hours)}
}
