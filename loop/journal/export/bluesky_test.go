package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// document is a line of the export.
type document struct {
	Name string
	Doc  map[string]any
}

func documents(t *testing.T, path string) []document {
	t.Helper()
	var all []document
	lines := bufio.NewScanner(bytes.NewReader(mustExport(t, path, Bluesky)))
	for lines.Scan() {
		var d document
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// The shape of the documents, as the event model's schemas ask for it: which members each
// must have, what refers to what, and that events have the keys of their descriptor.
func TestBlueskyShape(t *testing.T) {
	path, j := journaltest.Demo(t, 2*journaltest.OpsPerStep)
	for _, err := range []error{
		j.Compare(journal.Comparison{Number: 1, Pairs: 6, Shots: 2, Recommended: []float64{1, 2}, Start: []float64{3, journaltest.NaN}}),
		j.Decide(journal.Decision{Step: 3, Requested: []float64{3, journaltest.NaN}, Applied: []float64{3, journaltest.NaN}, Compared: journal.Compared{Comparison: 1, Pair: 1, Side: journal.Starting}, At: journaltest.After(1)}),
		j.Conclude(journal.Outcome{Step: 3, X: []float64{3, 21}, Mean: 1.5, Variance: journaltest.NaN, StandardError: journaltest.NaN, Shots: 1, Valid: true, At: journaltest.After(2)}),
		j.Finish("set-best", []byte("{}"), journaltest.After(3)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	all := documents(t, path)
	required := map[string][]string{"start": {"time", "uid"}, "descriptor": {"data_keys", "run_start", "time", "uid"},
		"event": {"descriptor", "seq_num", "uid", "data", "timestamps", "time"}, "stop": {"exit_status", "run_start", "time", "uid"}}
	uids, seen := map[any]bool{}, map[string]int{}
	keys := map[any]map[string]any{}
	streams := map[any]string{}
	for i, d := range all {
		for _, name := range required[d.Name] {
			if d.Doc[name] == nil {
				t.Fatalf("document %d, a %s, has no %s", i, d.Name, name)
			}
		}
		if uid := d.Doc["uid"]; uids[uid] {
			t.Errorf("document %d has the uid of another", i)
		} else {
			uids[uid] = true
		}
		for name := range d.Doc { // of start and stop, which take any other member
			if strings.ContainsAny(name, "./") {
				t.Errorf("document %d has a member %q", i, name)
			}
		}
		switch d.Name {
		case "descriptor":
			data := d.Doc["data_keys"].(map[string]any)
			keys[d.Doc["uid"]], streams[d.Doc["uid"]] = data, d.Doc["name"].(string)
			for name, key := range data {
				k := key.(map[string]any)
				if k["source"] == "" || k["shape"] == nil || !strings.Contains("number integer string boolean", k["dtype"].(string)) {
					t.Errorf("key %s: %v", name, k)
				}
			}
		case "event":
			data, times := d.Doc["data"].(map[string]any), d.Doc["timestamps"].(map[string]any)
			for name := range keys[d.Doc["descriptor"]] {
				if _, ok := data[name]; !ok || times[name] == nil {
					t.Errorf("document %d has no %s", i, name)
				}
			}
			stream := streams[d.Doc["descriptor"]]
			if seen[stream]++; d.Doc["seq_num"] != float64(seen[stream]) || len(data) != len(keys[d.Doc["descriptor"]]) {
				t.Errorf("document %d of %s: seq_num %v, %d values", i, stream, d.Doc["seq_num"], len(data))
			}
		}
	}
	if all[0].Name != "start" || all[len(all)-1].Name != "stop" || all[len(all)-1].Doc["exit_status"] != "success" {
		t.Errorf("begins with %s, ends with %v", all[0].Name, all[len(all)-1])
	}
	if seen["primary"] != 2 || seen["verify"] != 1 || seen["shots"] != 8 {
		t.Errorf("events by stream: %v", seen)
	}
	if second := documents(t, twoSessions(t)); second[len(second)-1].Name == "stop" {
		t.Error("a run that goes on has a stop")
	}
}

// Values and times are those that were recorded; no data is null.
func TestBlueskyValues(t *testing.T) {
	path, _ := journaltest.Demo(t, journaltest.OpsPerStep)
	for _, d := range documents(t, path) {
		data, ok := d.Doc["data"].(map[string]any)
		if !ok || data["mean"] == nil {
			continue
		}
		o := journaltest.DemoOutcome(1, journaltest.After(0))
		if data["mean"] != o.Mean || data["x_current"] != o.X[0] || data["variance"] != nil || data["requested_temperature"] != nil {
			t.Errorf("got %v, of %+v", data, o)
		}
		want := float64(journaltest.After(6*1e9).Wall.UnixNano()) / 1e9 // the outcome is record 6, a second each
		if at := d.Doc["time"].(float64); math.Abs(at-want) > 1e-6 {
			t.Errorf("time %v, want %v", at, want)
		}
		return
	}
	t.Error("there is no step")
}
