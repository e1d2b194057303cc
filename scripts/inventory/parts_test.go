package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
)

func TestIdentify(t *testing.T) {
	for text, want := range map[string]string{
		"Permission is hereby granted, free of\ncharge, to any person ... THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT": "MIT",
		"Redistribution and use in source and binary forms, with or without ... Neither the name of Google":            "BSD-3-Clause",
		"Redistribution and use in source and binary\nforms, with or without":                                          "BSD-2-Clause",
		"Apache License\n Version 2.0, January 2004\n TERMS AND CONDITIONS FOR USE":                                    "Apache-2.0",
		"Mozilla Public License Version 2.0":                                                                           "MPL-2.0",
		"GNU LESSER GENERAL PUBLIC LICENSE":                                                                            "GPL",
		"All rights reserved.":                                                                                         "",
	} {
		if got := identify(text); got != want {
			t.Errorf("%.40q is %q, want %q", text, got, want)
		}
	}
}

func TestAllowed(t *testing.T) {
	for expression, want := range map[string]bool{"MIT": true, "BSD-3-Clause AND MIT": true, "BSD-3-Clause OR EPL-2.0": true,
		"MPL-2.0": false, "MIT AND GPL": false, "GPL OR MPL-2.0": false, "": false, "Beerware": false} {
		if got := allowed(expression); got != want {
			t.Errorf("%q: %v", expression, got)
		}
	}
}

// TestLicencesOfAModule reads a folder as the module cache has it.
func TestLicencesOfAModule(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE":              "Redistribution and use in source and binary forms",
		"LICENSE-3RD-PARTY.md": "Mozilla Public License 2.0",
		"COPYING.other":        "Permission to use, copy, modify, and/or distribute this software for any purpose",
		"license.go":           "GNU GENERAL PUBLIC LICENSE",
		"README":               "GNU GENERAL PUBLIC LICENSE",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := withLicence(part{path: "x"}, folder)
	if err != nil || p.licence != "BSD-2-Clause AND ISC" || len(p.texts) != 3 {
		t.Errorf("licence %q with %d texts, %v", p.licence, len(p.texts), err)
	}
	if p, err := withLicence(part{path: "y"}, t.TempDir()); err != nil || allowed(p.licence) {
		t.Errorf("a module without a licence has %q, %v", p.licence, err)
	}
}

func TestBill(t *testing.T) {
	scripts, err := embedded(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text, err := bill(&debug.BuildInfo{Main: debug.Module{Path: "example.org/x"}, Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "arm64"}}},
		append([]part{{path: "stdlib", version: "1.26.8", licence: "BSD-3-Clause"}, {path: "a/b", version: "v1.2.3", licence: "MIT"}}, scripts...), head{"1.0", ""})
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		BomFormat    string
		Metadata     struct{ Component component }
		Components   []component
		Dependencies []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	want := []string{"pkg:golang/std@1.26.8", "pkg:golang/a/b@v1.2.3", "pkg:npm/uplot@1.6.32", "pkg:generic/new-joe-kuo-6.21201@2008"}
	if b.BomFormat != "CycloneDX" || b.Metadata.Component.Version != "1.0" || len(b.Components) != 4 || !slices.Equal(b.Dependencies[0].DependsOn, want) {
		t.Errorf("%s", text)
	}
}
