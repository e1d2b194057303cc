package trace

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/labtuner/tuner/safety"
)

// TestWordsHoldEverything: whatever is in the inputs, the proposal and the output of a
// driven variable or a watched link comes back from the words, field by field: one that
// is added to the layer and not to the tape fails here.
func TestWordsHoldEverything(t *testing.T) {
	l := safety.Limits{Comms: time.Second}
	for range safety.MaxVariables {
		l.Variables = append(l.Variables, safety.VariableLimits{OnFault: safety.RestHold})
	}
	for range safety.MaxLinks {
		l.Links = append(l.Links, safety.LinkLimits{Watched: true})
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var v Tick
	v.Now = time.Duration(rng.Int64())
	for _, part := range []any{&v.In, &v.P, &v.Out} {
		fill(reflect.ValueOf(part).Elem(), rng)
	}
	v.In.Command, v.Out.Mode = 3, 5
	for i := range v.In.Variable {
		v.In.Variable[i].Dose = safety.DoseOutcome(rng.IntN(3))
	}
	w := layout{}
	want := v // the walk writes back what it reads
	w.tick(&l, &v)
	var got Tick
	back := layout{list: w.list, reading: true}
	back.tick(&l, &got)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("came back as\n%+v\nwant\n%+v", got, want)
	}
}

// fill sets every field there is.
func fill(v reflect.Value, rng *rand.Rand) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), rng)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), rng)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(rng.NormFloat64())
	case reflect.Int64:
		v.SetInt(rng.Int64())
	case reflect.Uint64:
		v.SetUint(rng.Uint64())
	case reflect.Uint32:
		v.SetUint(uint64(rng.Uint32()))
	case reflect.Uint8:
		v.SetUint(1)
	default:
		panic("fill: " + v.Kind().String())
	}
}

// TestTapeCode: any words come back, whatever they were before, and any bytes are either
// read or refused.
func TestTapeCode(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		a, b := rng.Uint64()>>rng.IntN(64), rng.Uint64()<<rng.IntN(64)
		if rng.IntN(3) == 0 {
			b = a + uint64(rng.IntN(1000))*Unit
		}
		buf := appendBits(appendTime(nil, b, a), a, b)
		in := decoder{b: buf}
		if gotTime, gotBits := in.time(a), in.bits(b); gotTime != b || gotBits != a || in.err != nil || len(in.b) != 0 {
			t.Fatalf("%x and %x came back as %x and %x, %v", b, a, gotTime, gotBits, in.err)
		}
		bad := decoder{b: buf[:rng.IntN(len(buf))]}
		bad.time(a)
		bad.bits(b)
		if bad.err == nil {
			t.Fatalf("%x was read", bad.b)
		}
	}
}

// BenchmarkTape is what the record of one tick costs, of four driven variables and as many
// sensors that say something else each time, packed once a minute.
func BenchmarkTape(b *testing.B) {
	l := safety.Limits{Comms: time.Second}
	for range 4 {
		l.Variables = append(l.Variables, safety.VariableLimits{OnFault: safety.RestHold})
		l.Sensors = append(l.Sensors, safety.SensorLimits{Watched: true})
		l.Links = append(l.Links, safety.LinkLimits{Watched: true})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	tape := NewRecorder(&l)
	var v Tick
	b.ReportAllocs()
	for b.Loop() {
		v.Now += 100 * time.Millisecond
		for i := range 4 {
			now := safety.Sample{Value: rng.Float64(), At: v.Now, Known: true}
			v.In.Variable[i].Readback, v.In.Heard[i] = now, now
			tape.Heard(Reading{Sensor: i, Sample: now, Verdict: safety.Valid})
		}
		if tape.Tick(&v) {
			if _, _, err := tape.Cut(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
