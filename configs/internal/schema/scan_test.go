package schema

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/configs/internal/tricky"
	"time"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the randomised tests; 0 draws one")

// testSeed prints the seed of a randomised test and takes it back.
func testSeed(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (repeat with -seed)", seed)
	return seed
}

func checkAligned(t *testing.T, text string) {
	t.Helper()
	_, keys, problem := Decode(text)
	if problem != nil {
		return // not TOML: the scanner only has to come back
	}
	scanned, _ := scan(text)
	if aligned(scanned, keys) {
		return
	}
	var got, want []string
	for _, s := range scanned {
		got = append(got, fmt.Sprintf("%q", s.path))
	}
	for _, k := range keys {
		want = append(want, fmt.Sprintf("%q", []string(k)))
	}
	t.Errorf("text %q\nscanned %s\nlibrary %s", text, strings.Join(got, " "), strings.Join(want, " "))
}

func TestScanAlignsWithLibrary(t *testing.T) {
	valid := 0
	for _, text := range tricky.TOML {
		if _, _, problem := Decode(text); problem == nil {
			valid++
		} else {
			t.Errorf("text %q is not valid: %v", text, problem)
		}
		checkAligned(t, text)
	}
	for _, text := range samples(t) {
		checkAligned(t, text)
	}
}

// samples are the files that are shipped.
func samples(t testing.TB) (texts []string) {
	t.Helper()
	files, err := filepath.Glob("../../*.toml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// FuzzScan looks for valid TOML whose keys the scanner and the library list
// differently, and for any text on which the scanner does not come back.
func FuzzScan(f *testing.F) {
	for _, text := range tricky.TOML {
		f.Add(text)
	}
	for _, text := range samples(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		scan(text)
		checkAligned(t, text)
	})
}

// tomlWriter writes a random document and notes the line of every key as it
// goes: an oracle that knows nothing of scanning.
type tomlWriter struct {
	rng  *rand.Rand
	text strings.Builder
	line int
	next int
	want map[string]int
}

func (w *tomlWriter) write(s string) {
	w.text.WriteString(s)
	w.line += strings.Count(s, "\n")
}

// key returns a key that was never used, as TOML and as it is.
func (w *tomlWriter) key() (toml, plain string) {
	w.next++
	plain = fmt.Sprintf("k%d", w.next)
	switch w.rng.IntN(6) {
	case 0:
		plain += ".x y"
		return `"` + plain + `"`, plain
	case 1:
		plain += `\#]`
		return "'" + plain + "'", plain
	case 2:
		return `"` + plain + `\"\u00e9\t"`, plain + "\"é\t"
	}
	return plain, plain
}

func (w *tomlWriter) filler() {
	switch w.rng.IntN(5) {
	case 0:
		w.write("\n")
	case 1:
		w.write("  # [x] y = \"z\n")
	case 2:
		w.write("\t\n\n")
	}
}

func (w *tomlWriter) value(at string, depth int) {
	texts := []string{
		"1", "-2.5e3", "true", "inf", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05", `""`, `''`, `"#\"["`, `'\'`,
		"\"\"\"\n[a]\nb = 1\"\"\"", "'''\n\n]]'''''", "\"\"\"\\\n  \"\" \\\"\"\"\"\"\"", `"""a""""`,
	}
	n := len(texts)
	if depth > 0 {
		n += 6
	}
	switch i := w.rng.IntN(n); {
	case i < len(texts):
		w.write(texts[i])
	case i%2 == 0:
		w.write("[")
		for j := range w.rng.IntN(4) {
			if j > 0 {
				w.write(",")
			}
			w.filler()
			w.want[Item(at, j)] = w.line
			w.value(Item(at, j), depth-1)
			w.filler()
		}
		w.write("]")
	default:
		w.write("{")
		for j := range w.rng.IntN(4) {
			if j > 0 {
				w.write(" , ")
			}
			w.pair(at, depth-1)
		}
		w.write(" }")
	}
}

func (w *tomlWriter) pair(at string, depth int) {
	for {
		toml, plain := w.key()
		at = Join(at, plain)
		w.want[at] = w.line
		w.write(toml)
		if w.rng.IntN(4) > 0 {
			break
		}
		w.write(" . ")
	}
	w.write(" = ")
	w.value(at, depth)
}

func (w *tomlWriter) section(at string) {
	for range w.rng.IntN(4) {
		w.filler()
		w.pair(at, 3)
		w.write(" # end\n")
	}
}

func (w *tomlWriter) document() {
	w.section("")
	for range w.rng.IntN(5) {
		w.filler()
		w.write("\n")
		toml, plain := w.key()
		if w.rng.IntN(2) == 0 {
			w.want[plainKey(plain)] = w.line
			w.write("[ " + toml + " ]\n")
			w.section(plainKey(plain))
			continue
		}
		w.want[plainKey(plain)] = w.line
		for i := range 1 + w.rng.IntN(3) {
			at := Item(plainKey(plain), i)
			w.want[at] = w.line
			w.write("[[" + toml + "]] # " + plain[:2] + "\n")
			w.section(at)
			sub, subPlain := w.key()
			at = Join(at, subPlain)
			w.write("\n")
			w.want[at] = w.line
			w.write("[" + toml + "." + sub + "]\n")
			w.section(at)
		}
	}
}

func plainKey(plain string) string { return Join("", plain) }

func TestScanKnowsLinesOfRandomDocuments(t *testing.T) {
	seed := testSeed(t)
	for n := range uint64(3000) {
		w := &tomlWriter{rng: rand.New(rand.NewPCG(seed, n)), line: 1, want: map[string]int{}}
		w.document()
		text := w.text.String()
		if _, _, problem := Decode(text); problem != nil {
			t.Fatalf("document %d is not valid TOML: %v\n%s", n, problem, text)
		}
		checkAligned(t, text)
		_, lines := scan(text)
		for at, want := range w.want {
			if lines[at] != want {
				t.Errorf("document %d: key %s is on line %d, scanned %d", n, at, want, lines[at])
			}
		}
		if len(lines) != len(w.want) {
			t.Errorf("document %d: %d keys scanned, %d written", n, len(lines), len(w.want))
		}
		if t.Failed() {
			t.Fatalf("document %d:\n%s", n, text)
		}
	}
}
