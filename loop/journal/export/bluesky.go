package export

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

// Bluesky's event model (https://blueskyproject.io/event-model) describes a run as
// documents: a start, for each stream of readings a descriptor and its events, and a stop.
// The export has three streams: primary has an event per step that the policy decided,
// verify one per step that re-measured a setting, shots one per shot. Every line is
// {"name": NAME, "doc": DOCUMENT}. A run that has no result yet has no stop.
//
// What is no number is null. Names are those of the CSV export; "." and "/" in them,
// which documents do not allow, become "_".

// blueskyLine is one document.
type blueskyLine struct {
	Name string `json:"name"`
	Doc  any    `json:"doc"`
}

// blueskyKey describes one reading of a stream.
type blueskyKey struct {
	Source string `json:"source"`
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"`
	Units  string `json:"units,omitempty"`
}

// blueskyField is a reading with how to get it.
type blueskyField[T any] struct {
	name  string
	key   blueskyKey
	value func(T) any
}

type blueskyDescriptor struct {
	UID           string                         `json:"uid"`
	RunStart      string                         `json:"run_start"`
	Time          float64                        `json:"time"`
	Name          string                         `json:"name"`
	DataKeys      map[string]blueskyKey          `json:"data_keys"`
	ObjectKeys    map[string][]string            `json:"object_keys"`
	Hints         map[string]map[string][]string `json:"hints"`
	Configuration map[string]any                 `json:"configuration"`
}

type blueskyEvent struct {
	UID        string             `json:"uid"`
	Descriptor string             `json:"descriptor"`
	Time       float64            `json:"time"`
	SeqNum     int                `json:"seq_num"`
	Data       map[string]any     `json:"data"`
	Timestamps map[string]float64 `json:"timestamps"`
	Filled     map[string]bool    `json:"filled"`
}

// blueskyWriter writes the documents of one run.
type blueskyWriter struct {
	run      journal.Run
	lines    *json.Encoder
	sessions []journal.Session
	// descriptors and counts by stream.
	descriptors map[string]string
	counts      map[string]int
}

// exportBluesky writes the documents.
func exportBluesky(w io.Writer, r *journal.Reader) error {
	result, finished, err := r.Result()
	if err != nil {
		return err
	}
	sessions, err := r.Sessions()
	if err != nil {
		return err
	}
	b := blueskyWriter{run: r.Run(), lines: json.NewEncoder(w), sessions: sessions, descriptors: map[string]string{}, counts: map[string]int{}}
	b.lines.SetEscapeHTML(false)
	if err := b.start(); err != nil {
		return err
	}
	steps, shots := stepFields(b.run), shotFields(b.run)
	for s, err := range r.Steps() {
		if err != nil {
			return err
		}
		list, err := r.Shots(s.Decision.Step)
		if err != nil {
			return err
		}
		for _, shot := range list {
			if err := emit(&b, "shots", shots, shot, b.seconds(s.Session, shot.At)); err != nil {
				return err
			}
		}
		if !s.Concluded {
			continue
		}
		stream := "primary"
		if s.Decision.Compared.Comparison > 0 {
			stream = "verify"
		}
		if err := emit(&b, stream, steps, s, b.seconds(s.Session, s.Outcome.At)); err != nil {
			return err
		}
	}
	if !finished {
		return nil
	}
	return b.stop(result)
}

// seconds is a time since 1970. Where the wall clock was not known, that of the session's
// start and the monotonic clock stand in.
func (b *blueskyWriter) seconds(session int, at journal.Stamp) float64 {
	if at.Wall.IsZero() && session >= 1 && session <= len(b.sessions) {
		start := b.sessions[session-1].Start
		at.Wall = start.Wall.Add(at.Mono - start.Mono)
	}
	if at.Wall.IsZero() {
		return 0
	}
	return float64(at.Wall.UnixNano()) / float64(time.Second)
}

// uid names a document: the same journal gives the same names.
func (b *blueskyWriter) uid(of string) string {
	h := sha256.Sum256([]byte(b.run.ID + "/" + of))
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// start writes what the run is.
func (b *blueskyWriter) start() error {
	variables, sensors := []string{}, []string{}
	for _, v := range b.run.Variables {
		variables = append(variables, v.Name)
	}
	for _, s := range b.run.Sensors {
		sensors = append(sensors, s.Name)
	}
	return b.lines.Encode(blueskyLine{"start", map[string]any{
		"uid": b.uid("start"), "time": b.seconds(1, b.run.Start), "plan_name": "tuner", "plan_type": "optimization",
		"motors": variables, "detectors": sensors, "hints": map[string]any{"dimensions": []any{[]any{[]string{"time"}, "primary"}}},
		"run_id": b.run.ID, "run_name": b.run.Name, "site": b.run.Site, "mode": b.run.Mode, "policy": b.run.Policy,
		"seed": b.run.Seed, "version": b.run.Version, "objective": b.run.Objective.Name, "objective_unit": b.run.Objective.Unit,
		"minimize": b.run.Minimize, "cost_unit": b.run.CostUnit, "config_file": b.run.ConfigFile,
	}})
}

// stop writes how it ended.
func (b *blueskyWriter) stop(r journal.Result) error {
	status := map[string]string{"interrupted": "abort", "safety": "abort", "fault": "fail", "no data": "fail"}[r.Reason]
	if status == "" {
		status = "success"
	}
	return b.lines.Encode(blueskyLine{"stop", map[string]any{
		"uid": b.uid("stop"), "run_start": b.uid("start"), "time": b.seconds(len(b.sessions), r.At),
		"exit_status": status, "reason": r.Reason, "num_events": b.counts,
	}})
}

// emit writes an event of a stream, and before the first its descriptor.
func emit[T any](b *blueskyWriter, stream string, fields []blueskyField[T], of T, at float64) error {
	if b.descriptors[stream] == "" {
		b.descriptors[stream] = b.uid(stream)
		d := blueskyDescriptor{UID: b.uid(stream), RunStart: b.uid("start"), Time: at, Name: stream, DataKeys: map[string]blueskyKey{},
			Hints:         map[string]map[string][]string{"tuner": {"fields": {fields[0].name}}},
			Configuration: map[string]any{"tuner": map[string]any{"data": map[string]any{}, "timestamps": map[string]any{}, "data_keys": map[string]any{}}}}
		var names []string
		for _, f := range fields {
			d.DataKeys[f.name], names = f.key, append(names, f.name)
		}
		d.ObjectKeys = map[string][]string{"tuner": names}
		if err := b.lines.Encode(blueskyLine{"descriptor", d}); err != nil {
			return err
		}
	}
	b.counts[stream]++
	e := blueskyEvent{UID: b.uid(fmt.Sprintf("%s/%d", stream, b.counts[stream])), Descriptor: b.descriptors[stream], Time: at,
		SeqNum: b.counts[stream], Data: map[string]any{}, Timestamps: map[string]float64{}, Filled: map[string]bool{}}
	for _, f := range fields {
		e.Data[f.name], e.Timestamps[f.name] = f.value(of), at
	}
	return b.lines.Encode(blueskyLine{"event", e})
}

// blueskyName makes a name of a document's member.
func blueskyName(s string) string {
	out := []rune(s)
	for i, r := range out {
		if r == '.' || r == '/' {
			out[i] = '_'
		}
	}
	return string(out)
}

// numberField is a reading that is a number, null where there is none.
func numberField[T any](name, source, unit string, value func(T) float64) blueskyField[T] {
	return blueskyField[T]{blueskyName(name), blueskyKey{Source: source, DType: "number", Shape: []int{}, Units: unit},
		func(of T) any {
			if x := value(of); !math.IsInf(x, 0) {
				return journal.Number(x)
			}
			return nil
		}}
}

// otherField is a reading of another type.
func otherField[T any](name, dtype string, value func(T) any) blueskyField[T] {
	return blueskyField[T]{name, blueskyKey{Source: "tuner", DType: dtype, Shape: []int{}}, value}
}

// stepFields are the readings of a step; the objective is the first.
func stepFields(run journal.Run) []blueskyField[journal.Step] {
	objective := run.Objective.Unit
	fields := []blueskyField[journal.Step]{
		numberField("mean", "tuner", objective, func(s journal.Step) float64 { return s.Outcome.Mean }),
		numberField("variance", "tuner", Squared(objective), func(s journal.Step) float64 { return s.Outcome.Variance }),
		numberField("standard_error", "tuner", objective, func(s journal.Step) float64 { return s.Outcome.StandardError }),
		numberField("cost", "tuner", run.CostUnit, func(s journal.Step) float64 { return s.Outcome.Cost }),
		numberField("spent", "tuner", run.CostUnit, func(s journal.Step) float64 { return s.Outcome.Spent }),
		otherField("n", "integer", func(s journal.Step) any { return s.Decision.Step }),
		otherField("shots", "integer", func(s journal.Step) any { return s.Outcome.Shots }),
		otherField("valid", "boolean", func(s journal.Step) any { return s.Outcome.Valid }),
		otherField("problem", "string", func(s journal.Step) any { return s.Outcome.Problem }),
		otherField("control_set", "integer", func(s journal.Step) any { return s.Decision.ControlSet }),
		otherField("verified", "string", func(s journal.Step) any { return string(s.Decision.Compared.Side) }),
	}
	for i, v := range run.Variables {
		fields = append(fields,
			numberField("requested_"+v.Name, "policy", v.Unit, func(s journal.Step) float64 { return at(s.Decision.Requested, i) }),
			numberField("applied_"+v.Name, "safety", v.Unit, func(s journal.Step) float64 { return at(s.Decision.Applied, i) }),
			numberField("x_"+v.Name, "variable:"+v.Name, v.Unit, func(s journal.Step) float64 { return at(s.Outcome.X, i) }))
	}
	return fields
}

// shotFields are the readings of a shot; the objective is the first.
func shotFields(run journal.Run) []blueskyField[journal.Shot] {
	fields := []blueskyField[journal.Shot]{
		numberField("objective", "tuner", run.Objective.Unit, func(s journal.Shot) float64 { return s.Objective }),
		otherField("n", "integer", func(s journal.Shot) any { return s.Step }),
		otherField("shot", "integer", func(s journal.Shot) any { return s.Index }),
	}
	for i, v := range run.Variables {
		fields = append(fields, numberField("x_"+v.Name, "variable:"+v.Name, v.Unit, func(s journal.Shot) float64 { return at(s.X, i) }))
	}
	for i, v := range run.Sensors {
		fields = append(fields, numberField("sensor_"+v.Name, "sensor:"+v.Name, v.Unit, func(s journal.Shot) float64 { return at(s.Sensors, i) }))
	}
	return fields
}
