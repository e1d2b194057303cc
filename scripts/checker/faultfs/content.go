package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

const (
	pageSize   = 4096
	sectorSize = 512 // what a disk writes whole or not at all
)

// content is what a regular file holds: the bytes that are on the disk, in store,
// and over them the pages that were written since the last fsync.
type content struct {
	store *os.File
	// size is the length that a reader sees.
	size int64
	// floor is the shortest that the file has been since the last fsync: what the
	// disk has at floor and after it was cut off, and is not seen.
	floor int64
	pages map[int64]*[pageSize]byte
	// changed says that something happened since the last fsync; lastAt and lastEnd
	// limit the last write, which a power cut may tear.
	changed         bool
	lastAt, lastEnd int64
}

func newContent(store *os.File, size int64) *content {
	return &content{store: store, size: size, floor: size, pages: map[int64]*[pageSize]byte{}}
}

// readDisk fills b from the disk, with zeros from floor on.
func (c *content) readDisk(b []byte, off int64) error {
	clear(b)
	if off >= c.floor {
		return nil
	}
	_, err := c.store.ReadAt(b[:min(int64(len(b)), c.floor-off)], off)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// read fills b from off on and returns how much of it is the file's.
func (c *content) read(b []byte, off int64) (int, error) {
	if off >= c.size {
		return 0, nil
	}
	b = b[:min(int64(len(b)), c.size-off)]
	for done := 0; done < len(b); {
		at := off + int64(done)
		part := b[done:min(len(b), done+int(pageSize-at%pageSize))]
		if p := c.pages[at/pageSize]; p != nil {
			copy(part, p[at%pageSize:])
		} else if err := c.readDisk(part, at); err != nil {
			return done, err
		}
		done += len(part)
	}
	return len(b), nil
}

// write puts b at off, in memory.
func (c *content) write(b []byte, off int64) error {
	for done := 0; done < len(b); {
		at := off + int64(done)
		p := c.pages[at/pageSize]
		if p == nil {
			p = new([pageSize]byte)
			if err := c.readDisk(p[:], at-at%pageSize); err != nil {
				return err
			}
			c.pages[at/pageSize] = p
		}
		done += copy(p[at%pageSize:], b[done:])
	}
	c.size = max(c.size, off+int64(len(b)))
	c.changed, c.lastAt, c.lastEnd = true, off, off+int64(len(b))
	return nil
}

// truncate makes the file size long, in memory.
func (c *content) truncate(size int64) {
	if size < c.size {
		for i, p := range c.pages {
			switch at := i * pageSize; {
			case at >= size:
				delete(c.pages, i)
			case at+pageSize > size:
				clear(p[size-at:])
			}
		}
		c.floor = min(c.floor, size)
	}
	c.size = size
	c.changed, c.lastAt, c.lastEnd = true, size, size
}

// sync puts everything on the disk.
func (c *content) sync() error {
	return c.survive(c.size, true, func(int64) bool { return true })
}

// survive puts on the disk the sectors of the written pages that alive names by
// where they begin, cuts off what was cut off, if cut says so, and makes the file at least size
// long. Afterwards nothing is pending.
func (c *content) survive(size int64, cut bool, alive func(at int64) bool) error {
	if cut {
		if err := c.store.Truncate(c.floor); err != nil {
			return err
		}
	}
	for i, p := range c.pages {
		for at := i * pageSize; at < min((i+1)*pageSize, size); at += sectorSize {
			if !alive(at) {
				continue
			}
			if _, err := c.store.WriteAt(p[at%pageSize:][:min(sectorSize, size-at)], at); err != nil {
				return err
			}
		}
	}
	info, err := c.store.Stat()
	if err != nil {
		return err
	}
	if info.Size() < size {
		if err := c.store.Truncate(size); err != nil {
			return err
		}
	}
	c.forget(max(size, info.Size()))
	return nil
}

// forget leaves what is on the disk, which is size long.
func (c *content) forget(size int64) {
	c.size, c.floor, c.changed, c.lastAt, c.lastEnd = size, size, false, 0, 0
	clear(c.pages)
}

// tear lets chance say what of the pending writes has reached the disk when the
// power goes: nothing, everything but the end of the last write, or some sectors.
func (c *content) tear(chance *rand.Rand) (string, error) {
	if !c.changed {
		return "", nil
	}
	info, err := c.store.Stat()
	if err != nil {
		return "", err
	}
	disk := info.Size()
	switch chance.IntN(3) {
	case 0:
		c.forget(disk)
		return "lost", nil
	case 1: // in order, up to a sector of the last write
		torn := c.lastAt
		if sectors := (c.lastEnd - c.lastAt + sectorSize - 1) / sectorSize; sectors > 0 {
			torn += chance.Int64N(sectors+1) * sectorSize
		}
		torn -= torn % sectorSize
		size := c.size
		if c.lastEnd == c.size { // the last write has made it as long as it is
			size = min(size, max(torn, c.floor))
		}
		return fmt.Sprintf("torn at %d", torn), c.survive(size, true, func(at int64) bool {
			return at < torn || at >= c.lastEnd
		})
	default: // in no order
		share := chance.Float64()
		alive := map[int64]bool{}
		end := c.floor
		for _, i := range sortedKeys(c.pages) {
			for at := i * pageSize; at < min((i+1)*pageSize, c.size); at += sectorSize {
				if alive[at] = chance.Float64() < share; alive[at] {
					end = max(end, min(at+sectorSize, c.size))
				}
			}
		}
		cut := c.floor < disk && chance.IntN(2) == 0
		if !cut && c.floor < disk { // what was cut off is still there
			end = max(end, disk)
		}
		return fmt.Sprintf("%.0f %% of the sectors", 100*share), c.survive(end, cut, func(at int64) bool { return alive[at] })
	}
}
