package testsize

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// Tests leave much garbage beside a small live heap: collected at five times the live heap in
// place of twice, loop's take a sixth less CPU time. Where the heap is large the limit has it
// collected earlier. What a person sets (GOGC, GOMEMLIMIT) holds; benchmarks, and the whole with
// its tables of memory, run as the program does.
const (
	garbagePercent = 400
	memoryLimit    = 1 << 30 // bytes
)

func init() {
	bench := func(arg string) bool { return strings.HasPrefix(arg, "-test.bench=") }
	if !Whole() && os.Getenv("GOGC")+os.Getenv("GOMEMLIMIT") == "" && !slices.ContainsFunc(os.Args, bench) {
		debug.SetGCPercent(garbagePercent)
		debug.SetMemoryLimit(memoryLimit)
	}
}
