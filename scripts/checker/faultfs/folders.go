package main

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// What the kernel asks of folders: to list and to sync them.

// openFolder is a folder being listed, as it was when it was opened.
type openFolder struct {
	node    *node
	entries []fuse.DirEntry
}

func (s *server) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	s.mu.Lock()
	f := s.folders[in.Fh]
	s.mu.Unlock()
	if f == nil || f.node.stale { // the root keeps its number
		return fuse.EIO
	}
	return s.synced(in.NodeId, func(n *node) error {
		s.counts.folderSyncs++
		return s.tree.syncFolder(n)
	})
}

func (s *server) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.node(in.NodeId)
	if n == nil {
		return stale
	}
	f := &openFolder{node: n, entries: []fuse.DirEntry{{Name: ".", Mode: syscall.S_IFDIR, Ino: n.id}, {Name: "..", Mode: syscall.S_IFDIR}}}
	for _, name := range sortedKeys(n.now) {
		f.entries = append(f.entries, fuse.DirEntry{Name: name, Mode: n.now[name].kind, Ino: n.now[name].id})
	}
	s.lastFh++
	s.folders[s.lastFh] = f
	out.Fh = s.lastFh
	n.handles++
	n.refs++
	return fuse.OK
}

func (s *server) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.folders[in.Fh]
	if f == nil || f.node.stale {
		return fuse.EIO
	}
	for at := in.Offset; at < uint64(len(f.entries)); at++ {
		if !out.AddDirEntry(f.entries[at]) {
			break
		}
	}
	return fuse.OK
}

func (s *server) ReleaseDir(in *fuse.ReleaseIn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.folders[in.Fh]; f != nil {
		delete(s.folders, in.Fh)
		f.node.handles--
		s.tree.drop(f.node, 1)
	}
}
