package thiscomputer

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
)

type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// steps is a clock that moves by a fixed time with every look at it.
type steps struct {
	now  time.Time
	step time.Duration
}

func (s *steps) Now() time.Time {
	s.now = s.now.Add(s.step)
	return s.now
}

func open(t *testing.T, clock drivers.Clock) *Device {
	t.Helper()
	d, ok := New(drivers.Env{Clock: clock}).(*Device)
	if !ok {
		t.Fatal("New gives another device")
	}
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func write(t *testing.T, d *Device, values map[string]float64) drivers.Reading {
	t.Helper()
	r, err := d.Write(context.Background(), drivers.Setpoints{Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConforms(t *testing.T) {
	driverstest.Conform(t, func() drivers.Device { return New(drivers.Env{Clock: wall{}}) })
}

// wantCorpus is the checksum of the first MiB.
const wantCorpus = 0xdbac1f6a

// The text must be the same on every machine, or their results cannot be
// compared. The sum is that of the first run.
func TestCorpusIsTheSameEverywhere(t *testing.T) {
	text := corpus(1 << 20)
	if got := crc32.ChecksumIEEE(text); got != wantCorpus {
		t.Errorf("the text's checksum is %#x", got)
	}
	if !bytes.HasPrefix(corpus(1<<21), text[:1<<20-4096]) {
		t.Error("a longer text does not begin as a shorter one")
	}
}

// The ratio must be that of the standard library on the same blocks, one after
// another, whatever the number of workers; and the blocks must unpack to the
// input.
func TestRatioIsThatOfTheBlocks(t *testing.T) {
	for _, workers := range []float64{1, 3, 8} {
		d := open(t, wall{})
		write(t, d, map[string]float64{"level": 4, "block": 100, "workers": workers})
		r, err := d.Read(context.Background(), []string{"ratio"})
		if err != nil {
			t.Fatal(err)
		}
		input := corpus(corpusSize)[:jobSize] // the first job's
		size := 0
		for from := 0; from < jobSize; from += 100 << 10 {
			block := input[from:min(from+100<<10, jobSize)]
			var packed bytes.Buffer
			w, err := flate.NewWriter(&packed, 4)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(block); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			size += packed.Len()
			if unpacked, err := io.ReadAll(flate.NewReader(&packed)); err != nil || !bytes.Equal(unpacked, block) {
				t.Fatalf("the block at %d does not unpack: %v", from, err)
			}
		}
		if want := jobSize / float64(size); r.Values["ratio"] != want {
			t.Errorf("%v workers: ratio %v; the blocks give %v", workers, r.Values["ratio"], want)
		}
	}
}

func TestThroughputIsInputOverTime(t *testing.T) {
	d := open(t, &steps{now: time.Unix(0, 0), step: 20 * time.Millisecond})
	r, err := d.Read(context.Background(), []string{"throughput", "level"})
	if err != nil {
		t.Fatal(err)
	}
	// 1572864 bytes in one step of the clock; one rounding.
	if want := 1.572864 / 0.02; math.Abs(r.Values["throughput"]-want) > 1e-12*want || len(r.Values) != 2 {
		t.Errorf("got %v; want a throughput of %v MB/s, and the level", r.Values, want)
	}
	still := open(t, &steps{})
	if _, err := still.Read(context.Background(), []string{"throughput"}); err == nil || !strings.Contains(err.Error(), "stands still") {
		t.Errorf("a clock that stands still: %v", err)
	}
}

func TestKnobsRunNothing(t *testing.T) {
	d := open(t, wall{})
	if r, err := d.Read(context.Background(), []string{"level", "block", "workers"}); err != nil || len(r.Values) != 3 {
		t.Fatalf("%v, %v", r.Values, err)
	}
	if d.compressor.jobs != 0 {
		t.Error("reading the knobs ran a job")
	}
	if _, err := d.Read(context.Background(), []string{"ratio", "throughput"}); err != nil {
		t.Fatal(err)
	}
	if d.compressor.jobs != 1 {
		t.Errorf("one reading ran %d jobs", d.compressor.jobs)
	}
}

func TestKnobsAreWhole(t *testing.T) {
	d := open(t, wall{})
	r := write(t, d, map[string]float64{"level": 3.4, "block": 99.5})
	if r.Values["level"] != 3 || r.Values["block"] != 100 || len(r.Values) != 2 {
		t.Errorf("readback %v", r.Values)
	}
	if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"level": 9, "workers": 9}}); !errors.Is(err, drivers.ErrRefused) {
		t.Errorf("9 workers: %v", err)
	}
	if r, err := d.Read(context.Background(), []string{"level", "workers"}); err != nil || r.Values["level"] != 3 || r.Values["workers"] != 1 {
		t.Errorf("a refused write changed the knobs to %v (%v)", r.Values, err)
	}
	if err := d.Halt(context.Background()); err != nil || d.knobs != safeSetting {
		t.Errorf("Halt: %+v, %v", d.knobs, err)
	}
}

func TestJobEndsWithItsContext(t *testing.T) {
	d := open(t, wall{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := d.compressor.prepare(d.knobs); err != nil {
		t.Fatal(err)
	}
	if _, err := d.compressor.run(ctx, d.knobs); !errors.Is(err, context.Canceled) {
		t.Errorf("a job under a cancelled context: %v", err)
	}
}

// BenchmarkJob is the instrument's range: go test -bench Job ./drivers/exec/thiscomputer
func BenchmarkJob(b *testing.B) {
	for name, s := range map[string]setting{
		"level=1,block=4,workers=1":    {1, 4, 1},
		"level=1,block=256,workers=2":  {1, 256, 2},
		"level=6,block=64,workers=1":   {6, 64, 1},
		"level=9,block=1024,workers=1": {9, 1024, 1},
	} {
		b.Run(name, func(b *testing.B) {
			c := compressor{text: corpus(corpusSize)}
			if err := c.prepare(s); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(jobSize)
			for b.Loop() {
				if _, err := c.run(context.Background(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
