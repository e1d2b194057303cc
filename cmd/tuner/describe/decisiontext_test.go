package describe

import (
	"testing"
	"time"
)

// TestDecisionTimeSaysWhatToChange: a deadline that cuts is told with how often, and with a change that helps; of a
// smaller model only where its first decisions are done in time.
func TestDecisionTimeSaysWhatToChange(t *testing.T) {
	const ms = time.Millisecond
	for want, d := range map[string]DecisionTime{
		"about 7ms on this computer with 150 observations, now and then 68ms, of the 140ms that it may take": {
			Observations: 150, Wanted: 150, Units: 20, Took: 7 * ms, Longest: 68 * ms, Complete: true, Deadline: 140 * ms},
		"about 7ms on this computer with 150 observations, now and then 68ms; the deadline of 70ms may cut some searches: " +
			`deadline = "140ms" is enough on a quiet computer`: {
			Observations: 150, Wanted: 150, Units: 20, Took: 7 * ms, Longest: 68 * ms, Complete: true, Deadline: 70 * ms},
		"about 7ms on this computer with 150 observations, now and then 68ms; the deadline of 50ms will cut some searches: " +
			`deadline = "140ms" is enough on a quiet computer`: {
			Observations: 150, Wanted: 150, Units: 20, Took: 7 * ms, Longest: 68 * ms, Complete: true, Deadline: 50 * ms},
		"about 7ms on this computer with 512 observations, now and then 68ms; the deadline of 5ms will cut most searches: " +
			`deadline = "140ms" is enough on a quiet computer, or lower capacity in [model]`: {
			Observations: 512, Wanted: 512, Full: true, Units: 20, Took: 7 * ms, Longest: 68 * ms, Early: 4 * ms, Complete: true, Deadline: 5 * ms},
		"about 7ms on this computer with 512 observations, now and then 68ms; the deadline of 3ms will cut most searches: " +
			`deadline = "140ms" is enough on a quiet computer`: {
			Observations: 512, Wanted: 512, Full: true, Units: 20, Took: 7 * ms, Longest: 68 * ms, Early: 4 * ms, Complete: true, Deadline: 3 * ms},
		"about 90ms on this computer with 300 observations, longer with the 1024 that the model comes to hold, now and then 200ms; " +
			"the deadline of 150ms will cut some searches: raise it, beyond 400ms": {
			Observations: 300, Wanted: 1024, Units: 20, Took: 90 * ms, Longest: 200 * ms, Complete: true, Deadline: 150 * ms},
		"about 2ms on this computer with 30 observations, now and then 3ms; it searches nothing, so no deadline cuts it": {
			Observations: 30, Wanted: 30, Took: 2 * ms, Longest: 3 * ms, Complete: true, Deadline: ms},
		"about 2ms on this computer with 500 observations, longer with the 1024 that the model comes to hold, now and then 3ms, " +
			"of the 50ms that it may take, which may not be enough then": {
			Observations: 500, Wanted: 1024, Units: 20, Took: 2 * ms, Longest: 3 * ms, Complete: true, Deadline: 50 * ms},
		"more than 500ms on this computer with 1024 observations; the deadline of 50ms will cut most searches: raise it, beyond 1s": {
			Observations: 1024, Wanted: 1024, Units: 20, Took: 500 * ms, Longest: 500 * ms, Deadline: 50 * ms},
	} {
		if got := d.Text(); got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
	}
}
