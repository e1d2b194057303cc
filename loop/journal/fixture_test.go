package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// performed counts the records of the demo script in a journal.
func performed(r *Reader) (n int, err error) {
	for s, serr := range r.Steps() {
		shots, err1 := r.Shots(s.Decision.Step)
		actions, err2 := r.Actions(s.Decision.Step)
		if err := errors.Join(serr, err1, err2); err != nil {
			return 0, err
		}
		n += 1 + len(shots)/2 + len(actions)
		for _, a := range actions {
			n += len(a.Resolutions)
		}
		if s.Concluded {
			n++
		}
	}
	for _, err := range r.Events() {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// dump gives everything that a reader tells of a journal, but which session did
// it. Floats are printed so that different ones differ.
func dump(r *Reader) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", r.Run())
	steps := 0
	for s, err := range r.Steps() {
		if err != nil {
			return "", err
		}
		steps, s.Session = steps+1, 0
		fmt.Fprintf(&b, "%+v\n", s)
	}
	for step := range steps + 1 {
		shots, err1 := r.Shots(step)
		actions, err2 := r.Actions(step)
		if err := errors.Join(err1, err2); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%+v\n%+v\n", shots, actions)
	}
	for e, err := range r.Events() {
		if err != nil {
			return "", err
		}
		e.Session = 0
		fmt.Fprintf(&b, "%+v\n", e)
	}
	result, ok, err := r.Result()
	fmt.Fprintf(&b, "%+v %s %v\n", result.At, result.Document, ok)
	return b.String(), err
}

func mustDump(t testing.TB, path string) string {
	t.Helper()
	r := journaltest.MustRead(t, path)
	if d := r.Verify(); d != nil {
		t.Fatalf("damage in a sound journal: %v", d)
	}
	s, err := dump(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
