package export

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Python's own SQLite, of another version, reads a journal that is being written;
// every checksum holds by an implementation of the package comment alone, and the
// view steps says what the CSV export says.
func TestPythonReads(t *testing.T) {
	const python = "/usr/bin/python3" // Debian's, which has the module sqlite3
	if _, err := os.Stat(python); err != nil {
		t.Logf("not shown here: %v", err)
		return
	}
	path := twoSessions(t)
	var stderr bytes.Buffer
	cmd := exec.Command(python, "testdata/read.py", path)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if !strings.HasPrefix(stderr.String(), "checked ") || strings.HasPrefix(stderr.String(), "checked 0 ") {
		t.Errorf("nothing was checked: %s", stderr.String())
	}
	parse := func(b []byte) [][]string {
		rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	view, export := parse(out), parse(mustExport(t, path, CSV))
	if len(view) != len(export) {
		t.Fatalf("the view has %d rows, the export %d", len(view), len(export))
	}
	place := map[string]int{}
	for i, name := range export[0] {
		place[name] = i
	}
	for i := range view {
		for k, name := range view[0] {
			want := export[i][place[name]]
			if !sameCell(view[i][k], want) {
				t.Errorf("row %d, %s: the view has %q, the export %q", i, name, view[i][k], want)
			}
		}
	}
	if len(view[0]) != len(export[0])-5 { // all but elapsed_s, by, struck, reason and cut
		t.Errorf("the view has columns %q, the export %q", view[0], export[0])
	}
}

// sameCell compares cells that two programs wrote: numbers by value, truth as 0
// or 1.
func sameCell(view, export string) bool {
	x, err1 := strconv.ParseFloat(view, 64)
	y, err2 := strconv.ParseFloat(export, 64)
	switch {
	case err1 == nil && err2 == nil:
		return x == y
	case export == "true" || export == "false":
		return (view == "1") == (export == "true")
	}
	return view == export
}
