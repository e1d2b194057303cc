package main

import (
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// What the kernel asks of names: to look one up, make, move and remove it.

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
