package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// crash is a power cut: what was not synced is forgotten. With a seed, chance lets
// some of it through first, as a disk does that was at work. It says what was lost.
// Every node from before it is stale.
func (t *tree) crash(chance *rand.Rand) (string, error) {
	said := t.loss()
	if chance != nil {
		torn, err := t.letThrough(chance)
		if err != nil {
			return "", err
		}
		said += torn
	}
	for id, n := range t.nodes {
		if n.content != nil {
			n.store.Close()
		}
		n.stale, n.content, n.now, n.disk = true, nil, nil, nil
		if n.refs = n.lookups + n.handles; n.refs == 0 {
			delete(t.nodes, id)
		}
	}
	t.pending = nil
	return said, t.load()
}

// loss counts what is not on the disk.
func (t *tree) loss() string {
	files, pages := 0, 0
	for _, n := range t.files() {
		if n.changed {
			files++
			pages += len(n.pages)
		}
	}
	return fmt.Sprintf("unsynced: files=%d pages=%d names=%d", files, pages, len(t.pending))
}

// letThrough puts a part of what is pending on the disk. Of the names, an operation
// gets through only if all before it in the same folders did.
func (t *tree) letThrough(chance *rand.Rand) (string, error) {
	var said []string
	for _, n := range t.files() {
		torn, err := n.tear(chance)
		if err != nil {
			return "", err
		}
		if torn != "" {
			said = append(said, fmt.Sprintf("file %d %s", n.id, torn))
		}
	}
	stop := chance.Float64()
	cut := map[*node]bool{}
	chosen := make([]bool, len(t.pending))
	through := 0
	for i, o := range t.pending {
		if o.touches(cut) || chance.Float64() < stop {
			for _, c := range o {
				cut[c.folder] = true
			}
			continue
		}
		chosen[i] = true
		through++
	}
	said = append(said, fmt.Sprintf("names through=%d", through))
	return "; " + strings.Join(said, ", "), t.apply(chosen)
}
