package web

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// The lines of a document, put together, are the document.
func TestLinesAreTheDocument(t *testing.T) {
	t.Parallel()
	d := labDocument(t, 2*lineSteps+3)
	text, err := d.lines()
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(text, []byte("\n"))
	if len(lines) != 4 {
		t.Fatalf("%d lines, want the head and 3 of steps", len(lines))
	}
	var whole, got map[string]any
	if text, err = json.Marshal(d); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(lines[0], &got); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		var steps []any
		if err := json.Unmarshal(line, &steps); err != nil {
			t.Fatal(err)
		}
		got["steps"] = append(got["steps"].([]any), steps...)
	}
	if !reflect.DeepEqual(got, whole) {
		t.Error("what the lines say is another document")
	}
}
