package wizard

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/examine"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/web/webtest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// oven is an instrument with a knob, one that says little, and two readings.
func oven() []examine.Instrumented {
	channel := func(name, unit string, access drivers.Access, low, high float64) drivers.DiscoveredChannel {
		var c drivers.DiscoveredChannel
		c.Name, c.Unit, c.Access, c.Min, c.Max, c.Safe, c.Known = name, unit, access, low, high, low, true
		return c
	}
	nan := math.NaN()
	return []examine.Instrumented{{Driver: "exec", Discovered: drivers.Discovered{Name: "oven", Says: "an <oven>", Channels: []drivers.DiscoveredChannel{
		channel("power", "W", drivers.ReadWrite, 0, 10), channel("fan", "1", drivers.ReadWrite, nan, nan), channel("yield", "g", drivers.ReadOnly, -50, 50), channel("heat", "degC", drivers.ReadOnly, 0, 300)}}}}
}

// serve shows a wizard and gives its address.
func serve(t *testing.T, w Wizard) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Serve(ctx, l) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String() + "/"
}

// get is what a page has, and its status.
func get(t *testing.T, method, address string) (int, string) {
	t.Helper()
	q, err := http.NewRequest(method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Connection", "close")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// The page shows what answered and the file that init would write for what is chosen; what is open or
// what check refuses is said in place; there is nothing that it takes but questions.
func TestWizard(t *testing.T) {
	var checked []string
	base := serve(t, Wizard{Found: oven(), Purpose: examine.Purpose{Name: "first", Steps: 30}, Check: func(name, text string) error {
		checked = append(checked, name+"\n"+text)
		if strings.Contains(text, "fan") {
			return errors.New("first.toml:20: variable.fan.range: CHANGE it")
		}
		return nil
	}})
	if _, text := get(t, "GET", base); !strings.Contains(text, "an &lt;oven&gt;") || !strings.Contains(text, "choose the channel that counts") || strings.Contains(text, "<textarea") || len(checked) > 0 {
		t.Errorf("before anything is chosen: %s", text)
	}
	ask := func(values url.Values) string {
		t.Helper()
		status, text := get(t, "GET", base+"?"+values.Encode())
		if status != http.StatusOK {
			t.Errorf("%v: status %d", values, status)
		}
		return text
	}
	choice := url.Values{"name": {"my oven"}, "steps": {"40"}, "objective": {"oven.yield"}, "goal": {"minimize"}, "knob": {"oven.power"}}
	text := ask(choice)
	want, err := examine.FirstFile(oven(), examine.Purpose{Name: "my oven", Steps: 40, Objective: "oven.yield", Minimize: true, Knobs: []string{"oven.power"}})
	if err != nil || len(checked) != 1 || checked[0] != "my oven.toml\n"+want || !strings.Contains(text, "tuner check accepts it") || !strings.Contains(text, "goal = &#34;minimize&#34;") {
		t.Errorf("%v, checked %q\n%s", err, checked, text)
	}
	for trouble, change := range map[string]url.Values{
		"variable.fan.range: CHANGE it":        {"knob": {"oven.power", "oven.fan"}},
		"choose at least one channel":          {"knob": nil},
		"is no number of steps":                {"steps": {"many"}},
		"give the run a name":                  {"name": {" "}},
		"it can only be read":                  {"knob": {"oven.heat"}},
		"there is no such channel; what answe": {"objective": {"gone"}},
	} {
		q := url.Values{}
		for k, v := range choice {
			q[k] = v
		}
		for k, v := range change {
			q[k] = v
		}
		if text := ask(q); !strings.Contains(text, trouble) || strings.Contains(text, "check accepts it") {
			t.Errorf("want %q in %s", trouble, text)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		if status, _ := get(t, method, base); status != http.StatusUnauthorized {
			t.Errorf("%s: status %d", method, status)
		}
	}
}

// In a browser: whole on every screen, without a word from axe-core.
func TestWizardInABrowser(t *testing.T) {
	browser := webtest.Browser(t)
	if browser == nil {
		return
	}
	base := serve(t, Wizard{Found: oven(), Purpose: examine.Purpose{Name: "first", Steps: 30, Knobs: []string{"oven.power"}}, Check: func(string, string) error { return nil }})
	for i, s := range webtest.Screens() {
		if i != 3 && !testsize.Whole() {
			continue
		}
		b := webtest.Open(t, browser, base+"?name=first&steps=30&objective=oven.yield&goal=maximize&knob=oven.power", s, "#text")
		if text := webtest.Ask[string](t, b, `document.getElementById("text").value`); !strings.Contains(text, `objective = { sensor = "yield" }`) {
			t.Errorf("the file is %s", text)
		}
		webtest.Ask[int](t, b, `document.getElementById("copy").click(), 0`)
		b.Fits(t)
		b.Accessible(t)
		b.Shoot(t, "wizard-"+s.Name)
	}
}
