// Command manual makes the HTML manual of the Debian package from the repository's pages:
//
//	go run ./manual -root ../.. -out DIR
//
// It starts at docs/README.md and follows links: pages become HTML, other files are copied,
// folders without a page get a list of their files. DIR needs no server and no network. A
// link or an anchor that leads nowhere is an error.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", "../..", "top of the repository")
	out := flag.String("out", "", "folder to write to")
	version := flag.String("version", "", "version, shown at the foot of each page")
	flag.Parse()
	if err := run(*root, *out, *version); err != nil {
		fmt.Fprintln(os.Stderr, "manual: error:", err)
		os.Exit(1)
	}
}

func run(root, out, version string) error {
	if out == "" {
		return errors.New("-out is missing")
	}
	m := newManual(root, out, version)
	if err := m.follow("docs/README.md"); err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	if err := m.style(); err != nil {
		return err
	}
	fmt.Printf("%d pages and %d files\n", len(m.anchors), m.copied)
	return nil
}
