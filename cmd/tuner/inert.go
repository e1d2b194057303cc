package main

import (
	"slices"
	"strings"
)

// originDefault is the origin of a setting that the file does not have.
const originDefault = "default"

// inertKey is a part of the schema that this version reads and checks and does
// not act on.
type inertKey struct {
	// key is a dotted prefix; * stands for any one part.
	key, what string
}

// inertKeys lists all of them. It is what check and run tell the user, so a
// part that comes to life leaves the list.
func inertKeys() []inertKey {
	return nil
}

// findInert notes which of the inert parts the file uses.
func (w *wiring) findInert() {
	found := map[string]bool{}
	keys := inertKeys()
	for _, s := range w.cfg.Effective() {
		if s.Origin == originDefault {
			continue
		}
		i := slices.IndexFunc(keys, func(k inertKey) bool { return hasPrefix(s.Key, k.key) })
		if i < 0 || found[keys[i].key] {
			continue
		}
		found[keys[i].key] = true
		w.inert = append(w.inert, note{Line: w.cfg.Problem(s.Key, "", "").Line, Key: keys[i].key, What: keys[i].what})
	}
	slices.SortStableFunc(w.inert, func(a, b note) int { return a.Line - b.Line })
}

// hasPrefix says whether a dotted key begins with the parts of a pattern.
func hasPrefix(key, pattern string) bool {
	parts := strings.Split(key, ".")
	want := strings.Split(pattern, ".")
	if len(parts) < len(want) {
		return false
	}
	for i, p := range want {
		if p != "*" && p != parts[i] {
			return false
		}
	}
	return true
}
