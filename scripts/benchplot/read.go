package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// result is what this program needs of one line of a file.
type result struct {
	Format     int    `json:"format"`
	Experiment string `json:"experiment"`
	Policy     string `json:"policy"`
	Seeds      []seed `json:"seeds"`
}

type seed struct {
	Cost             series `json:"cost"`
	SimpleRegret     series `json:"simple_regret"`
	CumulativeRegret series `json:"cumulative_regret"`
	ReportedRegret   series `json:"reported_regret"`
	ActivePriors     series `json:"active_priors"`
	PriorEntropy     series `json:"prior_entropy"`
	Prior            *int   `json:"prior"`   // the true one; nil: none is
	Choices          series `json:"choices"` // how often each decided
	Error            string `json:"error"`
}

// series is a list of numbers in which null is NaN.
type series []float64

// UnmarshalJSON implements json.Unmarshaler.
func (s *series) UnmarshalJSON(text []byte) error {
	var numbers []*float64
	if err := json.Unmarshal(text, &numbers); err != nil {
		return err
	}
	for _, n := range numbers {
		if n == nil {
			*s = append(*s, math.NaN())
		} else {
			*s = append(*s, *n)
		}
	}
	return nil
}

// readAll reads result files of one experiment.
func readAll(paths []string) ([]result, error) {
	var out []result
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		some, err := read(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, r := range some {
			if len(out) > 0 && r.Experiment != out[0].Experiment {
				return nil, fmt.Errorf("%s is of experiment %q, %s of %q", path, r.Experiment, paths[0], out[0].Experiment)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// read reads JSON lines. Repetitions that ended in an error are left out.
func read(r io.Reader) ([]result, error) {
	var out []result
	for d := json.NewDecoder(r); ; {
		var one result
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not benchmark results: %w", err)
		}
		if one.Format != 1 {
			return nil, fmt.Errorf("result format %d, this program reads 1", one.Format)
		}
		var fine []seed
		for _, s := range one.Seeds {
			if s.Error == "" && len(s.Cost) > 0 {
				fine = append(fine, s)
			}
		}
		if one.Seeds = fine; len(fine) > 0 {
			out = append(out, one)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no result in it")
	}
	return out, nil
}
