package web

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/web/webtest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// Every state that people may meet is shown whole, with the stop in sight, without a word
// from axe-core. Those that differ most are tried on one of the screens each, in the whole all
// on all of them.
func TestGallery(t *testing.T) {
	t.Parallel()
	browser := webtest.Browser(t)
	if browser == nil {
		return
	}
	screens := webtest.Screens()
	for i, c := range scenes(t) {
		tried := screens[i%len(screens) : i%len(screens)+1]
		if testsize.Whole() {
			tried = screens
		} else if c.rarely {
			continue
		}
		for _, screen := range tried {
			t.Run(c.name+"-"+screen.Name, func(t *testing.T) {
				t.Parallel()
				s := newScripted(t)
				d := *c.doc
				d.Status = &c.now
				text, err := json.Marshal(&d)
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					<-s.asked
					s.answer <- text
				}()
				b := webtest.Open(t, browser, s.URL, screen)
				awaitText(t, b, d.Run.Name)
				b.Unfold(t)
				if c.lost {
					s.CloseClientConnections()
					s.Listener.Close()
				}
				awaitText(t, b, c.says...)
				if !c.lost {
					b.Quiet(t, s.URL)
					messagesMoveNothing(t, b, s, c.now)
				}
				webtest.Ask[int](t, b, `document.querySelectorAll("figure details")[0].open = true, 0`)
				b.Fits(t)
				b.Accessible(t)
				stopInSight(t, b)
				b.Shoot(t, c.name+"-"+screen.Name)
			})
		}
	}
}

// awaitText waits until all the words stand on the page.
func awaitText(t *testing.T, b *webtest.Tab, words ...string) {
	t.Helper()
	text := ""
	for range 600 {
		text = webtest.Ask[string](t, b, `document.body.innerText`)
		all := webtest.Ask[bool](t, b, `!document.querySelector("[aria-busy]")`)
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%q is not in\n%s", words, text)
}

// messagesMoveNothing demands that no control of the page moves or changes its size when trouble is
// told, when a command is refused at length, and when the state has a long name.
func messagesMoveNothing(t *testing.T, b *webtest.Tab, s *scripted, now control.Status) {
	t.Helper()
	before := ""
	for range 100 { // until what is in sight is drawn
		now := b.Controls(t)
		if now == before {
			break
		}
		before = now
		time.Sleep(200 * time.Millisecond)
	}
	stays := func(when string) {
		t.Helper()
		if after := b.Controls(t); after != before {
			was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
			for i := range was {
				if i < len(is) && was[i] != is[i] {
					t.Errorf("%s: %s, was %s", when, is[i], was[i])
					return
				}
			}
			t.Errorf("%s: %d controls, were %d", when, len(is), len(was))
		}
	}
	trouble := now
	trouble.Devices = []control.DeviceStatus{{Name: "bench", Out: true, OutFor: 12, Held: true, Failures: 3, Retries: 3, Window: 30, Trouble: strings.Repeat("no answer within 2s, ", 9)}}
	trouble.Disk = control.DiskStatus{Held: true, Problem: "no space left on device", Due: 4}
	s.say(t, "status", trouble)
	awaitText(t, b, "Device bench fails")
	stays("trouble is told")
	if webtest.Ask[bool](t, b, `document.getElementById("button-pause").disabled`) {
		webtest.Ask[int](t, b, `document.getElementById("button-pause").disabled = false, 0`)
	}
	webtest.Ask[int](t, b, `document.getElementById("button-pause").click(), 0`)
	awaitText(t, b, "pause refused: the interlock of the door is open")
	stays("a command is refused")
	s.say(t, "status", now)
	for range 600 {
		if !strings.Contains(webtest.Ask[string](t, b, `document.body.innerText`), "Device bench fails") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	stays("the trouble is over")
}

// stopInSight demands that the stop lies whole in the window wherever the page is scrolled
// to, that nothing lies over it, and that no text of a table or figure is cut off.
func stopInSight(t *testing.T, b *webtest.Tab) {
	t.Helper()
	seen := webtest.Ask[string](t, b, `(() => {
		const out = [];
		for (const part of [0, 0.5, 1]) {
			scrollTo(0, part * document.documentElement.scrollHeight);
			const s = document.getElementById("button-stop"), r = s.getBoundingClientRect();
			if (r.top < 0 || r.left < 0 || r.bottom > innerHeight || r.right > innerWidth) out.push("out of the window at " + part);
			else if (document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2) !== s) out.push("covered at " + part);
		}
		scrollTo(0, 0);
		const bar = document.querySelector("header.bar").getBoundingClientRect();
		if (bar.height > innerHeight / 2) out.push("the header takes " + Math.round(bar.height) + " of " + innerHeight + " pixels");
		return out.join("; ");
	})()`)
	if seen != "" {
		t.Errorf("the stop is %s", seen)
	}
}
