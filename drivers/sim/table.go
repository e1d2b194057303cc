package sim

import (
	"embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is a recorded data set: settings that were tried, and every value
// that was measured there.
type Table struct {
	// Name is what Options.Data calls it, Title what it is.
	Name, Title string
	// Inputs are the columns that were set, Output the one that was measured.
	Inputs []Column
	Output Column
	// Minimize says that a small output is what its authors wanted.
	Minimize bool
	// Citation is the publication to cite.
	Citation string
	// Rows holds the distinct settings, sorted; one value per input, in its unit.
	Rows [][]float64
	// Replicates holds the values measured at each row, in the output's unit.
	Replicates [][]float64
}

// Column is a named quantity.
type Column struct{ Name, Unit string }

//go:embed data/perovskite.csv data/p3ht.csv data/agnp.csv
var tableFiles embed.FS

// tables describes the recorded data sets; licences are in data/.
var tables = []Table{
	{
		Name: "perovskite", Title: "degradation of mixed lead iodide perovskites under heat, moisture and light",
		Inputs:   []Column{{"CsPbI", "1"}, {"FAPbI", "1"}, {"MAPbI", "1"}},
		Output:   Column{"Instability index", "1"},
		Minimize: true,
		Citation: "Sun et al., Matter 4, 1305 (2021), doi:10.1016/j.matt.2021.01.008",
	},
	{
		Name: "p3ht", Title: "electrical conductivity of P3HT and carbon nanotube composites",
		Inputs:   []Column{{"P3HT", "%"}, {"D1", "%"}, {"D2", "%"}, {"D6", "%"}, {"D8", "%"}},
		Output:   Column{"Conductivity", "S/cm"},
		Citation: "Bash et al., Advanced Functional Materials 31, 2102606 (2021), doi:10.1002/adfm.202102606",
	},
	{
		Name: "agnp", Title: "spectrum of silver nanoparticles from a droplet reactor, as a loss against a target spectrum",
		Inputs:   []Column{{"QAgNO3", "%"}, {"Qpva", "%"}, {"Qtsc", "%"}, {"Qseed", "%"}, {"Qtot", "uL/min"}},
		Output:   Column{"loss", "1"},
		Minimize: true,
		Citation: "Mekki-Berrada et al., npj Computational Materials 7, 55 (2021), doi:10.1038/s41524-021-00520-w",
	},
}

// Tables returns the names of the recorded data sets.
func Tables() []string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	return names
}

// LoadTable returns a recorded data set.
func LoadTable(name string) (*Table, error) {
	for _, t := range tables {
		if t.Name == name {
			if err := t.load(); err != nil {
				return nil, fmt.Errorf("read table %q: %w", name, err)
			}
			return &t, nil
		}
	}
	return nil, fmt.Errorf("no table %q; take one of %s", name, strings.Join(Tables(), ", "))
}

// load reads the table's file and gathers replicates.
func (t *Table) load() error {
	text, err := tableFiles.ReadFile("data/" + t.Name + ".csv")
	if err != nil {
		return err
	}
	records, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(text), "\ufeff"))).ReadAll()
	if err != nil {
		return err
	}
	width := len(t.Inputs) + 1
	lines := make([][]float64, 0, len(records))
	for n, record := range records[1:] {
		line := make([]float64, width)
		for i := range line {
			if line[i], err = strconv.ParseFloat(record[i], 64); err != nil {
				return fmt.Errorf("line %d: %w", n+2, err)
			}
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(lines, func(a, b []float64) int { return slices.Compare(a[:width-1], b[:width-1]) })
	for _, line := range lines {
		inputs, value := line[:width-1], line[width-1]
		if n := len(t.Rows); n == 0 || !slices.Equal(t.Rows[n-1], inputs) {
			t.Rows = append(t.Rows, inputs)
			t.Replicates = append(t.Replicates, nil)
		}
		last := len(t.Rows) - 1
		t.Replicates[last] = append(t.Replicates[last], value)
	}
	return nil
}

// ranges returns the least and the greatest value of each input.
func (t *Table) ranges() []interval {
	r := make([]interval, len(t.Inputs))
	for i := range r {
		r[i] = interval{math.Inf(1), math.Inf(-1)}
		for _, row := range t.Rows {
			r[i] = interval{min(r[i].low, row[i]), max(r[i].high, row[i])}
		}
	}
	return r
}

// recorded is the table plant; it implements model. A setting is
// achieved as the nearest row (in coordinates scaled by each input's range), and
// a shot is one of the values measured there, each as likely as the others:
// real noise, no model of it. Noise in Options stretches the replicates about
// their mean. A row that was measured once has no noise.
type recorded struct {
	source
	noise float64
	// rows on the unit cube, and in the variables' units.
	rows, values [][]float64
	replicates   [][]float64
}

// newRecorded maps the table's inputs to the variables, in file order. Where a
// variable's range is the input's own, its values are the table's to the last
// digit.
func newRecorded(t *Table, variables []Variable, noise float64, random source) *recorded {
	r := &recorded{source: random, noise: noise, replicates: t.Replicates}
	ranges := t.ranges()
	for _, row := range t.Rows {
		u, x := make([]float64, len(row)), make([]float64, len(row))
		for i, value := range row {
			u[i] = (value - ranges[i].low) / ranges[i].span()
			x[i] = value
			if v := variables[i]; v.Low != ranges[i].low || v.High != ranges[i].high {
				x[i] = v.Low + u[i]*(v.High-v.Low)
			}
		}
		r.rows, r.values = append(r.rows, u), append(r.values, x)
	}
	return r
}

// nearest returns the row closest to u, the first of equals.
func (r *recorded) nearest(u []float64) int {
	best, least := 0, math.Inf(1)
	for n, row := range r.rows {
		sum := 0.0
		for i, v := range row {
			sum += (v - u[i]) * (v - u[i])
		}
		if sum < least {
			best, least = n, sum
		}
	}
	return best
}

// snap moves u to the setting that is achieved, and returns its values in the variables'
// units, a slice of the model's own.
func (r *recorded) snap(u []float64) []float64 {
	n := r.nearest(u)
	copy(u, r.rows[n])
	return r.values[n]
}

func (r *recorded) signals() int { return 1 }

func (r *recorded) moments(_ int, u []float64, _ float64) (mean, variance float64) {
	values := r.replicates[r.nearest(u)]
	mean = average(values)
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	// Shots are drawn from these values, so their variance divides by n.
	return mean, r.noise * r.noise * variance / float64(len(values))
}

func (r *recorded) shot(out, u []float64, _ float64, n uint64) {
	values := r.replicates[r.nearest(u)]
	pick := values[int(r.uniform(streamShot, n)*float64(len(values)))]
	mean := average(values)
	out[0] = mean + r.noise*(pick-mean)
	if r.noise == 1 {
		out[0] = pick // to the last digit
	}
}

func (r *recorded) outcomes(u []float64, _ float64, visit func([]float64, float64)) {
	values := r.replicates[r.nearest(u)]
	mean := average(values)
	for _, v := range values {
		visit([]float64{mean + r.noise*(v-mean)}, 1/float64(len(values)))
	}
}

func (r *recorded) landmarks(float64) [][]float64 { return r.rows }

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
