// Command inventory says what is in a program besides our own code: a bill of materials
// (CycloneDX 1.5, JSON) and the texts of all licences, both from what the linker wrote
// into the program. It fails where a licence is not one that may be passed on with it.
//
//	go run ./scripts/inventory -binary dist/tuner-linux-amd64 -sbom FILE -licences FILE
package main

import (
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	binary := flag.String("binary", "", "the program to look at")
	sbom := flag.String("sbom", "", "write the bill of materials here")
	licences := flag.String("licences", "", "write the texts of the licences here")
	version := flag.String("version", "", "the package's version")
	date := flag.String("date", "", "the date that the bill bears, RFC 3339")
	flag.Parse()
	if err := run(*binary, *sbom, *licences, head{*version, *date}); err != nil {
		fmt.Fprintf(os.Stderr, "inventory: error: %v\n", err)
		os.Exit(1)
	}
}

func run(binary, sbom, licences string, h head) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	parts, err := partsOf(info)
	if err != nil {
		return err
	}
	scripts, err := embedded(".")
	if err != nil {
		return err
	}
	parts = append(parts, scripts...)
	var bad []error
	for _, p := range parts {
		if !allowed(p.licence) {
			bad = append(bad, fmt.Errorf("%s %s: licence %q is not one that may be passed on with the program", p.path, p.version, p.licence))
		}
		fmt.Printf("%-45s %-38s %s\n", p.path, p.version, p.licence)
	}
	if err := errors.Join(bad...); err != nil {
		return err
	}
	if sbom != "" {
		text, err := bill(info, parts, h)
		if err != nil {
			return err
		}
		if err := os.WriteFile(sbom, text, 0o644); err != nil {
			return err
		}
	}
	if licences != "" {
		return os.WriteFile(licences, texts(parts), 0o644)
	}
	return nil
}

// head is what a bill says of the program itself.
type head struct{ version, date string }
