package main

import (
	"errors"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// faults is what is wrong with the disk at present.
type faults struct {
	full, errors bool
	slow         time.Duration
}

// counts is what has happened since the start.
type counts struct {
	writes, bytes, syncs, folderSyncs, full, errors, crashes int
}

// server answers the kernel. One lock guards everything; a slow disk waits outside
// of it. Nothing is cached by time, so after a power cut the kernel asks anew; the
// pages it keeps belong to a node, and every node is new then.
type server struct {
	fuse.RawFileSystem
	mu      sync.Mutex
	tree    *tree
	faults  faults
	counts  counts
	folders map[uint64]*openFolder
	lastFh  uint64
}

func newServer(t *tree) *server {
	return &server{RawFileSystem: fuse.NewDefaultRawFileSystem(), tree: t, folders: map[uint64]*openFolder{}}
}

func (s *server) String() string { return "faultfs" }

// setFaults changes what is wrong.
func (s *server) setFaults(change func(*faults)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.faults)
}

// crash cuts the power.
func (s *server) crash(chance *rand.Rand) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.crashes++
	return s.tree.crash(chance)
}

// wait is how long the disk takes for a write or a sync.
func (s *server) wait() {
	s.mu.Lock()
	d := s.faults.slow
	s.mu.Unlock()
	time.Sleep(d)
}

// noRoom counts and tells a write that found the disk full.
func (s *server) noRoom() fuse.Status {
	s.counts.full++
	return fuse.Status(syscall.ENOSPC)
}

// broken counts and tells what a disk with errors says.
func (s *server) broken() fuse.Status {
	s.counts.errors++
	return fuse.EIO
}

// node is the node of a request, nil when it is from before a power cut.
func (s *server) node(id uint64) *node {
	if n := s.tree.nodes[id]; n != nil && !n.stale {
		return n
	}
	return nil
}

var stale = fuse.Status(syscall.ESTALE)

// status is what an error of the backing disk is to the caller.
func status(err error) fuse.Status {
	var no syscall.Errno
	if errors.As(err, &no) {
		return fuse.Status(no)
	}
	return fuse.ToStatus(err)
}

func attrOf(n *node, out *fuse.Attr) {
	*out = fuse.Attr{Ino: n.id, Mode: n.kind | n.perm, Nlink: uint32(n.names), Blksize: pageSize, Owner: fuse.Owner{Uid: n.uid, Gid: n.gid}}
	switch n.kind {
	case syscall.S_IFDIR:
		out.Nlink = 2
	case syscall.S_IFREG:
		out.Size = uint64(n.size)
		out.Blocks = (out.Size + 511) / 512
	case syscall.S_IFLNK:
		out.Size = uint64(len(n.target))
	}
	out.SetTimes(&n.atime, &n.mtime, &n.ctime)
}

// entry hands a node to the kernel, which will forget it one day.
func (s *server) entry(n *node, out *fuse.EntryOut) fuse.Status {
	n.lookups++
	n.refs++
	*out = fuse.EntryOut{NodeId: n.id, Generation: 1}
	attrOf(n, &out.Attr)
	return fuse.OK
}

func (s *server) Forget(id, lookups uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.tree.nodes[id]; n != nil && id != rootID {
		n.lookups -= int(lookups)
		s.tree.drop(n, int(lookups))
	}
}

func (s *server) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.node(in.NodeId)
	if n == nil {
		return stale
	}
	attrOf(n, &out.Attr)
	return fuse.OK
}

func (s *server) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.node(in.NodeId)
	if n == nil {
		return stale
	}
	now := time.Now()
	if size, ok := in.GetSize(); ok {
		if code := s.resize(n, int64(size), now); code != fuse.OK {
			return code
		}
	}
	if mode, ok := in.GetMode(); ok {
		n.perm = mode
	}
	if uid, ok := in.GetUID(); ok {
		n.uid = uid
	}
	if gid, ok := in.GetGID(); ok {
		n.gid = gid
	}
	if at, ok := in.GetATime(); ok {
		n.atime = at
	}
	if at, ok := in.GetMTime(); ok {
		n.mtime = at
	}
	n.ctime = now
	attrOf(n, &out.Attr)
	return status(s.tree.writeMeta(n))
}

func (s *server) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	var st syscall.Statfs_t
	if err := syscall.Statfs(s.tree.backing, &st); err != nil {
		return status(err)
	}
	out.FromStatfsT(&st)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults.full {
		out.Bfree, out.Bavail, out.Ffree = 0, 0, 0
	}
	return fuse.OK
}
