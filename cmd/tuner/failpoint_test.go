package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// failpointMain is main with a way to die: TUNER_FAILPOINT=NAME@N kills the process, as
// SIGKILL does, when it passes the failpoint NAME for the N-th time; with
// TUNER_FAILSIGNAL=INT it is asked to end, as by Ctrl-C. Only this test binary has it.
func failpointMain() {
	e := processEnv()
	then := die
	if os.Getenv("TUNER_FAILSIGNAL") == "INT" {
		then = func() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) }
	}
	e.Failpoint = failpointOf(os.Getenv("TUNER_FAILPOINT"), then)
	if os.Getenv(testHasty) == "" {
		e.Slowness = 12 // a minute where the product gives 5 s
	}
	os.Exit(execute(context.Background(), e))
}

// testHasty, in the environment of a test's tuner, has it wait no longer than the product does:
// for what never comes.
const testHasty = "TUNER_TEST_HASTY"

// die ends the process as SIGKILL does; nothing more happens on the goroutine.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// failpointOf does what is asked for at a failpoint. It gives nil for no text.
func failpointOf(text string, then func()) func(string) {
	name, count, _ := strings.Cut(text, "@")
	if name == "" {
		return nil
	}
	at, err := strconv.Atoi(count)
	if err != nil {
		panic(fmt.Sprintf("TUNER_FAILPOINT=%q is not NAME@N", text))
	}
	var passed atomic.Int64
	return func(here string) {
		if here == name && passed.Add(1) == int64(at) {
			then()
		}
	}
}

// Every failpoint that the loop has is one of a victim's, and no victim waits for one that
// the loop does not have: it would be killed, but not there.
func TestEveryFailpointHasAVictim(t *testing.T) {
	asked := map[string]bool{}
	for _, v := range []victim{heater(), pump(), comparer()} {
		for _, point := range v.failpoints {
			asked[point] = true
		}
	}
	files, err := filepath.Glob("../../loop/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	call := regexp.MustCompile(`(?:l\.failpoint|reached)\("([^"]+)"\)`)
	var there []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			there = append(there, m[1])
		}
	}
	for _, point := range there {
		if !asked[point] {
			t.Errorf("no process is killed at %s", point)
		}
	}
	for point := range asked {
		if !slices.Contains(there, point) {
			t.Errorf("the loop has no failpoint %s", point)
		}
	}
}
