// Package dump is tuner dump: what another person needs to understand a run, in one JSON document
// without secrets.
//
// A [Collector] reads a journal, also a damaged one, and fills a [Document]: the configurations
// with their secrets taken out, sessions, counts, the newest steps, events and actions, the
// result, and whether replay agrees. What cannot be found out is listed among its problems.
package dump

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/export"
)

// Document is what a dump says.
type Document struct {
	Type     string       `json:"type"`
	Version  string       `json:"version"`
	Platform dumpPlatform `json:"platform"`
	Journal  dumpJournal  `json:"journal"`
	// Problems are what could not be found out.
	Problems       []string             `json:"problems"`
	Run            *export.RunLine      `json:"run,omitempty"`
	Finished       bool                 `json:"finished"`
	Reason         string               `json:"reason"`
	Sessions       []export.SessionLine `json:"sessions"`
	Configurations []dumpConfiguration  `json:"configurations"`
	Counts         dumpCounts           `json:"counts"`
	Replay         string               `json:"replay"`
	Result         json.RawMessage      `json:"result"`
	Comparisons    []json.RawMessage    `json:"comparisons"`
	Steps          []dumpStep           `json:"steps"`
	Events         []export.EventLine   `json:"events"`
	Actions        []export.ActionLine  `json:"actions"`
}

// dumpPlatform is the computer that the dump was made on.
type dumpPlatform struct {
	Go   string `json:"go"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	// FileSystem is the kind of the place that the journal lies in, SharedMemory whether a
	// write-ahead log works there.
	FileSystem   string `json:"file_system"`
	SharedMemory bool   `json:"shared_memory"`
}

// dumpJournal is the file.
type dumpJournal struct {
	Bytes    int64            `json:"bytes"`
	LogBytes int64            `json:"log_bytes"`
	Schema   int              `json:"schema"`
	Rows     map[string]int64 `json:"rows"`
	// Damage is all that is wrong with it.
	Damage []string `json:"damage"`
}

func NewDocument() *Document {
	d := &Document{Type: "dump", Version: host.Version(), Problems: []string{}, Sessions: []export.SessionLine{},
		Configurations: []dumpConfiguration{}, Replay: "not derived", Result: json.RawMessage("null"), Comparisons: []json.RawMessage{},
		Steps: []dumpStep{}, Events: []export.EventLine{}, Actions: []export.ActionLine{},
		Platform: dumpPlatform{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}}
	d.Journal.Damage = []string{}
	return d
}

// Collector collects a dump.
type Collector struct {
	Env    *host.Env
	Last   int
	Doc    *Document
	Reader *journal.Reader // nil where the journal cannot be read
	redact *redactor
	// folders are where the files may lie that the configuration names.
	Folders []string
}

// problem notes what could not be found out: a dump is made of what can be.
func (d *Collector) problem(what string, err error) {
	if err != nil {
		d.Doc.Problems = append(d.Doc.Problems, what+": "+err.Error())
	}
}

// Read collects what the file says. Only a file that is not there is an error.
func (d *Collector) Read(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return &disk.Error{Err: disk.ErrIO, Path: path, Detail: err.Error(), Cause: err}
	}
	d.redact = newRedactor(nil, d.Env.Lookup, nil)
	d.Doc.Journal.Bytes = info.Size()
	if log, err := os.Stat(path + "-wal"); err == nil {
		d.Doc.Journal.LogBytes = log.Size()
	}
	fs, err := disk.Locate(path)
	d.problem("file system", err)
	d.Doc.Platform.FileSystem, d.Doc.Platform.SharedMemory = fs.Name, fs.SharedMemory
	r, err := journal.OpenReader(path)
	if err != nil {
		d.problem("open the journal", err)
		return nil
	}
	d.Reader = r
	d.Doc.Problems = append(d.Doc.Problems, r.Notices()...)
	d.Doc.Journal.Schema = r.Version()
	for _, damage := range r.Verify() {
		d.Doc.Journal.Damage = append(d.Doc.Journal.Damage, damage.String())
	}
	d.Doc.Journal.Rows, err = r.Census()
	d.problem("count the rows", err)
	d.describe()
	d.story()
	return nil
}

// Derive replays the run.
func (d *Collector) Derive(ctx context.Context, folder string) {
	replay, err := setup.Decisions(d.Reader, folder, d.Env)
	if err != nil {
		d.Doc.Replay = "cannot be derived: " + err.Error()
		return
	}
	done, err := replay.Run(ctx, d.Reader)
	switch {
	case err != nil:
		d.Doc.Replay = fmt.Sprintf("cannot be derived, after %d decisions that agree: %v", done.Steps, err)
	case done.First != nil:
		f := done.First
		d.Doc.Replay = fmt.Sprintf("step %d differs, after %d that agree: the %s was %s, and is now %s", f.Step, done.Steps, f.What, f.Recorded, f.Derived)
	default:
		d.Doc.Replay = fmt.Sprintf("%d decisions and %d steps of comparisons come out as they were recorded", done.Steps, done.Compared)
		if done.Foreign > 0 {
			d.Doc.Replay += fmt.Sprintf("; %d were made by a version that decides otherwise", done.Foreign)
		}
	}
}

func (d *Collector) Close() error {
	if d.Reader == nil {
		return nil
	}
	return d.Reader.Close()
}

// Write writes the document without secrets.
func (d *Collector) Write(w io.Writer) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d.Doc); err != nil {
		return errors.Join(errors.New("write the dump"), err)
	}
	_, err := w.Write(d.redact.document(b.Bytes()))
	return err
}

// LastDefault is how many of the newest steps, events and actions a dump has.
const LastDefault = 20
