package journal_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/export"
)

// One step of a run, and its export.
func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "oven.db")
	run := journal.Run{
		ID: "1", Name: "oven", Mode: "simulate", Objective: journal.Column{Name: "yield", Unit: "g"}, CostUnit: "EUR",
		Variables:   []journal.Column{{Name: "power", Unit: "W"}, {Name: "humidity", Unit: "%"}},
		ControlSets: []journal.ControlSet{{Variables: []string{"power"}, Cost: 1}},
	}
	if err := record(path, run); err != nil {
		fmt.Println(err)
		return
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	if err := export.Write(os.Stdout, r, export.JSONL); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"type":"step","n":1,"control_set":["power"],"requested":{"power":120},"applied":{"power":100},"x":{"humidity":40.5,"power":99.5},"mean":1.25,"variance":null,"standard_error":null,"shots":1,"cost":1,"spent":1,"valid":true,"clamped":["power"],"decision_ms":2,"reason":"as the policy's design asks; changed by the safety layer: power bounds"}
	// {"type":"result","steps":1}
}

// record writes the run: each call is durable when it returns, so what is about to
// be done is on the disk before it is done.
func record(path string, run journal.Run) error {
	j, err := journal.Create(path, run, journal.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	random := math.NaN() // humidity is not controlled
	if err := j.Decide(journal.Decision{Step: 1, Requested: []float64{120, random}, Applied: []float64{100, random},
		Reasons: []journal.Reason{{Variable: "power", Rule: "bounds", From: 120, To: 100}}, Took: 2 * time.Millisecond}); err != nil {
		return err
	}
	id, err := j.Intend(journal.Action{Step: 1, Device: "heater", Kind: "move", Values: map[string]float64{"power": 100}})
	if err != nil {
		return err
	}
	// Here the heater is set.
	if err := j.Resolve(id, journal.Confirmed, map[string]float64{"power": 99.5}, "", journal.Stamp{}); err != nil {
		return err
	}
	if err := j.Shoot([]journal.Shot{{Step: 1, Objective: 1.25, X: []float64{99.5, 40.5}}}); err != nil {
		return err
	}
	if err := j.Conclude(journal.Outcome{Step: 1, X: []float64{99.5, 40.5}, Mean: 1.25, Variance: math.NaN(), StandardError: math.NaN(), Shots: 1,
		Cost: 1, Spent: 1, Valid: true}); err != nil {
		return err
	}
	if err := j.Finish("max_steps", []byte(`{"type":"result","steps":1}`), journal.Stamp{}); err != nil {
		return err
	}
	return j.Close()
}
