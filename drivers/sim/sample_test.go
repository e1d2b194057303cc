package sim

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/labtuner/tuner/configs"
)

// TestSampleHoldsTheSchema: with its comments taken off, the sample is read without
// an unknown key, and it shows every key that there is.
func TestSampleHoldsTheSchema(t *testing.T) {
	text, err := os.ReadFile("sample.toml")
	if err != nil {
		t.Fatal(err)
	}
	bare := regexp.MustCompile(`(?m)^# `).ReplaceAllString(string(text), "")
	var file struct {
		Plant configs.Plant `toml:"plant"`
	}
	meta, err := toml.Decode(bare, &file)
	if err != nil {
		t.Fatal(err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		t.Errorf("the schema does not know %v", unknown)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[configs.Plant]()) {
		key := strings.Split(field.Tag.Get("toml"), ",")[0]
		if key != "" && !meta.IsDefined("plant", key) {
			t.Errorf("the sample does not show plant.%s", key)
		}
	}
	for _, fault := range file.Plant.Faults {
		if _, err := parseFault(fault); err != nil {
			t.Error(err)
		}
	}
	for _, words := range append(slices.Concat(faultKinds(), Tables()), DefaultTableBatch.String()) {
		if !strings.Contains(string(text), words) {
			t.Errorf("the sample does not say %q", words)
		}
	}
	if *file.Plant.Batch != DefaultGrowthBatch {
		t.Errorf("the sample's batch is %v, the growth plant's %v", *file.Plant.Batch, DefaultGrowthBatch)
	}
}

// TestReadmeShowsFaultsAndTables: the README has a row for every fault and cites
// every table.
func TestReadmeShowsFaultsAndTables(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range faultKinds() {
		if !strings.Contains(string(text), "| `"+kind+"` |") {
			t.Errorf("README.md has no row for fault %q", kind)
		}
	}
	for _, name := range Tables() {
		table, err := LoadTable(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), table.Citation) {
			t.Errorf("README.md does not cite %q", table.Citation)
		}
	}
}
