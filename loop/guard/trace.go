package guard

import (
	"encoding/json"
	"fmt"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/trace"
	"github.com/labtuner/tuner/safety"
)

// tracing records the inputs and outputs of the safety layer; nil where nothing is driven, or
// after a gap: what follows it cannot be derived.
type tracing struct {
	trace *trace.Recorder
	// from is what the safety layer was at the start.
	from safety.Saved
}

// StartTrace begins the session's safety trace: what is to be recorded of its start, nil
// where nothing is driven.
func (g *Guard) StartTrace() (start []byte, said []Said) {
	if g.plan.Mode == plan.Shadow {
		return nil, nil
	}
	start, err := json.Marshal(trace.Start{Limits: g.limits, Saved: g.from})
	if err != nil {
		return nil, []Said{{"warn", journal.EventSafety, fmt.Sprintf("what the safety layer does is not recorded, so it cannot be replayed: %v", err)}}
	}
	g.trace = trace.NewRecorder(&g.limits)
	return start, nil
}

// Piece is a piece of the safety trace that is to be recorded.
type Piece struct {
	Data  []byte
	Ticks int
	trace *trace.Recorder
}

// Written notes that a piece is durable.
func (p *Piece) Written() { p.trace.Written(len(p.Data)) }

// Cut takes the piece in hand, nil where there is none.
func (k *tracing) Cut() (piece *Piece, said []Said) {
	t := k.trace
	data, ticks, err := t.Cut()
	switch {
	case err != nil:
		return nil, []Said{{"warn", journal.EventSafety, fmt.Sprintf("a piece of what the safety layer did is not recorded: %v", err)}}
	case ticks == 0:
		return nil, nil
	case !t.Wait(len(data)):
		k.trace = nil
		return nil, []Said{{"warn", journal.EventDisk, fmt.Sprintf("what the safety layer does is not recorded from here on until the next start: %.3g MB of it wait for the disk", float64(t.Waiting())/1e6)}}
	}
	return &Piece{data, ticks, t}, nil
}

// BoundTrace sets how many bytes of the trace may wait for the disk; Untraced is how many
// do, 0 where nothing is traced any more.
func (k *tracing) BoundTrace(most int) { k.trace.Bound(most) }

func (k *tracing) Untraced() int {
	if k.trace == nil {
		return 0
	}
	return k.trace.Waiting()
}
