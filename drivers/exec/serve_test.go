package exec

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// scripted is a device whose answers a test gives.
type scripted struct {
	heater
	err    error
	values map[string]float64
	block  chan struct{} // Read waits for it, or for its context,
	asked  chan struct{} // and says so before
	halts  int
	closed bool
}

func (s *scripted) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	if s.block != nil {
		close(s.asked)
		select {
		case <-s.block:
		case <-ctx.Done():
			return drivers.Reading{}, ctx.Err()
		}
	}
	if s.err != nil || s.values != nil {
		return drivers.Reading{Values: s.values, At: time.Now()}, s.err
	}
	return s.heater.Read(ctx, channels)
}

func (s *scripted) Halt(ctx context.Context) error {
	s.halts++
	return s.heater.Halt(ctx)
}

func (s *scripted) Close() error {
	s.closed = true
	return nil
}

// serveAll gives the answers to requests, after the hello.
func serveAll(t *testing.T, dev drivers.Device, requests string) (answers []string, err error) {
	t.Helper()
	// The input ends when all is answered: its end makes Serve give up a request.
	out := &answersOf{due: 1 + strings.Count(requests, "\n"), all: make(chan struct{})}
	in := io.MultiReader(strings.NewReader(requests), out)
	err = Serve(context.Background(), in, out, "heater", dev)
	out.finish()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if _, helloErr := parseHello([]byte(lines[0])); helloErr != nil {
		t.Fatalf("hello: %v", helloErr)
	}
	return lines[1:], err
}

// answersOf collects lines; as a reader it ends when as many as are due came.
type answersOf struct {
	bytes.Buffer
	due, came int
	all       chan struct{}
	once      sync.Once
}

func (a *answersOf) finish() { a.once.Do(func() { close(a.all) }) }

func (a *answersOf) Write(p []byte) (int, error) {
	if a.came++; a.came == a.due {
		defer a.finish()
	}
	return a.Buffer.Write(p)
}

func (a *answersOf) Read([]byte) (int, error) {
	<-a.all
	return 0, io.EOF
}

// age is what an answer says of the age of its values; a busy machine makes some.
var age = regexp.MustCompile(`,"age_ms":[0-9.e-]+`)

func TestServeAnswers(t *testing.T) {
	for request, want := range map[string]string{
		`{"id":7,"op":"read","channels":["temp","power"]}`: `{"id":7,"ok":true,"values":{"power":0,"temp":20}}`,
		`{"id":1,"op":"read","channels":["x"]}`:            `{"id":1,"ok":false,"error":{"code":"bad_request","message":"there is no channel \"x\"","retry":false}}`,
		`{"id":2,"op":"read","channels":"temp"}`:           `{"id":2,"ok":false,"error":{"code":"bad_request","message":"\"channels\" is \"temp\" and must be a list of text","retry":false}}`,
		`{"id":3,"op":"write","values":{"power":2}}`:       `{"id":3,"ok":true,"values":{"fan":0,"power":2}}`,
		`{"id":3,"op":"write","values":{"power":"2"}}`:     `{"id":3,"ok":false,"error":{"code":"bad_request","message":"the value of \"power\" is \"2\" and must be a number; leave it out where there is none","retry":false}}`,
		`{"id":4,"op":"safe","colour":"ignored"}`:          `{"id":4,"ok":true}`,
		`{"id":5,"op":"dance"}`:                            `{"id":5,"ok":false,"error":{"code":"unknown_op","message":"the operation \"dance\" is not known here","retry":false}}`,
		`{"id":6}`:                                         `{"id":6,"ok":false,"error":{"code":"unknown_op","message":"the operation missing or null is not known here","retry":false}}`,
	} {
		answers, err := serveAll(t, &scripted{}, request+"\n")
		if err != nil || len(answers) != 1 || age.ReplaceAllString(answers[0], "") != want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", request, answers, err, want)
		}
	}
}

func TestServeErrorCodes(t *testing.T) {
	long := errors.New(strings.Repeat("ä", 5000))
	for what, c := range map[string]struct {
		dev  *scripted
		want string
	}{
		"refused":     {&scripted{err: fmt.Errorf("x: %w", drivers.ErrRefused)}, `"code":"refused","message":"x: refused by the instrument","retry":false`},
		"unavailable": {&scripted{err: drivers.ErrUnavailable}, `"code":"unavailable","message":"instrument unavailable","retry":true`},
		"protocol":    {&scripted{err: drivers.ErrProtocol}, `"code":"fault"`},
		"no value":    {&scripted{err: fmt.Errorf("%w: %w", drivers.ErrRefused, drivers.ErrNoValue)}, `"code":"no_value"`},
		"a child's":   {&scripted{err: &RefusedError{Op: "read", Code: "homing", Retry: true}}, `"code":"homing"`},
		"timeout":     {&scripted{block: make(chan struct{}), asked: make(chan struct{})}, `"code":"timeout","message":"context deadline exceeded","retry":true`},
		"not finite":  {&scripted{values: map[string]float64{"temp": math.NaN()}}, `"code":"fault","message":"channel \"temp\" gave NaN`},
		"long":        {&scripted{err: long}, strings.Repeat("ä", maxMessage/2) + `..."`},
	} {
		answers, err := serveAll(t, c.dev, `{"id":1,"op":"read","channels":["temp"],"deadline_ms":50}`+"\n")
		if err != nil || len(answers) != 1 || !strings.Contains(answers[0], c.want) {
			t.Errorf("%s: got %s, %v; want %s", what, answers, err, c.want)
		}
	}
}

// Every way to the end must halt and close the device.
func TestServeEndsSafely(t *testing.T) {
	for what, c := range map[string]struct {
		in   string
		want string // what the error says; empty: none
	}{
		"end of input":   {"", ""},
		"not JSON":       {"hello\n", "not strict JSON"},
		"no id":          {`{"op":"read"}` + "\n", `no number "id"`},
		"too long":       {strings.Repeat("x", 1<<20), "line longer than 65536 bytes"},
		"cut line":       {`{"id":1,`, "unexpected EOF"},
		"requests first": {`{"id":1,"op":"write","values":{"power":5}}` + "\n", ""},
	} {
		dev := &scripted{}
		_, err := serveAll(t, dev, c.in)
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v; want %q", what, err, c.want)
		}
		if dev.halts != 1 || !dev.closed || dev.power != 0 {
			t.Errorf("%s: the device was halted %d times, closed: %v, power %v", what, dev.halts, dev.closed, dev.power)
		}
	}
}

// The end of the input, and the end of the context, must not wait for a slow
// device.
func TestServeEndsDuringARead(t *testing.T) {
	for what, end := range map[string]func(in io.Closer, cancel func()){
		"end of input": func(in io.Closer, _ func()) { in.Close() },
		"context":      func(_ io.Closer, cancel func()) { cancel() },
	} {
		dev := &scripted{block: make(chan struct{}), asked: make(chan struct{})}
		inRead, inWrite := io.Pipe()
		outRead, outWrite := io.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, inRead, outWrite, "heater", dev) }()
		out := bufio.NewScanner(outRead)
		out.Scan() // the hello
		if _, err := io.WriteString(inWrite, `{"id":1,"op":"read","channels":["temp"]}`+"\n"); err != nil {
			t.Fatal(err)
		}
		<-dev.asked
		end(inWrite, cancel)
		go func() {
			for out.Scan() { // the answer that the read was given up
			}
		}()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatalf("%s: Serve waits for the device", what)
		}
		if dev.halts != 1 || !dev.closed {
			t.Errorf("%s: the device was halted %d times, closed: %v", what, dev.halts, dev.closed)
		}
		cancel()
		inWrite.Close()
		outRead.Close()
	}
}

// sensorOnly is a device that cannot be set.
type sensorOnly struct{ dev drivers.Device }

func (s sensorOnly) Open(ctx context.Context) ([]drivers.Channel, error) {
	channels, err := s.dev.Open(ctx)
	return channels[1:2], err
}
func (s sensorOnly) Read(ctx context.Context, c []string) (drivers.Reading, error) {
	return s.dev.Read(ctx, c)
}
func (s sensorOnly) Close() error { return s.dev.Close() }

func TestServeASensor(t *testing.T) {
	answers, err := serveAll(t, sensorOnly{&heater{}}, `{"id":1,"op":"write","values":{"temp":2}}`+"\n"+`{"id":2,"op":"safe"}`+"\n")
	if err != nil || len(answers) != 2 || !strings.Contains(answers[0], `"code":"refused"`) || answers[1] != `{"id":2,"ok":true}` {
		t.Errorf("got %s, %v", answers, err)
	}
}

// TestServeTellsAges: a device's old value stays old on the other side.
func TestServeTellsAges(t *testing.T) {
	before := time.Now()
	answers, err := serveAll(t, &aged{}, `{"id":1,"op":"read","channels":["temp"]}`+"\n")
	if err != nil || len(answers) != 1 {
		t.Fatal(answers, err)
	}
	a, err := parseAnswer([]byte(answers[0]), 1)
	if err != nil {
		t.Fatal(err)
	}
	// Answering made it older than it was.
	if took := time.Since(before); a.age < time.Minute || a.age > time.Minute+took {
		t.Errorf("the age is %v, want 1m0s and at most the %v that answering took: %s", a.age, took, answers[0])
	}
}

// aged measured a minute ago.
type aged struct{ heater }

func (a *aged) Read(ctx context.Context, channels []string) (drivers.Reading, error) {
	r, err := a.heater.Read(ctx, channels)
	r.At = r.At.Add(-time.Minute)
	return r, err
}
