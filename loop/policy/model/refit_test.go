package model

import (
	"context"
	"errors"
	"testing"
)

// A cancelled context ends the wait for a fit and leaves the fit pending.
func TestCancelledWaitForAFit(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := Refits{Every: 5, Lag: 1, Pending: &PendingFit{Due: 3, Started: true, Done: make(chan struct{})}}
	if _, err := r.join(ctx, 3); !errors.Is(err, context.Canceled) || r.Pending == nil {
		t.Errorf("joined a fit that has not ended: %v", err)
	}
}
