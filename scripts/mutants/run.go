package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The verdicts on a mutant.
const (
	killed    = "killed"
	survived  = "SURVIVED"
	argued    = "argued"    // survives, and the file of survivors says why it may
	open      = "open"      // survives, and the file of survivors says that a test is missing
	undecided = "undecided" // there was no time left
)

// result is what became of a mutant.
type result struct {
	change
	Verdict string `json:"verdict"`
	// By is the test that failed, Ran how many tests that come by it were run.
	By      string  `json:"by,omitempty"`
	Ran     int     `json:"ran"`
	Seconds float64 `json:"seconds"`
	Err     string  `json:"error,omitempty"`
}

// runner runs tests against mutants.
type runner struct {
	build *builder
	// catalogue names the mutants that were measured, jobs is how many tests run at once.
	catalogue string
	jobs      int
	// path bounds the tests of the whole path that one mutant is given, by the time they
	// took without it.
	path time.Duration
	// quick has all tests of a package run as they stand, unmeasured.
	quick bool
	until time.Time

	// slow is the longest test that is run; 0: any.
	slow  time.Duration
	tests map[string][]measured
	mu    sync.Mutex
	// killers are the tests that have found mutants of a function, the last one first.
	killers map[string][]string
}

// outcome is what tests have come to.
type outcome struct {
	passed bool
	failed string // the first test that did
	timed  bool
}

var failLine = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// runTests runs tests of a package, all where there are none named. A test that hangs fails.
func runTests(pkg, binary string, names []string, limit time.Duration, env ...string) (outcome, string) {
	args := []string{"-test.count=1", "-test.failfast", "-test.timeout=" + limit.String()}
	if names != nil {
		args = append(args, "-test.run=^("+strings.Join(names, "|")+")$")
	}
	if pkg == "safety" { // what ten million proposals find, these find
		args = append(args, "-proposals=200000", "-days=0.5")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = pkg, append(os.Environ(), append(env, "RAPID_NOFAILFILE=1", "RAPID_SHRINKTIME=1ms")...) // nothing is left in the tree
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	if cmd.Process != nil { // what a test has left behind
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	out := outcome{passed: err == nil, timed: ctx.Err() != nil || strings.Contains(text.String(), "panic: test timed out")}
	if m := failLine.FindStringSubmatch(text.String()); m != nil {
		out.failed, _, _ = strings.Cut(m[1], "/")
	}
	return out, text.String()
}

// try gives a mutant the tests that come by it, its own package's first.
func (r *runner) try(c *change, packages []string) (res result) {
	began := time.Now()
	res = result{change: *c, Verdict: survived}
	defer func() { res.Seconds = time.Since(began).Seconds() }()
	for k, pkg := range packages {
		by, ran, err := r.against(c, pkg, k > 0)
		res.Ran += ran
		switch {
		case errors.Is(err, errNoTime):
			res.Verdict = undecided
			return res
		case err != nil:
			res.Err, res.Verdict = err.Error(), undecided
			return res
		case by != "":
			res.Verdict, res.By = killed, pkg+" "+by
			r.remember(c, pkg, by)
			return res
		}
	}
	return res
}

var errNoTime = errors.New("no time left")

// against runs one package's tests, and returns the one that failed.
func (r *runner) against(c *change, pkg string, whole bool) (by string, ran int, err error) {
	binary, err := r.binary(pkg)
	if err != nil {
		return "", 0, err
	}
	for _, batch := range r.batches(c, pkg, whole) {
		limit := 30*time.Second + time.Duration(10*batch.seconds*float64(time.Second))
		limit = min(limit, r.left())
		if limit <= 0 {
			return "", ran, errNoTime
		}
		env := fmt.Sprintf("TUNER_MUTANT=%d", c.ID)
		out, _ := runTests(pkg, binary, batch.names, limit, env)
		ran += len(batch.names)
		switch {
		case out.passed:
		case out.timed && r.left() <= 0:
			return "", ran, errNoTime
		case out.timed:
			return "time is up", ran, nil
		case out.failed == "": // it has ended the process
			return "the process ended", ran, nil
		default: // twice: a test may fail by itself, on a busy machine
			if again, _ := runTests(pkg, binary, []string{out.failed}, limit, env); !again.passed {
				return out.failed, ran, nil
			}
		}
	}
	return "", ran, nil
}

// binary is a package's test binary. What it takes to build one is no part of the time that the
// mutants have.
func (r *runner) binary(pkg string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	began := time.Now()
	path, err := r.build.binary(pkg)
	if !r.until.IsZero() {
		r.until = r.until.Add(time.Since(began))
	}
	return path, err
}

// left is the time that the mutants still have.
func (r *runner) left() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until.IsZero() {
		return math.MaxInt64
	}
	return time.Until(r.until)
}

// batch is tests that are run in one process.
type batch struct {
	names   []string
	seconds float64
}

// remember notes that a test has found a mutant: it may find the next one too.
func (r *runner) remember(c *change, pkg, test string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, about := range []string{c.File + c.Func, c.File, c.room} {
		k := slices.DeleteFunc(r.killers[pkg+about], func(t string) bool { return t == test })
		r.killers[pkg+about] = append([]string{test}, k...)
	}
}

// likely are the tests that have found the like of a mutant.
func (r *runner) likely(c *change, pkg string) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, about := range []string{c.File + c.Func, c.File, c.room} {
		k := r.killers[pkg+about]
		out = append(out, k[:min(len(k), 3)]...)
	}
	return out
}

// batches are the tests that come by a mutant: first those that have found the like of it,
// then the fastest.
func (r *runner) batches(c *change, pkg string, whole bool) (out []batch) {
	if r.quick {
		return []batch{{nil, 10}}
	}
	most := []float64{0, 0.5, 3, 1e9}
	var b batch
	total := 0.0
	likely := r.likely(c, pkg)
	var first, rest []measured
	for _, t := range r.tests[pkg] {
		if _, hit := slices.BinarySearch(t.Hits, c.ID); !hit || r.slow > 0 && t.Seconds > r.slow.Seconds() {
			continue
		}
		if slices.Contains(likely, t.Name) && (t.Seconds < 1 || whole) {
			first = append(first, t)
		} else {
			rest = append(rest, t)
		}
	}
	for _, t := range first {
		b.names, b.seconds = append(b.names, t.Name), b.seconds+t.Seconds
	}
	if len(b.names) > 0 {
		out, b = append(out, b), batch{}
	} else {
		most = most[1:]
	}
	for _, t := range rest {
		if total += t.Seconds; whole && total > r.path.Seconds() {
			break
		}
		for len(b.names) > 0 && b.seconds+t.Seconds > most[min(len(out), len(most)-1)] {
			out, b = append(out, b), batch{}
		}
		b.names, b.seconds = append(b.names, t.Name), b.seconds+t.Seconds
	}
	if len(b.names) > 0 {
		out = append(out, b)
	}
	return out
}
