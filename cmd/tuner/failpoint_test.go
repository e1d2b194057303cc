package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// failpointMain is main with a way to die: TUNER_FAILPOINT=NAME@N kills the process, as
// SIGKILL does, when it passes the failpoint NAME for the N-th time. Only this test
// binary has it.
func failpointMain() {
	e := processEnv()
	e.failpoint = failpointOf(os.Getenv("TUNER_FAILPOINT"))
	os.Exit(execute(context.Background(), e))
}

// failpointOf gives nil for no text.
func failpointOf(text string) func(string) {
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
		if here != name || passed.Add(1) != int64(at) {
			return
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // nothing more happens on this goroutine
	}
}
