package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// storeName is the folder inside the backing folder that holds every regular
// file's bytes under its number, whether a name for it is on the disk or not.
// The files beside it are hard links to these.
const storeName = ".faultfs"

const rootID = 1 // what FUSE calls the root

// node is a file, folder or symbolic link.
type node struct {
	id   uint64
	kind uint32 // S_IFREG, S_IFDIR or S_IFLNK
	meta
	// refs counts what keeps the node: names that are seen, names on the disk, pending
	// changes, open handles and what the kernel remembers.
	refs int
	// names counts the names that are seen, handles what has it open, lookups what the
	// kernel remembers.
	names, handles, lookups int
	// stale is a node from before a power cut.
	stale bool

	*content        // of a regular file
	target   string // of a symbolic link

	// now is what a folder is seen to hold, disk what it holds on the disk.
	now, disk map[string]*node
	// at is the folder's path in the backing folder, empty while it has none there.
	at string
}

// meta is what takes effect at once, on the disk too: a power cut leaves it alone.
type meta struct {
	perm     uint32
	uid, gid uint32
	atime    time.Time
	mtime    time.Time
	ctime    time.Time
}

// change is one name in one folder that stands for another node than before, or
// for none.
type change struct {
	folder *node
	name   string
	node   *node
}

// operation is what becomes durable as a whole: one change, or the two of a rename.
type operation []change

func (o operation) touches(folders map[*node]bool) bool {
	return slices.ContainsFunc(o, func(c change) bool { return folders[c.folder] })
}

// tree is the whole file system: what is seen, and what is on the disk.
type tree struct {
	backing string
	root    *node
	nodes   map[uint64]*node
	lastID  uint64
	// pending are the operations that are not on the disk, oldest first.
	pending []operation
}

// newTree takes what the backing folder holds for what is on the disk.
func newTree(backing string) (*tree, error) {
	t := &tree{backing: backing, nodes: map[uint64]*node{}, lastID: rootID}
	return t, t.load()
}

// load reads the backing folder.
func (t *tree) load() error {
	if err := t.closeStore(); err != nil {
		return err
	}
	if err := os.Mkdir(t.store(), 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(t.backing)
	if err != nil {
		return err
	}
	t.root = &node{id: rootID, kind: syscall.S_IFDIR, meta: metaOf(info), refs: 1, names: 1, at: t.backing}
	t.nodes[rootID] = t.root
	return t.loadFolder(t.root, map[uint64]*node{})
}

// closeStore removes the store: what has no name is gone.
func (t *tree) closeStore() error { return os.RemoveAll(t.store()) }

func (t *tree) store() string { return filepath.Join(t.backing, storeName) }

func (t *tree) storeOf(n *node) string {
	return filepath.Join(t.store(), strconv.FormatUint(n.id, 10))
}

// loadFolder reads a folder; seen has the files by their number on the backing
// disk, for those with several names.
func (t *tree) loadFolder(folder *node, seen map[uint64]*node) error {
	folder.now, folder.disk = map[string]*node{}, map[string]*node{}
	entries, err := os.ReadDir(folder.at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(folder.at, e.Name())
		if path == t.store() {
			continue
		}
		n, err := t.loadNode(path, seen)
		if err != nil {
			return err
		}
		folder.now[e.Name()], folder.disk[e.Name()] = n, n
		n.names++
		n.refs += 2
		if n.kind == syscall.S_IFDIR {
			n.at = path
			if err := t.loadFolder(n, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tree) loadNode(path string, seen map[uint64]*node) (*node, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	ino := info.Sys().(*syscall.Stat_t).Ino
	if n := seen[ino]; n != nil {
		return n, nil
	}
	n := t.add(metaOf(info))
	switch {
	case info.IsDir():
		n.kind = syscall.S_IFDIR
		return n, nil
	case info.Mode()&fs.ModeSymlink != 0:
		n.kind = syscall.S_IFLNK
		n.target, err = os.Readlink(path)
		return n, err
	case info.Mode().IsRegular():
		seen[ino] = n
		n.kind = syscall.S_IFREG
		if err := os.Link(path, t.storeOf(n)); err != nil {
			return nil, err
		}
		return n, t.open(n, info.Size())
	}
	return nil, fmt.Errorf("%s is neither file, folder nor symbolic link: %s", path, info.Mode())
}

// open opens the bytes of a regular file.
func (t *tree) open(n *node, size int64) error {
	store, err := os.OpenFile(t.storeOf(n), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	n.content = newContent(store, size)
	return nil
}

func metaOf(info fs.FileInfo) meta {
	s := info.Sys().(*syscall.Stat_t)
	return meta{
		perm: s.Mode &^ syscall.S_IFMT, uid: s.Uid, gid: s.Gid,
		atime: time.Unix(s.Atim.Unix()), mtime: time.Unix(s.Mtim.Unix()), ctime: time.Unix(s.Ctim.Unix()),
	}
}

func (t *tree) add(m meta) *node {
	t.lastID++
	n := &node{id: t.lastID, meta: m}
	t.nodes[n.id] = n
	return n
}

// drop takes away count references, and the node with the last.
func (t *tree) drop(n *node, count int) {
	n.refs -= count
	if n.refs > 0 || n.id == rootID {
		return
	}
	delete(t.nodes, n.id)
	if n.stale {
		return
	}
	for _, m := range []map[string]*node{n.now, n.disk} {
		for _, child := range m {
			t.drop(child, 1)
		}
	}
	if n.content != nil {
		n.store.Close()
		os.Remove(t.storeOf(n))
	}
}

// do makes an operation seen, and keeps it for a power cut to forget.
func (t *tree) do(o operation) {
	now := time.Now()
	for _, c := range o {
		old := c.folder.now[c.name]
		c.folder.refs++
		if c.node != nil {
			c.folder.now[c.name] = c.node
			c.node.names++
			c.node.refs += 2 // its name and the operation
		} else {
			delete(c.folder.now, c.name)
		}
		c.folder.mtime, c.folder.ctime = now, now
		if old != nil {
			old.names--
			old.ctime = now
			t.drop(old, 1)
		}
	}
	t.pending = append(t.pending, o)
}

// syncFolder puts on the disk what has happened to the names in a folder, and what
// that rests on: a rename out of another folder takes along what came before it there.
func (t *tree) syncFolder(folder *node) error {
	folders := map[*node]bool{folder: true}
	chosen := make([]bool, len(t.pending))
	for i, o := range slices.Backward(t.pending) {
		if o.touches(folders) {
			chosen[i] = true
			for _, c := range o {
				folders[c.folder] = true
			}
		}
	}
	return t.apply(chosen)
}

// apply puts the chosen operations on the disk, oldest first.
func (t *tree) apply(chosen []bool) error {
	var left []operation
	for i, o := range t.pending {
		if !chosen[i] {
			left = append(left, o)
			continue
		}
		for _, c := range o {
			if err := t.persist(c); err != nil {
				return err
			}
		}
		for _, c := range o {
			if c.node != nil {
				t.drop(c.node, 1)
			}
			t.drop(c.folder, 1)
		}
	}
	t.pending = left
	return nil
}

// persist makes one change in the backing folder.
func (t *tree) persist(c change) error {
	old := c.folder.disk[c.name]
	path := filepath.Join(c.folder.at, c.name)
	if old != nil {
		delete(c.folder.disk, c.name)
		if c.folder.at != "" {
			forgetPath(old)
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	if c.node != nil {
		c.folder.disk[c.name] = c.node
		c.node.refs++
		if c.folder.at != "" {
			if err := t.place(c.node, path); err != nil {
				return err
			}
		}
	}
	if old != nil {
		t.drop(old, 1)
	}
	return nil
}

// place makes a node, with all that a folder holds on the disk, at a path of the
// backing folder.
func (t *tree) place(n *node, path string) error {
	switch n.kind {
	case syscall.S_IFREG:
		return os.Link(t.storeOf(n), path)
	case syscall.S_IFLNK:
		return os.Symlink(n.target, path)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	n.at = path
	for name, child := range n.disk {
		if err := t.place(child, filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return t.writeMeta(n)
}

// forgetPath says that a folder is in the backing folder no longer.
func forgetPath(n *node) {
	n.at = ""
	for _, child := range n.disk {
		if child.kind == syscall.S_IFDIR && child.at != "" {
			forgetPath(child)
		}
	}
}

// writeMeta brings mode, owner and times to the backing folder.
func (t *tree) writeMeta(n *node) error {
	path := n.at
	switch {
	case n.kind == syscall.S_IFREG:
		path = t.storeOf(n)
	case path == "" || n.kind == syscall.S_IFLNK:
		return nil
	}
	if err := os.Lchown(path, int(n.uid), int(n.gid)); err != nil {
		return err
	}
	if err := syscall.Chmod(path, n.perm); err != nil {
		return err
	}
	return os.Chtimes(path, n.atime, n.mtime)
}

// syncAll puts everything on the disk, as an orderly end does.
func (t *tree) syncAll() error {
	for _, n := range t.files() {
		if err := n.sync(); err != nil {
			return err
		}
		if err := t.writeMeta(n); err != nil {
			return err
		}
	}
	all := make([]bool, len(t.pending))
	for i := range all {
		all[i] = true
	}
	return t.apply(all)
}

// files are the regular files that are there, by number.
func (t *tree) files() []*node {
	var files []*node
	for _, id := range sortedKeys(t.nodes) {
		if n := t.nodes[id]; n.content != nil && !n.stale {
			files = append(files, n)
		}
	}
	return files
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
