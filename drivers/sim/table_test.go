package sim

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
)

// TestTablesAgainstGrouped compares each table's rows and means with a grouping
// that was made elsewhere: the data set's own publication takes the mean of the
// unique outputs of each setting.
func TestTablesAgainstGrouped(t *testing.T) {
	for name, rows := range map[string]int{"perovskite": 94, "p3ht": 178, "agnp": 164} {
		table, err := LoadTable(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Open("testdata/" + name + "_grouped.csv")
		if err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(file).ReadAll()
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(table.Rows) != rows || len(records) != rows+1 {
			t.Fatalf("%s: %d rows, grouped %d, want %d", name, len(table.Rows), len(records)-1, rows)
		}
		for i, record := range records[1:] {
			for k, text := range record {
				want, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				got := 0.0
				if k < len(table.Inputs) {
					got = table.Rows[i][k]
				} else {
					got = average(table.Replicates[i])
				}
				// The grouped file rounds to ten digits.
				if math.Abs(got-want) > 1e-9*math.Abs(want) {
					t.Errorf("%s row %d column %d: %v, want %v", name, i, k, got, want)
				}
			}
		}
	}
}

// TestTableServesReplicates: what the device says is one of the values measured at
// that very row, all of them come up, and evenly.
func TestTableServesReplicates(t *testing.T) {
	for _, name := range Tables() {
		b := newBench(t, tableOptions(t, name))
		table, _ := LoadTable(name)
		row := 0 // the one with the most replicates
		for i := range table.Rows {
			if len(table.Replicates[i]) > len(table.Replicates[row]) {
				row = i
			}
		}
		d := b.device("bench")
		set := map[string]float64{}
		for i, in := range table.Inputs {
			set[in.Name] = table.Rows[row][i]
		}
		b.write(d, set)
		const each = 400
		values := table.Replicates[row]
		sample := make([]float64, each*len(values))
		for i := range sample {
			b.clock.move(DefaultTableBatch)
			y, ok := b.read(d, "y").Values["y"]
			if !ok || !slices.Contains(values, y) {
				t.Fatalf("%s: %v was never measured at row %d", name, y, row)
			}
			sample[i] = y
		}
		compare(t, name, sample, b.Mean(table.Rows[row]), math.Pow(b.NoiseSD(table.Rows[row]), 2))
		if math.Abs(b.Mean(table.Rows[row])-average(values)) > 1e-9*math.Abs(average(values)) {
			t.Errorf("%s: mean %v, the replicates' is %v", name, b.Mean(table.Rows[row]), average(values))
		}
	}
}

// TestTableSnaps: a setting between rows is achieved as the nearest one, and the
// readback says so, to the last digit of the table.
func TestTableSnaps(t *testing.T) {
	b := newBench(t, tableOptions(t, "perovskite"))
	d := b.device("bench")
	got := b.write(d, map[string]float64{"CsPbI": 0.182, "FAPbI": 0.817, "MAPbI": 0.002}).Values
	if got["CsPbI"] != 0.18 || got["FAPbI"] != 0.82 || got["MAPbI"] != 0 {
		t.Errorf("readback %v, want 0.18, 0.82, 0", got)
	}
	if again := b.read(d, "CsPbI", "FAPbI", "MAPbI").Values; !equalMaps(got, again) {
		t.Errorf("read back as %v after %v", again, got)
	}
}

func equalMaps(a, b map[string]float64) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

// TestTableMapsRanges: with other ranges in the file, the table's inputs are
// mapped to them, readback and candidates alike.
func TestTableMapsRanges(t *testing.T) {
	o := tableOptions(t, "perovskite")
	for i := range o.Variables {
		o.Variables[i].Low, o.Variables[i].High = 10, 30
	}
	b := newBench(t, o)
	d := b.device("bench")
	got := b.write(d, map[string]float64{"CsPbI": 13.65, "FAPbI": 26.35, "MAPbI": 10.01}).Values
	for name, want := range map[string]float64{"CsPbI": 13.6, "FAPbI": 26.4, "MAPbI": 10} {
		if math.Abs(got[name]-want) > 1e-12 {
			t.Errorf("%s reads %v, want %v", name, got[name], want)
		}
	}
	table, err := LoadTable("perovskite")
	if err != nil || len(table.Inputs) != 3 {
		t.Fatal(table, err)
	}
	for i, row := range b.Candidates() {
		for k, x := range row {
			if want := 10 + 20*table.Rows[i][k]; math.Abs(x-want) > 1e-12 {
				t.Errorf("candidate %d: %v, want %v", i, x, want)
			}
		}
	}
}

func TestTableNoise(t *testing.T) {
	table, _ := LoadTable("agnp")
	for noise, wantSD := range map[float64]float64{0: 0, 1: 1, 2: 2} {
		o := tableOptions(t, "agnp")
		o.Noise = noise
		b := newBench(t, o)
		variance := 0.0
		for _, y := range table.Replicates[3] {
			variance += math.Pow(y-average(table.Replicates[3]), 2) / float64(len(table.Replicates[3]))
		}
		if got, want := b.NoiseSD(table.Rows[3]), wantSD*math.Sqrt(variance); math.Abs(got-want) > 1e-12 {
			t.Errorf("noise %v: sd %v, want %v", noise, got, want)
		}
		if got := b.Mean(table.Rows[3]); math.Abs(got-average(table.Replicates[3])) > 1e-12 {
			t.Errorf("noise %v moves the mean to %v", noise, got)
		}
	}
}

func TestTableRefuses(t *testing.T) {
	o := tableOptions(t, "p3ht")
	o.Data = "gold"
	wantError(t, o, `no table "gold"; take one of perovskite, p3ht, agnp`)
	o = tableOptions(t, "p3ht")
	o.Variables = o.Variables[:2]
	wantError(t, o, `table "p3ht" has 5 inputs (P3HT, D1, D2, D6, D8, in this order) and the file has 2 variables`)
}
