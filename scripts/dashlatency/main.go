// Command dashlatency measures what browsers that watch a run cost its decisions. It runs
// a simulated instrument in real time, in turn without anybody watching (A), once more
// without (A'), and with ten clients of the event stream, one of which never reads (B), and
// prints the decisions' times side by side: B against A means something only beside A'
// against A.
//
//	go run ./scripts/dashlatency [-steps 100] [-rounds 3]
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	steps := flag.Int("steps", 100, "steps of a run")
	rounds := flag.Int("rounds", 3, "runs of each kind")
	flag.Parse()
	if err := measure(*steps, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "dashlatency:", err)
		os.Exit(1)
	}
}

func measure(steps, rounds int) (err error) {
	dir, err := os.MkdirTemp("", "dashlatency")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tuner := filepath.Join(dir, "tuner")
	build := exec.Command("go", "build", "-o", tuner, "./cmd/tuner")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	kinds := []struct {
		name    string
		clients int
		took    []float64
	}{{name: "A: nobody watches"}, {name: "A': nobody watches"}, {name: "B: ten clients, one never reads", clients: 10}}
	for round := range rounds {
		for i := range kinds {
			k := &kinds[(i+round)%len(kinds)] // the order changes, against drift of the machine
			took, err := run(tuner, dir, steps, k.clients)
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			k.took = append(k.took, took...)
		}
	}
	fmt.Printf("%-33s %9s %9s %9s %9s\n", "decision time in ms", "decisions", "median", "p99", "max")
	base := kinds[0].took
	for _, k := range kinds {
		fmt.Printf("%-33s %9d %9.3f %9.3f %9.3f   median %+.1f %% of A's\n", k.name, len(k.took), quantile(k.took, 0.5), quantile(k.took, 0.99), quantile(k.took, 1),
			100*(quantile(k.took, 0.5)/quantile(base, 0.5)-1))
	}
	return nil
}

// quantile of values, by the nearest rank.
func quantile(x []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[max(int(math.Ceil(q*float64(len(s))))-1, 0)]
}

// run tunes once and gives the times of the decisions after the initial design.
func run(tuner, dir string, steps, clients int) ([]float64, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "bench.toml")
	if err := os.WriteFile(file, []byte(config(address, steps)), 0o600); err != nil {
		return nil, err
	}
	// As if typed by a person: of automatic starts there are three an hour.
	cmd := exec.Command(tuner, "run", "--new", "--json", file)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "STATE_DIRECTORY="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.Contains(lines.Text(), "dashboard at") {
	}
	go io.Copy(io.Discard, said)
	watchers, err := watch(address, clients)
	took, readErr := decisions(out)
	for _, w := range watchers {
		err = errors.Join(err, w.Close())
	}
	return took, errors.Join(err, readErr, cmd.Wait())
}

// watch connects clients; all but the first read what they get.
func watch(address string, clients int) (out []io.Closer, err error) {
	for i := range clients {
		if i == 0 {
			c, err := net.Dial("tcp", address)
			if err != nil {
				return out, err
			}
			out = append(out, c)
			if _, err := fmt.Fprintf(c, "GET /api/stream HTTP/1.1\r\nHost: %s\r\n\r\n", address); err != nil {
				return out, err
			}
			continue
		}
		if _, err := http.Get("http://" + address + "/api/document"); err != nil {
			return out, err
		}
		answer, err := http.Get("http://" + address + "/api/stream")
		if err != nil {
			return out, err
		}
		out = append(out, answer.Body)
		go io.Copy(io.Discard, answer.Body)
	}
	return out, nil
}

// decisions reads the times of decisions from a run's lines, until it ends.
func decisions(r io.Reader) (took []float64, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Type       string
			N          int
			DecisionMS float64 `json:"decision_ms"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return took, err
		}
		if line.Type == "step" && line.N > initial {
			took = append(took, line.DecisionMS)
		}
	}
	return took, lines.Err()
}

// initial is the number of steps that need no model.
const initial = 10

// config is a laser of four variables in real time.
func config(address string, steps int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `schema = 1
name = "bench"
tick = "10ms"
[plant]
kind = "laser"
[objective]
sensor = "energy"
shots = 2
[[sensor]]
name = "energy"
unit = "mJ"
device = "bench"
channel = "energy"
range = [0.0, 20.0]
max_age = "1s"
[policy]
kind = "rahbo"
risk = 0.1
initial = { design = "sobol", steps = %d }
[stop]
steps = %d
verify = 0
[web]
listen = %q
`, initial, steps, address)
	for _, name := range []string{"x", "y", "z", "w"} {
		fmt.Fprintf(&b, `[[variable]]
name = %q
unit = "V"
range = [0.0, 1.0]
start = 0.5
device = "bench"
channel = %[1]q
readback = { tolerance = 0.05, timeout = "10s" }
[safety.variable.%[1]s]
hard = [0.0, 1.0]
slew = 20.0
safe = 0.25
`, name)
	}
	b.WriteString("[[device]]\nname = \"bench\"\ndriver = \"sim\"\n")
	return b.String()
}
