package web

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/web/webtest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// The same journal gives the same bytes, whatever order maps have.
func TestReportIsByteIdentical(t *testing.T) {
	t.Parallel()
	r := labJournal(t, 30)
	var first []byte
	for range 20 {
		d, err := Collect(Source{Reader: r, Options: labOptions(), Picture: labPicture()})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteReport(&b, d); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Fatal("two reports of one journal differ")
		}
	}
}

// The document comes through whole, whatever texts are in it, and nothing in the file
// points outside.
func TestReportHoldsItsDocument(t *testing.T) {
	t.Parallel()
	d := labDocument(t, 30)
	var b bytes.Buffer
	if err := WriteReport(&b, d); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	_, rest, _ := strings.Cut(html, `id="document">`)
	text, _, ok := strings.Cut(rest, "</script>")
	want, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if !ok || text != string(want) {
		t.Errorf("the document in the file is %.200q", text)
	}
	if n := strings.Count(html, "<script"); n != 2 {
		t.Errorf("%d script elements, want 2", n)
	}
	if bad := regexp.MustCompile(`(?i)(src|href)\s*=\s*["']?(https?:)?//`).FindString(html); bad != "" {
		t.Errorf("the file loads from elsewhere: %q", bad)
	}
}

// A report opens from the disk, on every screen (in the whole; else on the narrow dark one),
// with nothing to complain of.
func TestReportInABrowser(t *testing.T) {
	t.Parallel()
	ctx := webtest.Browser(t)
	if ctx == nil {
		return
	}
	file := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	d := labDocument(t, 30)
	d.Replay = "30 decisions come out as they were recorded, to the last bit"
	if err := WriteReport(f, d); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for i, s := range webtest.Screens() {
		if i != 3 && !testsize.Whole() {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			b := webtest.Open(t, ctx, "file://"+file, s)
			if got := b.Text(t, "h1"); got != "laser </script><b>" {
				t.Errorf("the heading is %q", got)
			}
			b.DrawAll(t)
			if text := b.Text(t, "main"); !strings.Contains(text, "4.8 mJ by its pessimistic bound") || !strings.Contains(text, "held: <script>alert(1)</script>") {
				t.Errorf("the page says %.2000q", text)
			}
			if n := webtest.Ask[int](t, b, `document.querySelectorAll("canvas").length`); n != 4 { // the objective, one slice, two variables
				t.Errorf("%d figures", n)
			}
			webtest.Ask[int](t, b, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), 0`)
			b.Fits(t)
			b.Accessible(t)
			b.Quiet(t, "file://"+file)
			b.Shoot(t, "report-"+s.Name)
		})
	}
}
