package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// measured is what one test takes, and which mutants it comes by.
type measured struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Failed  bool    `json:"failed,omitempty"`
	Hits    []int   `json:"hits"`
}

// id names the mutants of a catalogue by number: what was measured of another one does not
// count.
func (c *catalogue) id() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(c.overlay)) {
		fmt.Fprintf(h, "%s %d\n", path, len(c.overlay[path]))
		h.Write(c.overlay[path])
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// measure runs every test of a package by itself, without a mutant, and notes which mutants
// it comes by. What was measured before is read.
func (r *runner) measure(pkg string) ([]measured, error) {
	if known, ok := r.tests[pkg]; ok {
		return known, nil
	}
	binary, err := r.build.binary(pkg)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(r.build.dir, "measured-"+r.catalogue+"-"+strings.ReplaceAll(pkg, "/", "_")+".jsonl")
	known, err := readLines[measured](path)
	if err != nil {
		return nil, err
	}
	names, err := listTests(pkg, binary)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, n := range names {
		if !slices.ContainsFunc(known, func(m measured) bool { return m.Name == n }) {
			missing = append(missing, n)
		}
	}
	known = slices.DeleteFunc(known, func(m measured) bool { return !slices.Contains(names, m.Name) })
	var mu sync.Mutex
	parallel(r.jobs, missing, func(n string) {
		m := r.measureOne(pkg, binary, n)
		mu.Lock()
		defer mu.Unlock()
		known = append(known, m)
		err = errors.Join(err, appendLine(path, m))
	})
	for _, m := range known {
		if m.Failed {
			fmt.Printf("not used: %s %s fails without a mutant\n", pkg, m.Name)
		}
	}
	known = slices.DeleteFunc(known, func(m measured) bool { return m.Failed })
	slices.SortFunc(known, func(a, b measured) int { return cmp.Compare(a.Seconds, b.Seconds) })
	r.tests[pkg] = known
	return known, err
}

func listTests(pkg, binary string) (names []string, err error) {
	cmd := exec.Command(binary, "-test.list", ".")
	cmd.Dir = pkg
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests of %s: %w", pkg, err)
	}
	for n := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(n, "Benchmark") {
			names = append(names, n)
		}
	}
	return names, nil
}

func (r *runner) measureOne(pkg, binary, name string) measured {
	hits := filepath.Join(r.build.dir, "hits-"+strings.ReplaceAll(pkg, "/", "_")+"-"+name)
	defer os.Remove(hits)
	began := time.Now()
	out, _ := runTests(pkg, binary, []string{name}, 5*time.Minute, "TUNER_MUTANT_HITS="+hits)
	m := measured{Name: name, Seconds: time.Since(began).Seconds(), Failed: !out.passed}
	text, err := os.ReadFile(hits)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Failed = true
	}
	for line := range bytes.Lines(text) {
		if n, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil {
			m.Hits = append(m.Hits, n)
		}
	}
	slices.Sort(m.Hits)
	m.Hits = slices.Compact(m.Hits)
	return m
}

// parallel calls f for each of a list, n at a time.
func parallel[T any](n int, list []T, f func(T)) {
	var wg sync.WaitGroup
	next := make(chan T)
	for range n {
		wg.Go(func() {
			for x := range next {
				f(x)
			}
		})
	}
	for _, x := range list {
		next <- x
	}
	close(next)
	wg.Wait()
}

func readLines[T any](path string) (out []T, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var x T
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, x)
	}
	return out, lines.Err()
}

func appendLine(path string, x any) error {
	line, err := json.Marshal(x)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
