package show

import (
	"bytes"
	"testing"
	"time"
)

func TestJSONLog(t *testing.T) {
	var b bytes.Buffer
	j := NewJSONLog(&b, func() time.Time { return time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC) })
	for _, text := range []string{"tuner: error: a \"b\" <c>\ntuner: hint: d\n", "tuner: warn", "ing: e\n\n", "no prefix\n"} {
		if n, err := j.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	j.At("r-1", 7)
	if _, err := j.Write([]byte("tuner: f\n")); err != nil {
		t.Error(err)
	}
	want := `{"time":"2026-03-01T21:04:05Z","level":"error","msg":"a \"b\" <c>","run":"","step":0}
{"time":"2026-03-01T21:04:05Z","level":"hint","msg":"d","run":"","step":0}
{"time":"2026-03-01T21:04:05Z","level":"warn","msg":"e","run":"","step":0}
{"time":"2026-03-01T21:04:05Z","level":"info","msg":"no prefix","run":"","step":0}
{"time":"2026-03-01T21:04:05Z","level":"info","msg":"f","run":"r-1","step":7}
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
