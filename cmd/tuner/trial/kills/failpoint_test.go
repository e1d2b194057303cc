package kills

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every failpoint that the loop has is one of a victim's, and no victim waits for one that
// the loop does not have: it would be killed, but not there.
func TestEveryFailpointHasAVictim(t *testing.T) {
	asked := map[string]bool{}
	for _, v := range []victim{heater(), pump(), comparer()} {
		for _, point := range v.failpoints {
			asked[point] = true
		}
	}
	for _, point := range commandPoints() {
		if strings.Contains(point, "-") {
			asked[point] = true
		}
	}
	files, err := filepath.Glob("../../../../loop/*.go")
	rooms, err2 := filepath.Glob("../../../../loop/*/*.go")
	if err != nil || err2 != nil || len(files) == 0 || len(rooms) == 0 {
		t.Fatal(files, rooms, err, err2)
	}
	files = slices.DeleteFunc(append(files, rooms...), func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	call := regexp.MustCompile(`\b(?:\w\.failpoint|reached)\("([^"]+)"\)`)
	var there []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			there = append(there, m[1])
		}
	}
	for _, point := range there {
		if !asked[point] {
			t.Errorf("no process is killed at %s", point)
		}
	}
	for point := range asked {
		if !slices.Contains(there, point) {
			t.Errorf("the loop has no failpoint %s", point)
		}
	}
}
