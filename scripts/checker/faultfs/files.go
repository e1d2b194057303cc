package main

import (
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// What the kernel asks of files and their content.

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
