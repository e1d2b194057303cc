package rahbo

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// forestTable is made by scripts/forest_table.py, which says what it was measured on.
//
//go:embed data/forest.csv
var forestTable string

// forestRow is one recorded setting.
type forestRow struct {
	setting  []float64
	mean, sd float64
}

// forest is the tuning of a random forest (Makarova et al., figures 5b and 5c) on public data in place
// of theirs: number of trees, features a split looks at, and depth, over a table of recorded settings.
// A shot is the balanced accuracy, less one, on one of five folds, with the recorded mean and standard
// deviation of that setting, normal. k = 5, T = 50, alpha 20 and 100, 15 repetitions as in the paper.
func forest(alpha float64) problem {
	name := "forest-" + experiment.Short(alpha)
	out := problem{name: name, figure: "5b, 5c (other data)", steps: 50, initial: 10, seeds: 15, shots: 5, alpha: alpha,
		about: fmt.Sprintf("a random forest's number of trees, features and depth, recorded on public data, alpha %g", alpha)}
	rows, err := readForest(forestTable)
	if err != nil { // the embedded table is damaged: told when the problem is drawn
		out.broken = fmt.Errorf("rahbo/%s: %w", name, err)
		return out
	}
	bounds := make([][2]float64, 3)
	for i := range bounds {
		bounds[i] = [2]float64{rows[0].setting[i], rows[0].setting[i]}
	}
	for _, r := range rows {
		out.candidates = append(out.candidates, r.setting)
		for i, v := range r.setting {
			bounds[i] = [2]float64{min(bounds[i][0], v), max(bounds[i][1], v)}
		}
	}
	out.variables = experiment.Variables([]string{"n_estimators", "max_features", "max_depth"}, bounds)
	at := func(x []float64) forestRow { return rows[nearestRow(out.candidates, bounds, x)] }
	out.truth = func(x []float64) float64 { return at(x).mean }
	out.noiseSD = func(x []float64) float64 { return at(x).sd }
	return out
}

// nearestRow is the row that x is, up to rounding.
func nearestRow(rows [][]float64, bounds [][2]float64, x []float64) int {
	at, least := 0, -1.0
	for k, row := range rows {
		sum := 0.0
		for i := range x {
			d := (row[i] - x[i]) / (bounds[i][1] - bounds[i][0])
			sum += d * d
		}
		if least < 0 || sum < least {
			at, least = k, sum
		}
	}
	return at
}

// readForest reads the table.
func readForest(text string) ([]forestRow, error) {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("data/forest.csv: %w", err)
	}
	var out []forestRow
	for line, record := range records[min(1, len(records)):] {
		values := make([]float64, len(record))
		for i, field := range record {
			if values[i], err = strconv.ParseFloat(field, 64); err != nil {
				return nil, fmt.Errorf("data/forest.csv:%d: %w", line+2, err)
			}
		}
		if len(values) != 5 || !(values[4] > 0) {
			return nil, fmt.Errorf("data/forest.csv:%d: a row is a setting of three numbers, a mean and a positive standard deviation", line+2)
		}
		out = append(out, forestRow{values[:3], values[3], values[4]})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("data/forest.csv: no setting")
	}
	return out, nil
}
