package configs

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
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

// trickyTOML are texts that a careless scanner trips over.
var trickyTOML = []string{
	"",
	"a = 1",
	"a = 1 # b = 2\n# c = 3\n",
	"\ufeffa = 1\r\nb = 2\r\n",
	"a = \"# no comment\"\nb = '[no] header'\n",
	"a = \"\\\"\\\\\" # \"\nb = 2",
	"a = \"\"\"\nb = 1\n[c]\n\"\"\"\nd = 2",
	"a = \"\"\"x\"\"\"\"\"\nb = 1",
	"a = '''\n'''''\nb = 1",
	"a = \"\"\"\\\n   x \\\"\"\"\\\"\"\"\"\nb = 1",
	"\"a.b\" = 1\n'c d' = 2\n\"\" = 3\n\"\\u00e9\\n\" = 4\n",
	"a.b.c = 1\na . d = 2\n\"x\" . 'y' = 3\n",
	"[a]\nb = 1\n[ a . c ]\nd = 2\n[\"a\".'e f']\ng = 3",
	"[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 1\n[[a.e]]\nf = 1\n[[a.e]]\nf = 2\n[[a]]\n[[a.e]]\nf = 3\n",
	"a = [\n 1, # one\n 2,\n]\nb = [[1, 2], [\n3]]\nc = []\n",
	"a = { b = 1, c = { d = 2, e = [ { f = 3 }, { f = 4 } ] }, g.h = 5 }\ni = {}\n",
	"a = [ { b = 1 },\n { b = 2, c = \"]}\" } ]\nd = 1",
	"a = [\n  [ { b = 1 } ],\n  [ { b = 2 } ],\n]\n",
	"a = {\n  b = 1, # comment }\n  c = 2,\n}\n",
	"a = 1979-05-27 07:32:00Z\nb = 07:32:00\nc = +1_000.5e-3\nd = inf\ne = nan\nf = true\n",
	"1 = 1\n-a_ = 2\n3.14 = 3\n",
	"a = 'x\\'\nb = \"\\x41\\e\"\n",
}

func checkAligned(t *testing.T, text string) {
	t.Helper()
	_, keys, problem := decode(text)
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
	for _, text := range trickyTOML {
		if _, _, problem := decode(text); problem == nil {
			valid++
		} else {
			t.Errorf("text %q is not valid: %v", text, problem)
		}
		checkAligned(t, text)
	}
	for _, s := range Samples() {
		checkAligned(t, string(s.Text))
	}
}

// FuzzScan looks for valid TOML whose keys the scanner and the library list
// differently, and for any text on which the scanner does not come back.
func FuzzScan(f *testing.F) {
	for _, text := range trickyTOML {
		f.Add(text)
	}
	for _, s := range Samples() {
		f.Add(string(s.Text))
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
			w.want[itemKey(at, j)] = w.line
			w.value(itemKey(at, j), depth-1)
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
		at = joinKey(at, plain)
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
			at := itemKey(plainKey(plain), i)
			w.want[at] = w.line
			w.write("[[" + toml + "]] # " + plain[:2] + "\n")
			w.section(at)
			sub, subPlain := w.key()
			at = joinKey(at, subPlain)
			w.write("\n")
			w.want[at] = w.line
			w.write("[" + toml + "." + sub + "]\n")
			w.section(at)
		}
	}
}

func plainKey(plain string) string { return joinKey("", plain) }

func TestScanKnowsLinesOfRandomDocuments(t *testing.T) {
	seed := testSeed(t)
	for n := range uint64(3000) {
		w := &tomlWriter{rng: rand.New(rand.NewPCG(seed, n)), line: 1, want: map[string]int{}}
		w.document()
		text := w.text.String()
		if _, _, problem := decode(text); problem != nil {
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
