package export

import (
	"io"
	"testing"

	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// BenchmarkExport writes the steps of a run of 1,000 and checks all of it.
func BenchmarkExport(b *testing.B) {
	path, j := journaltest.Demo(b, 1000*journaltest.OpsPerStep)
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := Write(io.Discard, journaltest.MustRead(b, path), CSV); err != nil {
			b.Fatal(err)
		}
	}
	census, err := journaltest.MustRead(b, path).Census()
	if err != nil {
		b.Fatal(err)
	}
	rows := int64(0)
	for _, n := range census {
		rows += n
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
