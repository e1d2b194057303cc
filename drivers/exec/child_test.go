package exec

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	osexec "os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/scripts/testsize"
)

// childVariable, in the environment of the test's own binary, makes it a child
// that behaves as the variable says.
const childVariable = "TUNER_TEST_CHILD"

// gateVariable names the file that the behaviour "gated" waits for. With gateAsked
// behind its name it is what the child makes when it has a request.
const (
	gateVariable = "TUNER_TEST_GATE"
	gateAsked    = ".asked"
)

func TestMain(m *testing.M) {
	if behaviour := os.Getenv(childVariable); behaviour != "" {
		os.Exit(beChild(behaviour))
	}
	testsize.Waiting()
	os.Exit(m.Run())
}

// heaterHello is the hello of the children of this file.
const heaterHello = `{"protocol":"tuner-exec/1","name":"heater","colour":"ignored","channels":[` +
	`{"name":"power","unit":"W","access":"rw","min":0,"max":10,"safe":0},` +
	`{"name":"temp","unit":"degC","access":"r"},` +
	`{"name":"fan","unit":"1","access":"rw","min":0,"max":1,"safe":0,"release":false}]}`

// asked is a request as a child sees it.
type asked struct {
	ID       int      `json:"id"`
	Op       string   `json:"op"`
	Channels []string `json:"channels"`
}

func (a asked) channels() string { return strings.Join(a.Channels, " ") }

// hellos are what faulty children say first, in place of heaterHello.
var hellos = map[string]string{
	"hello: text":          "Heater firmware 1.2 ready",
	"hello: protocol":      `{"protocol":"tuner-exec/2","name":"x","channels":[{"name":"a","unit":"V","access":"r"}]}`,
	"hello: no protocol":   `{"name":"x","channels":[{"name":"a","unit":"V","access":"r"}]}`,
	"hello: no channels":   `{"protocol":"tuner-exec/1","name":"x","channels":[]}`,
	"hello: NaN":           `{"protocol":"tuner-exec/1","name":"x","channels":[{"name":"a","unit":"V","access":"rw","min":NaN}]}`,
	"hello: same name":     `{"protocol":"tuner-exec/1","name":"x","channels":[{"name":"a","unit":"V","access":"r"},{"name":"a","unit":"W","access":"r"}]}`,
	"hello: access":        `{"protocol":"tuner-exec/1","name":"x","channels":[{"name":"a","unit":"V","access":"w"}]}`,
	"hello: no unit":       `{"protocol":"tuner-exec/1","name":"x","channels":[{"name":"a","access":"r"}]}`,
	"hello: upside down":   `{"protocol":"tuner-exec/1","name":"x","channels":[{"name":"a","unit":"V","access":"rw","min":5,"max":1}]}`,
	"hello: unsafe":        `{"protocol":"tuner-exec/1","name":"x","channels":[{"name":"a","unit":"V","access":"rw","min":0,"max":1,"safe":2}]}`,
	"hello: text as limit": `{"protocol":"tuner-exec/1","name":"x","channels":[{"name":"a","unit":"V","access":"rw","min":"0"}]}`,
	"hello: 1 MB":          strings.Repeat("x", 1<<20),
}

// faults are what faulty children answer to the first read or write; %d is the
// request's id. What they do beside stands in misbehave.
var faults = map[string]string{
	"wrong id":        `{"id":99,"ok":true,"values":{"temp":20}}`,
	"old id":          `{"id":1,"ok":true,"values":{"temp":20}}`,
	"no id":           `{"ok":true}`,
	"text as id":      `{"id":"%d","ok":true}`,
	"text":            `temperature is 20`,
	"empty line":      ``,
	"array":           `[1,2]`,
	"no ok":           `{"id":%d,"values":{"temp":20}}`,
	"NaN":             `{"id":%d,"ok":true,"values":{"temp":NaN}}`,
	"Infinity":        `{"id":%d,"ok":true,"values":{"temp":-Infinity}}`,
	"1e400":           `{"id":%d,"ok":true,"values":{"temp":1e400}}`,
	"null":            `{"id":%d,"ok":true,"values":{"temp":null}}`,
	"text value":      `{"id":%d,"ok":true,"values":{"temp":"20"}}`,
	"list of values":  `{"id":%d,"ok":true,"values":[20]}`,
	"same key":        `{"id":%d,"ok":true,"values":{"temp":20,"temp":21}}`,
	"unknown channel": `{"id":%d,"ok":true,"values":{"tmep":20}}`,
	"bad refusal":     `{"id":%d,"ok":false}`,
	"1 MB":            `{"id":%d,"ok":true,"values":{"temp":20},"pad":"` + strings.Repeat("x", 1<<20) + `"}`,
}

// beChild plays a child and gives its exit status.
func beChild(behaviour string) int {
	if text, is := strings.CutPrefix(behaviour, campaignChild); is {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			panic(err)
		}
		return beCampaignChild(seed)
	}
	if behaviour == "good" {
		// os.Stdin and os.Stdout are the pipes to the host.
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := Serve(ctx, os.Stdin, os.Stdout, "heater", &heater{}); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "E!", err)
			return 1
		}
		return 0
	}
	switch hello, faulty := hellos[behaviour]; {
	case faulty:
		fmt.Println(hello)
		wait()
		return 0
	case behaviour == "mute":
		wait()
		return 0
	case behaviour == "dies at start":
		fmt.Fprintln(os.Stderr, "Traceback (most recent call last):")
		fmt.Fprintln(os.Stderr, "ModuleNotFoundError: No module named 'smbus'")
		return 1
	case behaviour == "grandchild":
		sleeper := osexec.Command("sleep", "1000")
		if err := sleeper.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "D! grandchild", sleeper.Process.Pid)
	}
	fmt.Println(heaterHello)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r asked
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			if behaviour == "deaf to lines" {
				time.Sleep(time.Hour)
			}
			panic(err)
		}
		if status := misbehave(behaviour, r); status >= 0 {
			return status
		}
	}
	if behaviour == "grandchild" || behaviour == "deaf" || behaviour == "deaf to EOF" {
		time.Sleep(time.Hour) // does not mind the end of its input
	}
	return 0
}

// wait reads until the end of the input.
func wait() { _, _ = io.Copy(io.Discard, os.Stdin) }

// misbehave answers one request; -1 means to go on.
func misbehave(behaviour string, r asked) int {
	known := r.Op == opRead || r.Op == opWrite || r.Op == opSafe
	fault, faulty := faults[behaviour]
	switch {
	case !known && behaviour == "accepts all":
		fmt.Printf(`{"id":%d,"ok":true}`+"\n", r.ID)
	case !known && behaviour == "other code":
		fmt.Printf(`{"id":%d,"ok":false,"error":{"code":"what"}}`+"\n", r.ID)
	case !known:
		fmt.Printf(`{"id":%d,"ok":false,"error":{"code":"unknown_op","message":"no"}}`+"\n", r.ID)
		if behaviour == "unasked" {
			fmt.Printf(`{"id":%d,"ok":true,"values":{"temp":20}}`+"\n", r.ID+7)
		}
	case faulty:
		fmt.Println(strings.ReplaceAll(fault, "%d", fmt.Sprint(r.ID)))
	case behaviour == "hangs" || behaviour == "deaf":
	case behaviour == "dies":
		fmt.Fprintln(os.Stderr, "E! the sensor is unplugged")
		return 3
	case behaviour == "half a line":
		fmt.Printf(`{"id":%d,"ok":tr`, r.ID)
		return 0
	case behaviour == "closes its output":
		os.Stdout.Close()
	case behaviour == "twice":
		fmt.Printf(`{"id":%d,"ok":true}`+"\n"+`{"id":%d,"ok":true}`+"\n", r.ID, r.ID)
	case behaviour == "refuses":
		fmt.Printf(`{"id":%d,"ok":false,"error":{"code":"busy","message":"still \"homing\"","retry":true}}`+"\n", r.ID)
	case behaviour == "read-only" && strings.Contains(r.channels(), noSuchChannel):
		fmt.Printf(`{"id":%d,"ok":false,"error":{"code":"unknown_channel","message":"no"}}`+"\n", r.ID)
	case behaviour == "nothing new":
		fmt.Printf(`{"id":%d,"ok":true}`+"\n", r.ID)
	case behaviour == "gated":
		if err := os.WriteFile(os.Getenv(gateVariable)+gateAsked, nil, 0o600); err != nil {
			panic(err)
		}
		for { // until the test makes the file
			if _, err := os.Stat(os.Getenv(gateVariable)); err == nil {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		fmt.Printf(`{"id":%d,"ok":true,"values":{"temp":%d}}`+"\n", r.ID, r.ID)
	default:
		fmt.Printf(`{"id":%d,"ok":true,"values":{"temp":20,"power":%d}}`+"\n", r.ID, r.ID)
	}
	return -1
}

// heater is the device behind a good child.
type heater struct {
	power, fan float64
	released   bool
}

func (h *heater) Open(context.Context) ([]drivers.Channel, error) {
	nan := math.NaN()
	return []drivers.Channel{
		{Name: "power", Unit: "W", Access: drivers.ReadWrite, Min: 0, Max: 10, Safe: 0, CanRelease: true},
		{Name: "temp", Unit: "degC", Min: nan, Max: nan, Safe: nan},
		{Name: "fan", Unit: "1", Access: drivers.ReadWrite, Min: 0, Max: 1, Safe: 0},
	}, nil
}

func (h *heater) Read(_ context.Context, channels []string) (drivers.Reading, error) {
	all := map[string]float64{"power": h.power, "temp": 20 + 3*h.power, "fan": h.fan}
	r := drivers.Reading{Values: map[string]float64{}, At: time.Now()}
	for _, name := range channels {
		v, there := all[name]
		if !there {
			return drivers.Reading{}, fmt.Errorf("there is no channel %q", name)
		}
		r.Values[name] = v
	}
	return r, nil
}

func (h *heater) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	for name, v := range s.Values {
		switch name {
		case "power":
			h.power, h.released = v, false
		case "fan":
			h.fan = v
		}
	}
	if len(s.Release) > 0 {
		h.released = true
	}
	return drivers.Reading{Values: map[string]float64{"power": h.power, "fan": h.fan}, At: time.Now()}, nil
}

func (h *heater) Halt(context.Context) error {
	h.power, h.fan = 0, 0
	return nil
}

func (h *heater) Close() error { return nil }
