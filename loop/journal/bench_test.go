package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// Measured with `go test ./loop/journal -run '^$' -bench .` on two shared cores (AMD
// EPYC) and a virtual disk with ext4, Go 1.26.8, while other programs ran:
//
//	BenchmarkSync                0.31 ms   fsync of one page appended to a file
//	BenchmarkLog                 0.18 ms   one record of one row, durable
//	BenchmarkShoot/shots=1       0.24 ms    25,000 rows/s
//	BenchmarkShoot/shots=100     2.9 ms    208,000 rows/s
//	BenchmarkStep                2.2 ms     18,000 rows/s, 37 B/row
//	BenchmarkOpen                283 ms    700,000 rows/s
//	BenchmarkExport              336 ms    590,000 rows/s
//	BenchmarkShots/one_by_one    1030 ms   of 2,000 steps
//	BenchmarkShots/ahead         13 ms
//
// A record costs less than the append because the log, once grown, is written over.
// On an SD card the fsync alone takes milliseconds to hundreds of them.

// BenchmarkSync is what the disk itself takes to make one page durable: the floor
// under every record.
func BenchmarkSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	for b.Loop() {
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLog is the smallest record: one row, one transaction, one fsync.
func BenchmarkLog(b *testing.B) {
	_, j := journaltest.Demo(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		if err := j.Log(Event{Level: "info", Kind: "test", Message: "a line of the run's story"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkShoot records n shots of two variables and three sensors in one
// transaction: six rows per shot.
func BenchmarkShoot(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("shots=%d", n), func(b *testing.B) {
			_, j := journaltest.Demo(b, 1)
			shots := make([]Shot, n)
			index := 0
			b.ReportAllocs()
			for b.Loop() {
				for i := range shots {
					shots[i] = Shot{Step: 1, Index: index, Objective: float64(index) / 7, X: []float64{1.5, 2.5}, Sensors: []float64{1, 2, journaltest.NaN}}
					index++
				}
				if err := j.Shoot(shots); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(6*index)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkStep records whole steps of the demo script: eight transactions, 40
// rows on average.
func BenchmarkStep(b *testing.B) {
	path, j := journaltest.Demo(b, 0)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		journaltest.PerformFrom(b, j, i, i+journaltest.OpsPerStep)
		i += journaltest.OpsPerStep
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	rows := countRows(b, path)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(info.Size())/float64(rows), "B/row")
}

// countRows counts the rows of all tables.
func countRows(b *testing.B, path string) (n int64) {
	r := journaltest.MustRead(b, path)
	census, err := r.Census()
	if err != nil {
		b.Fatal(err)
	}
	for _, rows := range census {
		n += rows
	}
	return n
}

// BenchmarkOpen opens a journal of many steps, which reads and checks all of it.
func BenchmarkOpen(b *testing.B) {
	path := longDemo(b)
	for b.Loop() {
		j, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(countRows(b, path))*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// longDemo makes a closed journal of 5,000 steps without waiting for the disk.
func longDemo(b *testing.B) string {
	b.Helper()
	path, j := journaltest.Demo(b, 0)
	if err := j.Exec("PRAGMA synchronous = off"); err != nil {
		b.Fatal(err)
	}
	journaltest.PerformFrom(b, j, 0, 5000*journaltest.OpsPerStep)
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkShots goes through the shots of every step of a run of 2,000 steps, one by one
// and ahead.
func BenchmarkShots(b *testing.B) {
	path, j := journaltest.Demo(b, 2000)
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	r, err := OpenReader(path)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for _, way := range []struct {
		name string
		of   func() func(int) ([]Shot, error)
	}{{"one by one", func() func(int) ([]Shot, error) { return r.Shots }}, {"ahead", r.ShotsAhead}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				shots := way.of()
				for step := 1; step <= 2000; step++ {
					if _, err := shots(step); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
