package journal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/labtuner/tuner/safety"
)

// ControlState is what must survive a crash for the instrument's sake: what is
// latched, and what has been dosed. It is small, changes seldom, and is apart from
// the journal, so that a damaged or a new journal does not lose it.
type ControlState struct {
	// Generation grows with every change; the newer of two copies counts.
	Generation uint64 `json:"generation"`
	// Wall is when it was written. BootID and Uptime say when by a clock that cannot
	// be set: time since the machine's start counts while BootID is the same.
	Wall   time.Time     `json:"wall"`
	BootID string        `json:"boot_id"`
	Uptime time.Duration `json:"uptime_ns"`
	// At is the safety layer's own time then.
	At time.Duration `json:"at_ns"`
	// Mode is where the layer stood, for a reader.
	Mode string `json:"mode"`
	// Latched causes stay until they are reset; FirstOut came first.
	Latched  []ControlCause `json:"latched"`
	FirstOut []ControlCause `json:"first_out"`
	// Run names the run whose totals Doses has; "" in files that do not say.
	Run string `json:"run,omitempty"`
	// Doses by variable.
	Doses map[string]safety.DoseState `json:"doses"`
	// Starts are the times, by the safety layer's clock, at which a run began without a
	// person, of the last hour.
	Starts []time.Duration `json:"starts_ns,omitempty"`
	// Commands are those that were answered, nil where none was.
	Commands *CommandMemory `json:"commands,omitempty"`
	// Underway says that a run has made a step and has not come to its end: there is a journal.
	Underway bool `json:"underway,omitempty"`
	// Instrument is what it is about; the zero one in files that do not say.
	Instrument Instrument `json:"instrument,omitzero"`
	// Marks counts the calls of MarkAhead that this state makes superfluous.
	Marks uint64 `json:"-"`
}

// Instrument tells one instrument from others, whatever its run is called: what was latched
// belongs to it, and not to a name.
type Instrument struct {
	// Config is the configuration's path, Name the run's in it.
	Config string `json:"config"`
	Name   string `json:"name"`
	// Devices are the addresses of the devices that are set, each with its driver.
	Devices []string `json:"devices,omitempty"`
}

// ControlCause names a rule and what it is about.
type ControlCause struct {
	Rule safety.Rule `json:"rule"`
	Name string      `json:"name"`
	Of   string      `json:"of"`
}

// String is the rule with what it is about.
func (c ControlCause) String() string {
	if c.Of == "" {
		return c.Name
	}
	return c.Name + " of " + c.Of
}

// ErrControl: both copies of the control state are damaged. What was latched and
// what was dosed is not known.
var ErrControl = errors.New("control state is lost")

// ControlFile keeps a ControlState in two files, PATH-a and PATH-b, written in
// turn: each is written beside, synced and renamed, so that whatever happens one
// of them is whole. It is locked: one process keeps it.
type ControlFile struct {
	path   string
	lock   *lockFile
	holder Session // of the lock
	state  ControlState
	// instrument is what the next state is about, nil: what the last one was.
	instrument *Instrument
	// copies are the files of the two copies as this process has read or written them.
	copies [2]fileID
	// notices say what was wrong with a copy that another stood in for.
	notices []string
	// mu guards the mark. marked: the file markName is there, the markCount-th of this
	// process; covered is the newest mark that a written state knows of.
	mu                 sync.Mutex
	marked             bool
	markCount, covered uint64
	// files are replaced by tests.
	files controlFiles
}

// controlFiles is what a control file does to the disk.
type controlFiles interface {
	read(name string) ([]byte, error)
	replace(name string, data []byte) error
	mark(name string) error
	remove(name string) error
	identify(name string) (fileID, error)
}

// OpenControl locks and reads the control state at path; a state that there is not
// is the empty one. Where both copies are damaged the error wraps ErrControl, and
// the file is usable: what is written next is the new state.
func OpenControl(path string, s Session) (*ControlFile, error) {
	if s.PID == 0 {
		s.PID = os.Getpid()
	}
	for g := range uint64(2) {
		if err := noLink((&ControlFile{path: path}).copyName(g)); err != nil {
			return nil, err
		}
	}
	l, err := lock(path, s)
	if err != nil {
		return nil, err
	}
	c := &ControlFile{path: path, lock: l, holder: s, files: disk{}}
	return c, c.load()
}

// noLink refuses a copy that is a symbolic link: replacing it would leave what it points to
// behind as it was, for whoever reads that.
func noLink(name string) error {
	info, err := os.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil // what is wrong with it, reading it tells
	}
	return &Error{Err: ErrLinked, Path: name, Detail: "it is a symbolic link, which the next control state would replace, and not the file that it points to",
		Hint: "put the files of the control state themselves beside the journal, or make a link of the whole folder"}
}

// State is what was read or written last.
func (c *ControlFile) State() ControlState { return c.state }

// Notices say what was wrong with a copy that the other stood in for.
func (c *ControlFile) Notices() []string { return c.notices }

// Look sees whether the copies still are the files that this process has read or written,
// and the lock is its own. Where they are not, the state is written anew, to both copies: an
// older one that was put in their place must not be believed. It says what it found, "" if
// nothing. It is called by the goroutine that calls Write.
func (c *ControlFile) Look() (found string, err error) {
	if c.state.Generation == 0 {
		return "", nil // nothing was written yet
	}
	for g, want := range c.copies {
		id, err := c.files.identify(c.copyName(uint64(g)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", &Error{Err: ErrIO, Path: c.path, Detail: fmt.Sprintf("look whether the control state is still there: %v", err),
				Hint: "see that its folder can be read", Cause: err}
		}
		if id != want { // one that is missing has no identity
			found = fmt.Sprintf("%q was deleted or replaced under the run", c.copyName(uint64(g)))
		}
	}
	if found != "" {
		for range c.copies {
			s := c.state
			s.Marks = c.covered
			if err := c.Write(s); err != nil {
				return found, err
			}
		}
	}
	return found, c.keepLock()
}

// keepLock takes the lock again where its file was deleted.
func (c *ControlFile) keepLock() error {
	if same, err := isCurrent(c.lock.file, c.path+".lock"); same || err != nil {
		return err
	}
	l, err := lock(c.path, c.holder)
	if err != nil {
		return err
	}
	_ = c.lock.file.Close() // its file has no name any more
	c.lock = l
	return nil
}

// Belongs says what instrument the states are about that are written from now on.
func (c *ControlFile) Belongs(to Instrument) { c.instrument = &to }

// PeekControl reads the control state at path as it is, also while another process keeps
// it. The error wraps ErrControl where both copies are damaged.
func PeekControl(path string) (ControlState, error) {
	c := &ControlFile{path: path, files: disk{}}
	err := c.load()
	return c.state, err
}

// HasControl reports whether there is a control state at path.
func HasControl(path string) bool {
	c := &ControlFile{path: path}
	for g := range uint64(2) {
		if _, err := os.Lstat(c.copyName(g)); err == nil {
			return true
		}
	}
	return false
}

// Close lets go of the lock.
func (c *ControlFile) Close() error { return c.lock.release() }

// copyName is the file of a generation: the two take turns.
func (c *ControlFile) copyName(generation uint64) string {
	return c.path + [...]string{"-a", "-b"}[generation%2]
}

// load reads the newer of the copies that are whole.
func (c *ControlFile) load() error {
	found, whole := 0, 0
	var damage []error
	for g := range uint64(2) {
		name := c.copyName(g)
		data, err := c.files.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		found++
		if id, err := c.files.identify(name); err == nil {
			c.copies[g] = id
		}
		var s ControlState
		if err == nil {
			s, err = decodeControl(data)
		}
		if err == nil && s.Generation%2 != g {
			err = fmt.Errorf("generation %d is not of this copy", s.Generation)
		}
		if err != nil {
			damage = append(damage, fmt.Errorf("%q: %w", name, err))
			continue
		}
		if whole++; whole == 1 || s.Generation > c.state.Generation {
			c.state = s
		}
	}
	c.loadMark()
	if found > 0 && whole == 0 {
		return fmt.Errorf("%w: %w", ErrControl, errors.Join(damage...))
	}
	for _, err := range damage {
		c.notices = append(c.notices, fmt.Sprintf("one copy of the control state is damaged: %v; the other, generation %d, stands in for it", err, c.state.Generation))
	}
	return nil
}

// Write makes s durable as the next generation. When it returns nil, a crash at any
// later time finds s; when it fails, a crash finds the state before, or s. A state with
// something latched is then marked as lost, so that a crash finds it latched all the same.
func (c *ControlFile) Write(s ControlState) error {
	s.Generation = c.state.Generation + 1
	switch {
	case c.instrument != nil:
		s.Instrument = *c.instrument
	case s.Instrument.Config == "":
		s.Instrument = c.state.Instrument
	}
	data, err := encodeControl(s)
	if err != nil {
		return err
	}
	name := c.copyName(s.Generation)
	if err = c.files.replace(name, data); err == nil {
		c.copies[s.Generation%2], err = c.files.identify(name)
	}
	if err != nil {
		return c.mark(&s, &Error{Err: ErrIO, Path: c.path, Detail: fmt.Sprintf("write the control state: %v", err),
			Hint: "see that the disk is not full and can be written", Cause: err})
	}
	c.state = s
	return c.unmark(s.Marks)
}

// controlMagic begins a copy; the number is the format's.
const controlMagic = "tunerCS1"

// controlMax bounds a copy, so that a garbled length is not believed.
const controlMax = 1 << 20

// encodeControl frames a state: magic, length, JSON, CRC-32C of all that.
func encodeControl(s ControlState) ([]byte, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the control state: %w", err)
	}
	out := append([]byte(controlMagic), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(out[len(controlMagic):], uint32(len(body)))
	out = append(out, body...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, crc32.MakeTable(crc32.Castagnoli))), nil
}

// decodeControl is the inverse of encodeControl; it believes nothing that does not
// match its checksum.
func decodeControl(data []byte) (s ControlState, err error) {
	const head = len(controlMagic) + 4
	if len(data) < head+4 || string(data[:len(controlMagic)]) != controlMagic {
		return s, errors.New("it is cut short, or none of tuner's")
	}
	n := binary.LittleEndian.Uint32(data[len(controlMagic):])
	if n > controlMax || len(data) != head+int(n)+4 {
		return s, fmt.Errorf("it has %d bytes and says %d", len(data), n)
	}
	body := data[:head+int(n)]
	if crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(data[len(body):]) {
		return s, errors.New("its checksum does not match")
	}
	if err := json.Unmarshal(body[head:], &s); err != nil {
		return s, fmt.Errorf("its text cannot be read: %w", err)
	}
	return s, nil
}

// disk is the real one.
type disk struct{}

// identify tells one content of a name from the next: the copies are not open.
func (disk) identify(name string) (id fileID, err error) {
	info, err := os.Lstat(name)
	if err != nil {
		return id, err
	}
	id = identityOf(info)
	id.changed = info.ModTime().UnixNano()
	return id, nil
}

func (disk) read(name string) ([]byte, error) { return os.ReadFile(name) }

// replace writes beside, syncs, renames and syncs the folder: at no time is there a
// half-written file of that name. The file keeps the mode that it has; a new one is its
// user's alone.
func (disk) replace(name string, data []byte) error {
	mode := os.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), ownAsFolder(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+".new", name); err != nil {
		return err
	}
	return syncFolder(name)
}
