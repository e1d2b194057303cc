package advisor

import (
	"context"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/policy"
)

// TestUnitTime: the table's own values, between them the geometric mean, beyond them the nearest; more readings and
// variables never take less.
func TestUnitTime(t *testing.T) {
	for _, c := range []struct {
		readings, variables int
		want                time.Duration
	}{
		{100, 3, 100 * time.Microsecond}, {1024, 40, 1100 * time.Microsecond}, {256, 10, 500 * time.Microsecond},
		{160, 3, 173205 * time.Nanosecond},          // half way from 100 to 256 in logarithms
		{100, 20, 346410 * time.Nanosecond},         // from 10 to 40
		{0, 1, 100 * time.Microsecond},              // nearest
		{1 << 20, 1 << 20, 1100 * time.Microsecond}, // nearest
	} {
		if got := UnitTime(c.readings, c.variables); (got - c.want).Abs() > 2*time.Nanosecond {
			t.Errorf("%d readings of %d variables: %v, want %v", c.readings, c.variables, got, c.want)
		}
	}
	for n := 1; n < 2000; n += 7 {
		for d := 1; d < 60; d++ {
			if UnitTime(n+7, d) < UnitTime(n, d) || UnitTime(n, d+1) < UnitTime(n, d) {
				t.Fatalf("at %d readings of %d variables more take less", n, d)
			}
		}
	}
}

// limited remembers its limit.
type limited struct {
	policy.Policy
	readings, limit int
}

func (l *limited) LimitWork(units int) { l.limit = units }
func (l *limited) Size() policy.Size   { return policy.Size{Observations: l.readings} }
func (l *limited) Propose(ctx context.Context) (policy.Proposal, error) {
	_, bounded := ctx.Deadline()
	return policy.Proposal{Cut: bounded}, nil
}

// TestDeadlineByTable: units are limited by what they count for, and no clock is asked; without a deadline by nothing.
func TestDeadlineByTable(t *testing.T) {
	p := &limited{readings: 100}
	o := Options{Deadline: 50 * time.Millisecond, Stopwatch: threadClock{t}, UnitTime: func(readings int) time.Duration { return UnitTime(readings, 3) }}
	if d := o.propose(context.Background(), p, 0); d.Err != nil || p.limit != 500 || d.Proposal.Cut {
		t.Errorf("limit %d of 500, cut by the clock %v, %v", p.limit, d.Proposal.Cut, d.Err)
	}
	if p.readings, o.Deadline = 1024, time.Millisecond; o.propose(context.Background(), p, 0).Err != nil || p.limit != 1 {
		t.Errorf("limit %d, want one unit at least", p.limit)
	}
	p.limit, o.Deadline = 0, 0
	if d := o.propose(context.Background(), p, 0); d.Err != nil || p.limit != 0 {
		t.Errorf("without a deadline: limit %d, %v", p.limit, d.Err)
	}
}
