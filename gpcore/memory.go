package gpcore

import (
	"fmt"
	"math"
)

// Store is what a [Memory] keeps within its capacity: a *[GP] or a *[PriorSet].
type Store interface {
	Append(x []float64, y, noiseVariance float64) error
	Replace(i int, x []float64, y, noiseVariance float64) error

	lead() *GP                                        // the process that decides what is redundant
	target(i int) float64                             // y_i as it was given
	merge(j int, x []float64, y, noise float64) error // a reading at x_j joins observation j
	// join does the same for a reading at another x and moves the observation,
	// which becomes the last, to at.
	join(j int, at []float64, r reading) error
}

// reading is one on its way into an observation.
type reading struct {
	x        []float64
	y, noise float64
}

// MemoryRule says what a [Memory] does with readings that bring nothing new.
type MemoryRule struct {
	// Drift says that the function changes with time: readings at one setting are
	// then different facts, and nothing is merged.
	Drift bool
	// Near is the distance up to which a reading merges into an observation rather
	// than push another out when the memory is full. The distance of x and y is
	// sqrt(k(x,x) + k(y,y) - 2k(x,y)) over the prior standard deviation; with a
	// squared exponential, a tenth is a tenth of a lengthscale. 0: never.
	Near float64
}

// DefaultMemoryRule is for a function that stays: merge within a tenth.
func DefaultMemoryRule() MemoryRule { return MemoryRule{Near: 0.1} }

// String says the rule in words.
func (r MemoryRule) String() string {
	drop := "when full, the older leaves of the pair around the observation that the others predict best beside its noise"
	if r.Drift {
		return "nothing merges; " + drop
	}
	s := "readings at one setting merge into a weighted observation; "
	if r.Near > 0 {
		s += fmt.Sprintf("when full, readings within %g prior standard deviations of one merge into it, else ", r.Near)
		return s + drop[len("when full, "):]
	}
	return s + drop
}

// replicate is the distance up to which two settings are one. Rounding makes
// distances of identical points up to 2e-8.
const replicate = 1e-5

// ChangeKind says what became of a reading.
type ChangeKind int

const (
	Appended ChangeKind = iota // it is an observation of its own
	Merged                     // it became part of an observation
	Replaced                   // it took the place of an observation
)

// String is the kind in one word.
func (k ChangeKind) String() string { return [...]string{"appended", "merged", "replaced"}[k] }

// Observation is one that a memory holds or held.
type Observation struct {
	X             []float64
	Y             float64 // weighted mean of its readings
	NoiseVariance float64 // of that mean
	Count         int     // readings in it
	Last          uint64  // number of its last reading, from 1
}

// Change tells what a reading did to the memory.
type Change struct {
	Kind  ChangeKind
	Index int // of the observation that holds the reading
	// Was is the observation merged into, as it was before, or the one that left;
	// not set for Appended. X is valid until the next Add.
	Was Observation
	// At is the index that Was had. Where it differs from Index, the observations
	// after At have moved up by one.
	At int
}

// Memory puts readings into a process of fixed capacity so that little is lost:
// readings at one setting become one weighted observation, which keeps the
// posterior as it is and the factor well-conditioned, and when the memory is
// full, what goes is what the rest knows best. With i the observation whose
// variance given all others, without its noise, is smallest beside its noise, and
// j the nearest to it, the older of i and j leaves.
//
// While a Memory is in use, observations must come and go through it alone;
// noises, kernel and rebuilds may be changed at the process.
type Memory struct {
	s     Store
	rule  MemoryRule
	count []int
	last  []uint64
	seq   uint64
	was   []float64
	mid   []float64
}

// NewMemory makes the memory of s, which must be empty, else it panics.
func NewMemory(s Store, rule MemoryRule) *Memory {
	g := s.lead()
	if g.Len() > 0 {
		panic("gpcore: a memory must start empty")
	}
	c := g.Cap()
	return &Memory{
		s: s, rule: rule, count: make([]int, 0, c), last: make([]uint64, 0, c),
		was: make([]float64, g.Dim()), mid: make([]float64, g.Dim()),
	}
}

// Rule is the rule in use.
func (m *Memory) Rule() MemoryRule { return m.rule }

// Len is the number of observations held.
func (m *Memory) Len() int { return len(m.count) }

// Readings is the number of readings added so far.
func (m *Memory) Readings() uint64 { return m.seq }

// Observation is observation i; X aliases the process's memory. In a prior set the
// noise variance is that of the most probable prior.
func (m *Memory) Observation(i int) Observation {
	g := m.s.lead()
	return Observation{g.X(i), m.s.target(i), g.NoiseVariance(i), m.count[i], m.last[i]}
}

// Add takes up a reading, O(n^2), without allocating. On error nothing has changed;
// errors are those of [GP.Append], without ErrFull.
func (m *Memory) Add(x []float64, y, noiseVariance float64) (Change, error) {
	g := m.s.lead()
	if err := g.check(x, y, noiseVariance); err != nil {
		return Change{}, err
	}
	j, distance := g.m.Nearest(x, -1)
	full := g.Len() == g.Cap()
	if !m.rule.Drift && j >= 0 {
		if distance <= replicate {
			return m.merge(j, reading{x, y, noiseVariance})
		}
		if full && distance <= m.rule.Near {
			return m.join(j, reading{x, y, noiseVariance})
		}
	}
	if full {
		return m.displace(reading{x, y, noiseVariance})
	}
	if err := m.s.Append(x, y, noiseVariance); err != nil {
		return Change{}, err
	}
	m.push(1)
	return Change{Kind: Appended, Index: m.Len() - 1, At: -1}, nil
}

// push records a reading in the last observation, with count readings in all.
func (m *Memory) push(count int) {
	m.seq++
	m.count, m.last = append(m.count, count), append(m.last, m.seq)
}

// pop forgets observation i.
func (m *Memory) pop(i int) {
	n := m.Len() - 1
	copy(m.count[i:], m.count[i+1:])
	copy(m.last[i:], m.last[i+1:])
	m.count, m.last = m.count[:n], m.last[:n]
}

// keep is observation i with its own copy of X.
func (m *Memory) keep(i int) Observation {
	o := m.Observation(i)
	copy(m.was, o.X)
	o.X = m.was
	return o
}

// merge puts a reading at the setting of observation j into it.
func (m *Memory) merge(j int, r reading) (Change, error) {
	was := m.keep(j)
	if err := m.s.merge(j, r.x, r.y, r.noise); err != nil {
		return Change{}, err
	}
	m.seq++
	m.count[j]++
	m.last[j] = m.seq
	return Change{Kind: Merged, Index: j, At: j, Was: was}, nil
}

// join merges a reading near observation j with it at their weighted mean
// setting, which takes the first-order error out of treating two settings as one.
func (m *Memory) join(j int, r reading) (Change, error) {
	was := m.keep(j)
	share := weight(was.NoiseVariance, r.noise)
	for i, v := range was.X {
		m.mid[i] = v + share*(r.x[i]-v)
	}
	if m.s.join(j, m.mid, r) != nil {
		return m.displace(r)
	}
	m.pop(j)
	m.push(was.Count + 1)
	return Change{Kind: Merged, Index: m.Len() - 1, At: j, Was: was}, nil
}

// displace puts a reading in the place of the observation that is missed least.
func (m *Memory) displace(r reading) (Change, error) {
	i := m.least()
	was := m.keep(i)
	if err := m.s.Replace(i, r.x, r.y, r.noise); err != nil {
		return Change{}, err
	}
	m.pop(i)
	m.push(1)
	return Change{Kind: Replaced, Index: m.Len() - 1, At: i, Was: was}, nil
}

// least is the observation to leave: the older of the pair around the lowest
// variance given all others, without and beside its own noise.
func (m *Memory) least() int {
	g := m.s.lead()
	at, lowest := 0, math.Inf(1)
	for i, q := range g.m.Factor.InverseDiagonal() {
		noise := g.m.Factor.Noise[i]
		// The small term keeps observations without noise comparable.
		if v := (1/q - noise) / (noise + 1e-12*g.m.Points.Prior[i]); v < lowest {
			at, lowest = i, v
		}
	}
	if j, _ := g.m.Nearest(g.X(at), at); j >= 0 && m.last[j] < m.last[at] {
		return j
	}
	return at
}
