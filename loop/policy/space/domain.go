package space

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// ListLimit bounds the settings that are enumerated when every controlled variable
// is discrete.
const ListLimit = 1024

// Domain is what one control set may propose. Its settings have one coordinate
// per controlled variable, in unit coordinates.
type Domain struct {
	Set    int   // the control set's index
	Coords []int // controlled variables
	Random []int // the others
	Axes   []Axis
	// List, where not empty, holds the only settings, row after row; userList holds
	// the same values in the users' units.
	List, userList []float64
	rows           map[string]int // of the list, by the bits of the coordinates
	whole          []search.Axis  // ProblemAxes
}

// NewDomain describes control set number set; candidates are as in Spec.
func NewDomain(axes []Axis, controlled []bool, set int, candidates [][]float64) *Domain {
	d := &Domain{Set: set, Axes: axes}
	d.Split(controlled)
	if len(candidates) > 0 {
		d.setCandidates(candidates)
	} else {
		d.enumerate()
	}
	return d
}

// Split sorts the variables into controlled and random ones.
func (d *Domain) Split(controlled []bool) {
	for i, c := range controlled {
		if c {
			d.Coords = append(d.Coords, i)
		} else {
			d.Random = append(d.Random, i)
		}
	}
}

// setCandidates keeps the distinct projections of the candidates, in their order.
func (d *Domain) setCandidates(candidates [][]float64) {
	seen := map[string]bool{}
	for _, row := range candidates {
		values := make([]float64, 0, len(d.Coords))
		for _, i := range d.Coords {
			values = append(values, row[i])
		}
		if key := keyOf(values); !seen[key] {
			seen[key] = true
			d.add(values)
		}
	}
}

// enumerate lists all settings where each variable is discrete and they are few.
func (d *Domain) enumerate() {
	n := 1
	for _, i := range d.Coords {
		c := d.Axes[i].count()
		if c == 0 || n*c > ListLimit {
			return
		}
		n *= c
	}
	for k := range n {
		values := make([]float64, len(d.Coords))
		for j, i := range d.Coords {
			c := d.Axes[i].count()
			values[j] = d.Axes[i].at(k % c)
			k /= c
		}
		d.add(values)
	}
}

func (d *Domain) add(values []float64) {
	d.userList = append(d.userList, values...)
	for j, i := range d.Coords {
		d.List = append(d.List, d.Axes[i].Unit(values[j]))
	}
	if d.rows == nil {
		d.rows = map[string]int{}
	}
	k := d.Listed() - 1
	d.rows[keyOf(d.Row(k))] = k
}

// Find is the row of the list that is exactly x.
func (d *Domain) Find(x []float64) (row int, ok bool) {
	row, ok = d.rows[keyOf(x)]
	return row, ok
}

// ListedAt is the row of the list at x, the nearest one where x is none.
func (d *Domain) ListedAt(x []float64) int {
	if k, ok := d.Find(x); ok {
		return k
	}
	return d.NearestListed(x)
}

// keyOf distinguishes points by their bits.
func keyOf(x []float64) string { return string(appendKey(nil, x)) }

func appendKey(key []byte, x []float64) []byte {
	for _, v := range x {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0)) // -0 and 0 are one value
	}
	return key
}

// ProblemAxes describes a box to the search; nil for a list. They are read only.
func (d *Domain) ProblemAxes() []search.Axis {
	if d.Listed() > 0 {
		return nil
	}
	if d.whole == nil {
		d.whole = d.problemAxes()
	}
	return d.whole
}

func (d *Domain) problemAxes() []search.Axis {
	out := make([]search.Axis, len(d.Coords))
	for j, i := range d.Coords {
		a := &d.Axes[i]
		switch n := a.count(); {
		case n == 0:
			out[j] = search.Axis{High: 1}
		case a.stepwise():
			for k := range n {
				out[j].Levels = append(out[j].Levels, a.Unit(a.at(k)))
			}
		case len(a.levels) > 0 || a.span > 0: // more than the search goes through one by one, or not evenly spaced
			out[j] = search.Axis{Low: a.Unit(a.at(0)), High: a.Unit(a.at(n - 1))}
		default:
			out[j] = search.Axis{Low: a.Unit(a.at(0)), High: a.Unit(a.at(n - 1)), Step: a.Step / (a.high - a.low)}
		}
	}
	return out
}

// Size is the number of coordinates of a setting.
func (d *Domain) Size() int { return len(d.Coords) }

// Listed is the number of settings in the list, 0 if the domain is a box.
func (d *Domain) Listed() int {
	if len(d.Coords) == 0 {
		return 0
	}
	return len(d.List) / len(d.Coords)
}

// Stepwise reports whether the search steps from value to value in every coordinate, so that a setting is met again to
// the last bit.
func (d *Domain) Stepwise() bool {
	return d.Listed() > 0 || len(d.Coords) > 0 && !slices.ContainsFunc(d.Coords, func(i int) bool { return !d.Axes[i].stepwise() })
}

// Row is setting k of the list; it aliases the list.
func (d *Domain) Row(k int) []float64 {
	c := d.Size()
	return d.List[k*c : (k+1)*c : (k+1)*c]
}

// NearestListed is the row of the list nearest to x.
func (d *Domain) NearestListed(x []float64) int {
	best, distance := 0, math.Inf(1)
	for k := range d.Listed() {
		if s := num.SquaredDistance(d.Row(k), x); s < distance {
			best, distance = k, s
		}
	}
	return best
}

// Round moves x to the nearest setting that may be proposed.
func (d *Domain) Round(x []float64) {
	if d.Listed() > 0 {
		copy(x, d.Row(d.NearestListed(x)))
		return
	}
	for j, i := range d.Coords {
		a := &d.Axes[i]
		x[j] = min(max(x[j], 0), 1)
		if a.count() > 0 {
			x[j] = a.Unit(a.nearest(a.User(x[j])))
		}
	}
}

// Proposal is setting x in the users' units, NaN for the random variables.
func (d *Domain) Proposal(x []float64) []float64 {
	return d.ProposalIn(make([]float64, len(d.Axes)), x)
}

// ProposalIn is Proposal in out, with one value for each variable.
func (d *Domain) ProposalIn(out, x []float64) []float64 {
	for i := range out {
		out[i] = math.NaN()
	}
	if c := d.Size(); d.Listed() > 0 {
		k := d.NearestListed(x)
		for j, i := range d.Coords {
			out[i] = d.userList[k*c+j]
		}
		return out
	}
	for j, i := range d.Coords {
		out[i] = d.Axes[i].nearest(d.Axes[i].User(x[j]))
	}
	return out
}

// Project takes the controlled coordinates out of a point of all variables.
func (d *Domain) Project(dst, all []float64) {
	for j, i := range d.Coords {
		dst[j] = all[i]
	}
}

// Contains reports whether the setting of all variables, in the users' units, may be
// proposed as it is; values are compared to one part in 10^9 of the range.
func (d *Domain) Contains(user []float64) bool {
	x := make([]float64, d.Size())
	for j, i := range d.Coords {
		x[j] = d.Axes[i].Unit(user[i])
		if math.IsNaN(x[j]) {
			return false
		}
	}
	y := slices.Clone(x)
	d.Round(y)
	return num.SquaredDistance(x, y) <= 1e-18
}
