package web

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/web/webtest"
)

// reportFile writes a document's report and gives its address.
func reportFile(t *testing.T, d *Document) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	var b bytes.Buffer
	if err := WriteReport(&b, d); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

// saved presses the button of this label in a figure and gives the bytes that the page
// offers as a file.
func saved(t *testing.T, b *webtest.Tab, figure, label string) []byte {
	t.Helper()
	text := webtest.Ask[string](t, b, `new Promise((done) => {
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => {
			URL.createObjectURL = make;
			const r = new FileReader();
			r.onload = () => done(r.result.split(",")[1]);
			r.readAsDataURL(blob);
			return make.call(URL, blob);
		};
		[...document.querySelectorAll("#`+figure+` button")].find((b) => b.textContent === "`+label+`").click();
	})`)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Figures are saved from a report as PNG and as CSV with units; on paper it is light even
// where the screen is dark.
func TestReportSavesFiguresAndPrints(t *testing.T) {
	t.Parallel()
	ctx := webtest.Browser(t)
	if ctx == nil {
		return
	}
	d := labDocument(t, 30)
	d.Doses = []DosePart{{Variable: "nutrient", Unit: "mL", Doses: 4, Given: 14.5, Unknown: 2, UnknownAmount: 9, Refused: 1, Largest: 5, PerDose: 12, Limit: 600}}
	b := webtest.Open(t, ctx, reportFile(t, d), webtest.Screens()[1])
	b.Unfold(t)
	awaitText(t, b, "Doses of")
	if text := b.Text(t, "main"); !strings.Contains(text, "14.5 mL") || !strings.Contains(text, "2 (9 mL)") || !strings.Contains(text, "585.5 mL") {
		t.Errorf("the report tells of no doses: %s", text)
	}
	rows, err := csv.NewReader(bytes.NewReader(saved(t, b, "figure-objective-energy", "Save CSV"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 31 || rows[0][0] != "step" || rows[0][1] != "measured (mean of a step) (mJ)" {
		t.Fatalf("%d rows, headings %q", len(rows), rows[0])
	}
	for i, row := range rows[1:] {
		y, err := strconv.ParseFloat(row[1], 64)
		if s := d.Steps[i]; s.Valid && (err != nil || y != float64(s.Mean)) || !s.Valid && row[1]+row[2]+row[3] != "" {
			t.Errorf("step %d: %q, it was %v", i+1, row, s.Mean)
		}
	}
	picture, err := png.Decode(bytes.NewReader(saved(t, b, "figure-objective-energy", "Save PNG")))
	if err != nil {
		t.Fatal(err)
	}
	colours := map[color.Color]bool{}
	for x := range picture.Bounds().Dx() {
		for y := range picture.Bounds().Dy() {
			colours[picture.At(x, y)] = true
		}
	}
	if picture.Bounds().Dx() < 600 || picture.Bounds().Dy() < 200 || len(colours) < 20 {
		t.Errorf("a picture of %v with %d colours", picture.Bounds(), len(colours))
	}
	ground := `getComputedStyle(document.body).backgroundColor`
	if got := webtest.Ask[string](t, b, ground); got != "rgb(16, 22, 28)" {
		t.Errorf("the screen is %s", got)
	}
	b.Print(t, "dark")
	if got := webtest.Ask[string](t, b, ground); got != "rgb(255, 255, 255)" {
		t.Errorf("paper is %s", got)
	}
	if got := webtest.Ask[string](t, b, `getComputedStyle(document.querySelector(".tools")).display`); got != "none" {
		t.Errorf("buttons are printed: %s", got)
	}
	// The curves are drawn in the colours of paper: the accent of the light scheme is there.
	inked := webtest.Ask[bool](t, b, `(() => {
		const c = document.querySelector("#figure-objective-energy canvas"), data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		for (let i = 0; i < data.length; i += 4) if (data[i] === 11 && data[i + 1] === 92 && data[i + 2] === 173) return true;
		return false;
	})()`)
	if !inked {
		t.Error("the figures keep the colours of a dark screen")
	}
}

// A run that was ended before its first step has a report too; that of a very long one stays
// small enough for an e-mail.
func TestReportOfNothingAndOfALot(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if d, _ := bench.longest().show(t); WriteReport(&b, d) != nil || b.Len() > 4<<20 {
		t.Errorf("the report of %d steps has %d bytes", d.Total, b.Len())
	}
	ctx := webtest.Browser(t)
	if ctx == nil {
		return
	}
	d := labDocument(t, 0)
	d.Picture = &control.Picture{Slices: []control.PictureSlice{}, Sets: make([]*control.PicturePoint, 2)}
	address := reportFile(t, d)
	tab := webtest.Open(t, ctx, address, webtest.Screens()[3])
	awaitText(t, tab, "Nothing is recommended yet", "No step is over yet.", "not finished")
	tab.Fits(t)
	tab.Accessible(t)
	tab.Quiet(t, address)
}
