package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/labtuner/tuner/loop/web/webtest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// actingPage is a page whose server answers as a test says.
func actingPage(t *testing.T, screen webtest.Screen) (*webtest.Tab, *scripted) {
	t.Helper()
	s := newScripted(t)
	d, now := bench.show(t)
	d.Status = &now
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-s.asked
		s.answer <- text
	}()
	b := webtest.Open(t, webtest.Browser(t), s.URL, screen)
	awaitText(t, b, d.Run.Name)
	return b, s
}

const (
	seenMoves = `{"ok": true, "words": "tried after the present step", "moves": [{"variable": "grating", "unit": "mm", "from": 12.5, "to": 1.5, "text": "1.5 mm"},
		{"variable": "pump_current", "unit": "A", "from": null, "to": null, "text": "let go"}], "args": {"values": {"grating": 1.5, "mirror_x": 0.25}, "rest": "present"}}`
	isDone = `{"ok": true, "code": "ok", "message": "grating = 1.5 mm: tried after the present step"}`
)

// By the keyboard alone: nothing is sent before what will move was shown; what is sent is what was
// shown; a changed form must be looked at again; a refusal stands in place in the server's words; no
// control moves by any of it.
func TestActByKeyboard(t *testing.T) {
	t.Parallel()
	if webtest.Browser(t) == nil {
		return
	}
	for i, screen := range webtest.Screens() {
		if i != 2 && !testsize.Whole() {
			continue
		}
		t.Run(screen.Name, func(t *testing.T) {
			b, s := actingPage(t, screen)
			focus := func() string {
				return webtest.Ask[string](t, b, `document.activeElement.id || document.activeElement.name`)
			}
			is := func(want, when string) {
				t.Helper()
				if got := focus(); got != want {
					t.Errorf("%s the focus is on %q, want %q", when, got, want)
				}
			}
			b.Keys(t, "a", chromedp.ModifierAlt)
			is("act-what", "opened,")
			places := ""
			stays := func(when string) {
				t.Helper()
				if now := b.Controls(t); now != places {
					t.Errorf("%s a control has moved:\n%s\nwas\n%s", when, now, places)
				}
			}
			b.Keys(t, kb.Tab+kb.Tab+kb.Tab+"1.5") // the third variable
			is("x grating", "after three tabs")
			places = b.Controls(t) // the form has scrolled to what is typed into
			s.reply = func(string) (int, string) { return http.StatusOK, seenMoves }
			b.Keys(t, kb.Enter)
			awaitText(t, b, "12.5 mm → 1.5 mm", "not known → let go", "tried after the present step")
			if got := <-s.posted; got != `preview/try {"args":{"values":{"grating":1.5},"rest":"recommended"}}` {
				t.Errorf("asked for %s", got)
			}
			is("act-said", "told what moves,")
			stays("told what moves,")
			b.Fits(t)
			b.Accessible(t)
			b.Shoot(t, "act-"+screen.Name)

			// Typing takes it back: Send does nothing until it was looked at again.
			webtest.Ask[int](t, b, `document.getElementsByName("x mirror_x")[0].focus(), 0`)
			b.Keys(t, "0.25")
			places = b.Controls(t)
			if !webtest.Ask[bool](t, b, `document.getElementById("act-send").disabled`) {
				t.Error("what was changed since can be sent")
			}
			b.Keys(t, kb.Enter)
			awaitText(t, b, "12.5 mm → 1.5 mm")
			if got := <-s.posted; !strings.Contains(got, `"mirror_x":0.25`) {
				t.Errorf("asked for %s", got)
			}
			b.Keys(t, kb.Tab+kb.Tab)
			is("act-send", "two tabs on")
			if outline := webtest.Ask[string](t, b, `getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
				t.Errorf("the focus is shown by an outline that is %s", outline)
			}
			s.reply = func(string) (int, string) { return http.StatusOK, isDone }
			b.Keys(t, kb.Enter)
			awaitText(t, b, "Done: grating = 1.5 mm: tried after the present step")
			if got := <-s.posted; got != `command/try {"args":{"values":{"grating":1.5,"mirror_x":0.25},"rest":"present"}}` {
				t.Errorf("sent was %s", got)
			}
			stays("done,")

			s.reply = func(string) (int, string) {
				return http.StatusConflict, `{"ok": false, "message": "mirror_x = 9 mrad is outside its range, -2 to 2 mrad"}`
			}
			webtest.Ask[int](t, b, `document.getElementsByName("x mirror_x")[0].focus(), 0`)
			b.Keys(t, "9")
			places = b.Controls(t)
			b.Keys(t, kb.Enter)
			awaitText(t, b, "Refused: mirror_x = 9 mrad is outside its range, -2 to 2 mrad")
			<-s.posted
			stays("refused,")
			if !webtest.Ask[bool](t, b, `document.getElementById("act-send").disabled`) {
				t.Error("what is refused can be sent")
			}
			stopInSight(t, b) // beside the panel, too
			b.Keys(t, kb.Escape)
			is("button-act", "closed,")
			if webtest.Ask[bool](t, b, `document.getElementById("act").checkVisibility()`) {
				t.Error("Escape leaves the panel open")
			}
			if len(s.posted) > 0 {
				t.Errorf("beyond that was posted %s", <-s.posted)
			}
		})
	}
}

// Each action asks for what its command takes.
func TestActionsSayWhatCommandsTake(t *testing.T) {
	t.Parallel()
	if webtest.Browser(t) == nil {
		return
	}
	b, s := actingPage(t, webtest.Screens()[1])
	s.reply = func(string) (int, string) { return http.StatusOK, `{"ok": true, "words": "seen", "moves": []}` }
	b.Keys(t, "a", chromedp.ModifierAlt)
	for _, c := range []struct{ action, fill, want string }{
		{"try", `{"x grating": "1,5", shots: "4", times: "2"}`, `preview/try {"args":{"values":{"grating":1.5},"rest":"recommended","shots":4,"times":2,"reason":"lamp"}}`},
		{"strike", `{steps: "3 7-9,8"}`, `preview/strike {"args":{"steps":[3,7,8,9],"reason":"lamp"}}`},
		{"strike", `{saturated: "pointing"}`, `preview/strike {"args":{"saturated":"pointing","reason":"lamp"}}`},
		{"unstrike", `{steps: "7"}`, `preview/unstrike {"args":{"steps":[7],"reason":"lamp"}}`},
		{"narrow", `{"mirror_x from": "-1"}`, `preview/narrow {"args":{"ranges":{"mirror_x":[-1,2]},"reason":"lamp"}}`},
		{"widen", `{"mirror_y from": "-2.5", "mirror_y to": "2.5"}`, `preview/widen {"args":{"ranges":{"mirror_y":[-2.5,2.5]},"reason":"lamp"}}`},
		{"freeze", `{pump_current: "80"}`, `preview/freeze {"args":{"values":{"pump_current":80},"reason":"lamp"}}`},
		{"change", `{"stop.steps": "300", "stop.time": "8h", "stop.cost": "none"}`, `preview/change {"args":{"set":{"stop.steps":"300","stop.cost":"","stop.time":"\"8h\""},"reason":"lamp"}}`},
		{"set-best", `{}`, `preview/set-best {"args":{"reason":"lamp"}}`},
		{"end", `{}`, `preview/end {"args":{"reason":"lamp"}}`},
	} {
		webtest.Ask[int](t, b, `(() => {
			const what = document.getElementById("act-what"), form = what.form;
			what.value = "`+c.action+`";
			what.dispatchEvent(new Event("change"));
			for (const [k, v] of Object.entries({reason: "lamp", ...`+c.fill+`})) form.elements[k].value = v;
			document.getElementById("act-look").click();
			return 0;
		})()`)
		if got := <-s.posted; got != c.want {
			t.Errorf("%s: %s, want %s", c.action, got, c.want)
		}
		awaitText(t, b, "seen.")
	}
	for action, fill := range map[string]string{"strike": `"steps": "x"`, "narrow": ``, "freeze": `"mirror_x": "much"`} { // refused without the server
		webtest.Ask[int](t, b, `(() => {
			const what = document.getElementById("act-what");
			what.value = "`+action+`";
			what.dispatchEvent(new Event("change"));
			for (const [k, v] of Object.entries({`+fill+`})) what.form.elements[k].value = v;
			document.getElementById("act-look").click();
			return 0;
		})()`)
		awaitText(t, b, "Refused: ")
	}
	if len(s.posted) > 0 {
		t.Errorf("posted was %s", <-s.posted)
	}
}
