package main

import (
	"errors"
	"math/rand/v2"
	"slices"
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

// openFolder is a folder being listed, as it was when it was opened.
type openFolder struct {
	node    *node
	entries []fuse.DirEntry
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

func (s *server) Lookup(_ <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	folder := s.node(header.NodeId)
	if folder == nil {
		return stale
	}
	if n := folder.now[name]; n != nil {
		return s.entry(n, out)
	}
	return fuse.ENOENT
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

func (s *server) resize(n *node, size int64, now time.Time) fuse.Status {
	switch {
	case n.content == nil:
		return fuse.EINVAL
	case s.faults.errors:
		return s.broken()
	case s.faults.full && size > n.size:
		return s.noRoom()
	}
	n.truncate(size)
	n.mtime = now
	return fuse.OK
}

// fresh makes a node and its name.
func (s *server) fresh(header *fuse.InHeader, name string, kind, perm uint32, target string, out *fuse.EntryOut) fuse.Status {
	folder := s.node(header.NodeId)
	switch {
	case folder == nil:
		return stale
	case folder.now[name] != nil:
		return fuse.Status(syscall.EEXIST)
	case folder == s.tree.root && name == storeName:
		return fuse.EPERM
	case s.faults.full:
		return s.noRoom()
	}
	now := time.Now()
	n := s.tree.add(meta{perm: perm & 0o7777, uid: header.Uid, gid: header.Gid, atime: now, mtime: now, ctime: now})
	n.kind, n.target = kind, target
	switch kind {
	case syscall.S_IFREG:
		if err := s.tree.open(n, 0); err != nil {
			return status(err)
		}
		if err := s.tree.writeMeta(n); err != nil {
			return status(err)
		}
	case syscall.S_IFDIR:
		n.now, n.disk = map[string]*node{}, map[string]*node{}
	}
	s.tree.do(operation{{folder, name, n}})
	return s.entry(n, out)
}

func (s *server) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	return s.fresh(&in.InHeader, name, syscall.S_IFREG, in.Mode, "", out)
}

func (s *server) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh(&in.InHeader, name, syscall.S_IFDIR, in.Mode, "", out)
}

func (s *server) Symlink(_ <-chan struct{}, header *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh(header, name, syscall.S_IFLNK, 0o777, target, out)
}

func (s *server) Readlink(_ <-chan struct{}, header *fuse.InHeader) ([]byte, fuse.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.node(header.NodeId)
	if n == nil {
		return nil, stale
	}
	return []byte(n.target), fuse.OK
}

func (s *server) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	folder, n := s.node(in.NodeId), s.node(in.Oldnodeid)
	switch {
	case folder == nil || n == nil:
		return stale
	case folder.now[name] != nil:
		return fuse.Status(syscall.EEXIST)
	case n.kind == syscall.S_IFDIR || folder == s.tree.root && name == storeName:
		return fuse.EPERM
	case s.faults.full:
		return s.noRoom()
	}
	s.tree.do(operation{{folder, name, n}})
	return s.entry(n, out)
}

func (s *server) Unlink(_ <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	return s.remove(header, name, func(n *node) fuse.Status {
		if n.kind == syscall.S_IFDIR {
			return fuse.Status(syscall.EISDIR)
		}
		return fuse.OK
	})
}

func (s *server) Rmdir(_ <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	return s.remove(header, name, func(n *node) fuse.Status {
		switch {
		case n.kind != syscall.S_IFDIR:
			return fuse.ENOTDIR
		case len(n.now) > 0:
			return fuse.Status(syscall.ENOTEMPTY)
		}
		return fuse.OK
	})
}

func (s *server) remove(header *fuse.InHeader, name string, may func(*node) fuse.Status) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	folder := s.node(header.NodeId)
	if folder == nil {
		return stale
	}
	n := folder.now[name]
	if n == nil {
		return fuse.ENOENT
	}
	if code := may(n); code != fuse.OK {
		return code
	}
	s.tree.do(operation{{folder, name, nil}})
	return fuse.OK
}

// Of renameat2(2).
const (
	renameNoReplace = 1
	renameExchange  = 2
)

func (s *server) Rename(_ <-chan struct{}, in *fuse.RenameIn, oldName, newName string) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, to := s.node(in.NodeId), s.node(in.Newdir)
	if from == nil || to == nil {
		return stale
	}
	n, over := from.now[oldName], to.now[newName]
	switch {
	case n == nil || in.Flags&renameExchange != 0 && over == nil:
		return fuse.ENOENT
	case in.Flags&^(renameNoReplace|renameExchange) != 0:
		return fuse.EINVAL
	case to == s.tree.root && newName == storeName:
		return fuse.EPERM
	case in.Flags&renameNoReplace != 0 && over != nil:
		return fuse.Status(syscall.EEXIST)
	case n == over:
		return fuse.OK
	case in.Flags&renameExchange != 0:
		s.tree.do(operation{{from, oldName, over}, {to, newName, n}})
		return fuse.OK
	case over != nil && over.kind == syscall.S_IFDIR && n.kind != syscall.S_IFDIR:
		return fuse.Status(syscall.EISDIR)
	case over != nil && over.kind != syscall.S_IFDIR && n.kind == syscall.S_IFDIR:
		return fuse.ENOTDIR
	case over != nil && len(over.now) > 0:
		return fuse.Status(syscall.ENOTEMPTY)
	}
	s.tree.do(operation{{from, oldName, nil}, {to, newName, n}})
	return fuse.OK
}

func (s *server) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if code := s.fresh(&in.InHeader, name, syscall.S_IFREG, in.Mode, "", &out.EntryOut); code != fuse.OK {
		return code
	}
	return s.openFile(s.tree.nodes[out.NodeId], in.Flags, &out.OpenOut)
}

func (s *server) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.node(in.NodeId)
	if n == nil {
		return stale
	}
	return s.openFile(n, in.Flags, out)
}

// openFile lets the kernel keep its pages: nothing but a power cut changes a file
// behind its back.
func (s *server) openFile(n *node, flags uint32, out *fuse.OpenOut) fuse.Status {
	if flags&syscall.O_TRUNC != 0 && n.size > 0 {
		if code := s.resize(n, 0, time.Now()); code != fuse.OK {
			return code
		}
	}
	n.handles++
	n.refs++
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

func (s *server) Release(_ <-chan struct{}, in *fuse.ReleaseIn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.tree.nodes[in.NodeId]; n != nil {
		n.handles--
		s.tree.drop(n, 1)
	}
}

func (s *server) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (s *server) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.node(in.NodeId)
	if n == nil {
		return nil, fuse.EIO
	}
	got, err := n.read(buf, int64(in.Offset))
	return fuse.ReadResultData(buf[:got]), status(err)
}

func (s *server) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	return s.Writev(nil, in, [][]byte{data})
}

func (s *server) Writev(_ <-chan struct{}, in *fuse.WriteIn, data [][]byte) (uint32, fuse.Status) {
	s.wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.node(in.NodeId)
	switch {
	case n == nil:
		return 0, fuse.EIO
	case s.faults.errors:
		return 0, s.broken()
	}
	b, off := slices.Concat(data...), int64(in.Offset)
	if s.faults.full && off+int64(len(b)) > n.size {
		if off >= n.size {
			return 0, s.noRoom()
		}
		b = b[:n.size-off] // what is written over needs no room
	}
	if err := n.write(b, off); err != nil {
		return 0, status(err)
	}
	s.counts.writes++
	s.counts.bytes += len(b)
	n.mtime = time.Now()
	n.ctime = n.mtime
	return uint32(len(b)), fuse.OK
}

func (s *server) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.node(in.NodeId)
	switch end := int64(in.Offset + in.Length); {
	case n == nil:
		return fuse.EIO
	case in.Mode != 0:
		return fuse.Status(syscall.EOPNOTSUPP)
	case end > n.size:
		return s.resize(n, end, time.Now())
	}
	return fuse.OK
}

func (s *server) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return s.synced(in.NodeId, func(n *node) error {
		s.counts.syncs++
		if err := n.sync(); err != nil {
			return err
		}
		return s.tree.writeMeta(n)
	})
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

// synced does a sync after the time that the disk takes, unless the disk fails. A
// failed one leaves what is pending as it was: a later one may put it on the disk.
func (s *server) synced(id uint64, do func(*node) error) fuse.Status {
	s.wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.node(id)
	switch {
	case n == nil:
		return fuse.EIO
	case s.faults.errors:
		return s.broken()
	}
	return status(do(n))
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
