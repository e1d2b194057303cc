package experiment

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Format is the number of the result format. A file with another one is refused.
const Format = 1

// Result is what one policy did in one experiment: one line of JSON. README.md
// describes the format.
type Result struct {
	Format     int    `json:"format"`
	Experiment string `json:"experiment"`
	Policy     string `json:"policy"`
	// Version is the program's.
	Version string `json:"version"`
	// Steps is the bound on counted steps that the run asked for beside the
	// experiment's own, 0 for none.
	Steps int `json:"steps,omitempty"`
	// WorkUnits is what each decision was limited to, 0 for none.
	WorkUnits int    `json:"work_units,omitempty"`
	Seeds     []Seed `json:"seeds"`
	// CPUSeconds is the processor time of all seeds together, all threads.
	CPUSeconds float64 `json:"cpu_s"`
}

// Seed is one repetition. The series have one number for each counted step.
type Seed struct {
	Seed uint64 `json:"seed"`
	// Cost is what was spent up to the step.
	Cost Series `json:"cost"`
	// SimpleRegret is the least regret so far, CumulativeRegret the sum so far, in the
	// objective's unit.
	SimpleRegret     Series       `json:"simple_regret"`
	CumulativeRegret Series       `json:"cumulative_regret"`
	Recommended      *Recommended `json:"recommended"`
	// Reported is what the experiment's own rule recommends from the policy's observations; only
	// where the experiment has one.
	Reported *Recommended `json:"reported,omitempty"`
	// ReportedRegret is the regret of what would have been reported after the step: in the first,
	// and anew after every so many as the experiment says.
	ReportedRegret Series `json:"reported_regret,omitempty"`
	// CostRegret is the sum over counted steps of what their control sets cost on average above the cheapest set
	// that can be worth as much as the step was; only where the experiment asks for it.
	CostRegret *float64 `json:"cost_regret,omitempty"`
	// Visits counts the counted steps by the place of the problem that they were nearest to.
	Visits map[string]int `json:"visits,omitempty"`
	// HeldRegret is the mean regret of the settings that would have been held; only
	// where the experiment asks for it.
	HeldRegret *float64 `json:"held_regret,omitempty"`
	// TruePrior is the share of the decisions that the prior of the truth made; only where
	// the experiment has several priors and the policy decides by one of them at a time.
	TruePrior *float64 `json:"true_prior,omitempty"`
	// Eliminated is the number of priors that the policy found wrong; likewise.
	Eliminated *int `json:"eliminated,omitempty"`
	// Prior is the position of the true prior, and Choices the decisions that each prior made;
	// ActivePriors and PriorEntropy are, after each counted step, the number of priors that are left
	// and the entropy of their probabilities in nats. Only where there are several.
	Prior        *int   `json:"prior,omitempty"`
	Choices      []int  `json:"choices,omitempty"`
	ActivePriors Series `json:"active_priors,omitempty"`
	PriorEntropy Series `json:"prior_entropy,omitempty"`
	// Jumps are the steps before which the policy noticed that the objective had jumped.
	Jumps []int `json:"jumps,omitempty"`
	// Error says what ended the repetition early; the series end there.
	Error string `json:"error,omitempty"`
}

// Recommended is the setting that the policy recommends at the end.
type Recommended struct {
	// ControlSet counts from 0; Setting holds the values of its variables, by name.
	ControlSet int                `json:"control_set"`
	Setting    map[string]float64 `json:"setting"`
	// Mean and LowerBound are the policy's own estimates, Regret the truth, and Worth, of what
	// is reported, as well.
	Mean       Number  `json:"mean"`
	LowerBound Number  `json:"lower_bound"`
	Worth      float64 `json:"worth,omitempty"`
	Regret     float64 `json:"regret"`
	// Nearest names the place of the problem that the setting is nearest to.
	Nearest string `json:"nearest,omitempty"`
}

// Number is a float64 that is null in JSON where it is not finite.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	return appendNumber(nil, float64(n), -1), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("%q is no number", text)
	}
	*n = Number(v)
	return nil
}

// Series is a list of numbers, written with seven significant digits to keep files
// small; a number that is not finite is null, and NaN when it is read.
type Series []float64

// MarshalJSON implements json.Marshaler.
func (s Series) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range s {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendNumber(out, v, 7)
	}
	return append(out, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Series) UnmarshalJSON(text []byte) error {
	var numbers []Number
	if err := json.Unmarshal(text, &numbers); err != nil {
		return err
	}
	*s = make(Series, len(numbers))
	for i, n := range numbers {
		(*s)[i] = float64(n)
	}
	return nil
}

func appendNumber(out []byte, v float64, digits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(out, "null"...)
	}
	return strconv.AppendFloat(out, v, 'g', digits, 64)
}

// Write writes results, one line of JSON each.
func Write(w io.Writer, results []Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range results {
		if err := e.Encode(&results[i]); err != nil {
			return err
		}
	}
	return nil
}

// Read reads what Write wrote. The error names the line that is not a result.
func Read(r io.Reader) ([]Result, error) {
	var out []Result
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			one, bad := parse(line)
			if bad != nil {
				return nil, fmt.Errorf("line %d: %w", n, bad)
			}
			out = append(out, one)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no result in it")
	}
	return out, nil
}

// parse reads one line and checks that it is a result.
func parse(line []byte) (Result, error) {
	var r Result
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("not a benchmark result: %w", err)
	}
	switch {
	case r.Format != Format:
		return r, fmt.Errorf("result format %d, this program reads %d", r.Format, Format)
	case r.Experiment == "" || r.Policy == "":
		return r, errors.New("no experiment or no policy is named")
	}
	seen := map[uint64]bool{}
	for i := range r.Seeds {
		s := &r.Seeds[i]
		if n := len(s.Cost); len(s.SimpleRegret) != n || len(s.CumulativeRegret) != n {
			return r, fmt.Errorf("seed %d: series of %d, %d and %d numbers", s.Seed, n, len(s.SimpleRegret), len(s.CumulativeRegret))
		}
		if seen[s.Seed] {
			return r, fmt.Errorf("seed %d is there twice", s.Seed)
		}
		seen[s.Seed] = true
	}
	return r, nil
}
