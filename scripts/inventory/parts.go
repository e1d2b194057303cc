package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// part is a module that is linked into the program, the Go library, or a script of the pages.
type part struct {
	path, version string
	// licence is an SPDX expression, texts what its files say.
	licence string
	texts   []licenceText
	// kind is that of its package URL; empty: a Go module.
	kind string
}

type licenceText struct{ file, text string }

// partsOf finds the modules of a program, with their licences, in the module cache.
func partsOf(info *debug.BuildInfo) ([]part, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	library, err := withLicence(part{path: "stdlib", version: strings.TrimPrefix(info.GoVersion, "go")}, strings.TrimSpace(string(goroot)))
	if err != nil {
		return nil, err
	}
	parts := []part{library}
	folders, err := foldersOf(info.Deps)
	if err != nil {
		return nil, err
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s: a program to be passed on is made of published modules", d.Path, d.Replace.Path)
		}
		p, err := withLicence(part{path: d.Path, version: d.Version}, folders[d.Path+"@"+d.Version])
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// embedded are the parts that are no module: scripts of the pages, tables of numbers.
func embedded(root string) ([]part, error) {
	plot, err := carried(root, part{path: "uplot", kind: "npm"}, "loop/web/page/uplot.js", `uPlot.*\(v([0-9.]+)\)`, "loop/web/page/uplot.LICENSE")
	if err != nil {
		return nil, err
	}
	sobol, err := carried(root, part{path: "new-joe-kuo-6.21201", kind: "generic"}, "gpcore/sobol/numbers.go", `Copyright \(c\) ([0-9]+), Frances`, "gpcore/sobol/joe-kuo.LICENSE")
	if err != nil {
		return nil, err
	}
	return []part{plot, sobol}, nil
}

// carried is a part of which a file carries its version, as the pattern finds it, and another its licence.
func carried(root string, p part, file, pattern, licence string) (part, error) {
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return p, err
	}
	found := regexp.MustCompile(pattern).FindSubmatch(content)
	if found == nil {
		return p, fmt.Errorf("%s does not say its version", file)
	}
	text, err := os.ReadFile(filepath.Join(root, licence))
	if err != nil {
		return p, err
	}
	p.version, p.licence, p.texts = string(found[1]), identify(string(text)), []licenceText{{filepath.Base(licence), string(text)}}
	return p, nil
}

// foldersOf asks the Go tool where the modules are.
func foldersOf(modules []*debug.Module) (map[string]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		args = append(args, m.Path+"@"+m.Version)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	folders := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir string }
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			return folders, nil
		}
		if err != nil {
			return nil, err
		}
		folders[m.Path+"@"+m.Version] = m.Dir
	}
}

// licenceFiles are how such files' names begin.
func licenceFiles() []string {
	return []string{"license", "licence", "copying", "notice", "edl", "epl"}
}

// withLicence reads the licences in a module's folder.
func withLicence(p part, folder string) (part, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return p, fmt.Errorf("%s %s: %w", p.path, p.version, err)
	}
	var names []string
	for _, e := range entries {
		lower := strings.ToLower(e.Name())
		begins := func(prefix string) bool { return strings.HasPrefix(lower, prefix) }
		if e.IsDir() || !slices.ContainsFunc(licenceFiles(), begins) || strings.HasSuffix(lower, ".go") || strings.HasSuffix(lower, ".html") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return p, err
		}
		p.texts = append(p.texts, licenceText{e.Name(), string(text)})
		if strings.Contains(lower, "3rd-party") {
			continue // it lists what others are under, not all of which is linked in
		}
		if name := identify(string(text)); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	p.licence = strings.Join(names, " AND ")
	if choice := choices()[p.path]; choice != "" {
		p.licence = choice
	}
	return p, nil
}

// choices are of modules whose authors let one choose between licences, which is said
// in words that identify does not read.
func choices() map[string]string {
	return map[string]string{"github.com/eclipse/paho.mqtt.golang": "BSD-3-Clause OR EPL-2.0"}
}

// identify names a licence by the sentences that only it has; "" where it has none of them.
func identify(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	has := func(parts ...string) bool {
		return !slices.ContainsFunc(parts, func(s string) bool { return !strings.Contains(text, s) })
	}
	switch {
	case has("Mozilla Public License", "2.0"):
		return "MPL-2.0"
	case has("Eclipse Public License", "2.0"):
		return "EPL-2.0"
	case has("GNU", "GENERAL PUBLIC LICENSE"):
		return "GPL"
	case has("Apache License", "Version 2.0", "TERMS AND CONDITIONS"):
		return "Apache-2.0"
	case has("Permission is hereby granted, free of charge", "THE SOFTWARE IS PROVIDED \"AS IS\""):
		return "MIT"
	case has("Redistribution and use in source and binary forms", "Neither the name"),
		has("Redistribution and use in source and binary forms", "names of its contributors"):
		return "BSD-3-Clause"
	case has("Redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	case has("Permission to use, copy, modify, and/or distribute this software for any purpose"):
		return "ISC"
	}
	return ""
}

// allowed reports whether a program with such a part may be passed on under the licence of ours.
func allowed(expression string) bool {
	good := []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}
	for option := range strings.SplitSeq(expression, " OR ") {
		all := option != ""
		for name := range strings.SplitSeq(option, " AND ") {
			all = all && slices.Contains(good, name)
		}
		if all {
			return true
		}
	}
	return false
}

// texts is one file with all licences.
func texts(parts []part) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "What the program is made of beside its own code, and under which terms.\nGo tool chain: %s\n", runtime.Version())
	for _, p := range parts {
		fmt.Fprintf(&b, "\n%s\n%s %s: %s\n", strings.Repeat("=", 78), p.path, p.version, p.licence)
		for _, t := range p.texts {
			fmt.Fprintf(&b, "%s\n%s:\n\n%s\n", strings.Repeat("-", 78), t.file, strings.TrimRight(t.text, "\n"))
		}
	}
	return b.Bytes()
}
