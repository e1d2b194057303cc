package policy

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
)

// listLimit bounds the settings that are enumerated when every controlled variable
// is discrete.
const listLimit = 1024

// domain is what one control set may propose. Its settings have one coordinate
// per controlled variable, in unit coordinates.
type domain struct {
	set    int   // the control set's index
	coords []int // controlled variables
	random []int // the others
	axes   []axis
	// list, where not empty, holds the only settings, row after row; userList holds
	// the same values in the users' units.
	list, userList []float64
	rows           map[string]int // of the list, by the bits of the coordinates
}

// newDomain describes control set number set; candidates are as in Spec.
func newDomain(axes []axis, controlled []bool, set int, candidates [][]float64) *domain {
	d := &domain{set: set, axes: axes}
	d.split(controlled)
	if len(candidates) > 0 {
		d.takeCandidates(candidates)
	} else {
		d.enumerate()
	}
	return d
}

// split sorts the variables into controlled and random ones.
func (d *domain) split(controlled []bool) {
	for i, c := range controlled {
		if c {
			d.coords = append(d.coords, i)
		} else {
			d.random = append(d.random, i)
		}
	}
}

// takeCandidates keeps the distinct projections of the candidates, in their order.
func (d *domain) takeCandidates(candidates [][]float64) {
	seen := map[string]bool{}
	for _, row := range candidates {
		values := make([]float64, 0, len(d.coords))
		for _, i := range d.coords {
			values = append(values, row[i])
		}
		if key := keyOf(values); !seen[key] {
			seen[key] = true
			d.add(values)
		}
	}
}

func bitsOf(v float64) []byte {
	b := math.Float64bits(v + 0) // -0 and 0 are one value
	return []byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24), byte(b >> 32), byte(b >> 40), byte(b >> 48), byte(b >> 56)}
}

// enumerate lists all settings where each variable is discrete and they are few.
func (d *domain) enumerate() {
	n := 1
	for _, i := range d.coords {
		c := d.axes[i].count()
		if c == 0 || n*c > listLimit {
			return
		}
		n *= c
	}
	for k := range n {
		values := make([]float64, len(d.coords))
		for j, i := range d.coords {
			c := d.axes[i].count()
			values[j] = d.axes[i].at(k % c)
			k /= c
		}
		d.add(values)
	}
}

func (d *domain) add(values []float64) {
	d.userList = append(d.userList, values...)
	for j, i := range d.coords {
		d.list = append(d.list, d.axes[i].unit(values[j]))
	}
	if d.rows == nil {
		d.rows = map[string]int{}
	}
	k := d.listed() - 1
	d.rows[keyOf(d.row(k))] = k
}

// find is the row of the list that is exactly x.
func (d *domain) find(x []float64) (row int, ok bool) {
	row, ok = d.rows[keyOf(x)]
	return row, ok
}

// listedAt is the row of the list at x, the nearest one where x is none.
func (d *domain) listedAt(x []float64) int {
	if k, ok := d.find(x); ok {
		return k
	}
	return d.nearestListed(x)
}

// keyOf tells points apart by their bits.
func keyOf(x []float64) string {
	key := make([]byte, 0, 8*len(x))
	for _, v := range x {
		key = append(key, bitsOf(v)...)
	}
	return string(key)
}

// problemAxes describes a box to the search; nil for a list.
func (d *domain) problemAxes() []gpcore.Axis {
	if d.listed() > 0 {
		return nil
	}
	out := make([]gpcore.Axis, len(d.coords))
	for j, i := range d.coords {
		a := &d.axes[i]
		switch n := a.count(); {
		case n == 0:
			out[j] = gpcore.Axis{High: 1}
		case a.coarse():
			for k := range n {
				out[j].Levels = append(out[j].Levels, a.unit(a.at(k)))
			}
		case len(a.levels) > 0: // more than the search goes through one by one
			out[j] = gpcore.Axis{Low: a.unit(a.at(0)), High: a.unit(a.at(n - 1))}
		default:
			out[j] = gpcore.Axis{Low: a.unit(a.at(0)), High: a.unit(a.at(n - 1)), Step: a.step / (a.high - a.low)}
		}
	}
	return out
}

// size is the number of coordinates of a setting.
func (d *domain) size() int { return len(d.coords) }

// listed is the number of settings in the list, 0 if the domain is a box.
func (d *domain) listed() int {
	if len(d.coords) == 0 {
		return 0
	}
	return len(d.list) / len(d.coords)
}

// row is setting k of the list; it aliases the list.
func (d *domain) row(k int) []float64 {
	c := d.size()
	return d.list[k*c : (k+1)*c : (k+1)*c]
}

// nearestListed is the row of the list nearest to x.
func (d *domain) nearestListed(x []float64) int {
	best, distance := 0, math.Inf(1)
	for k := range d.listed() {
		if s := squaredDistance(d.row(k), x); s < distance {
			best, distance = k, s
		}
	}
	return best
}

// settle moves x to the nearest setting that may be proposed.
func (d *domain) settle(x []float64) {
	if d.listed() > 0 {
		copy(x, d.row(d.nearestListed(x)))
		return
	}
	for j, i := range d.coords {
		a := &d.axes[i]
		x[j] = min(max(x[j], 0), 1)
		if a.count() > 0 {
			x[j] = a.unit(a.nearest(a.user(x[j])))
		}
	}
}

// proposal is setting x in the users' units, NaN for the random variables.
func (d *domain) proposal(x []float64) []float64 {
	out := NaNs(len(d.axes))
	if c := d.size(); d.listed() > 0 {
		k := d.nearestListed(x)
		for j, i := range d.coords {
			out[i] = d.userList[k*c+j]
		}
		return out
	}
	for j, i := range d.coords {
		out[i] = d.axes[i].nearest(d.axes[i].user(x[j]))
	}
	return out
}

// project takes the controlled coordinates out of a point of all variables.
func (d *domain) project(dst, all []float64) {
	for j, i := range d.coords {
		dst[j] = all[i]
	}
}

// holds says whether the setting of all variables, in the users' units, may be
// proposed as it is; values are compared to one part in 10^9 of the range.
func (d *domain) holds(user []float64) bool {
	x := make([]float64, d.size())
	for j, i := range d.coords {
		x[j] = d.axes[i].unit(user[i])
		if math.IsNaN(x[j]) {
			return false
		}
	}
	y := slices.Clone(x)
	d.settle(y)
	return squaredDistance(x, y) <= 1e-18
}
