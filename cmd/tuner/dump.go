package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
)

// dumpLast is how many of the newest steps, events and actions a dump has.
const dumpLast = 20

func newDumpCommand(e *host.Env) *cobra.Command {
	var output, folder string
	last, derive := dumpLast, true
	cmd := &cobra.Command{
		Use:   "dump JOURNAL",
		Short: "Write one file for a bug report, without secrets",
		Long: `Write one JSON document that says what somebody who is to find a fault in a run
needs first: versions, platform, the configuration of each session, what the journal
holds and whether it is sound, the newest steps, events and actions, and whether every
decision derives as it was recorded. The same journal gives the same document on the
same computer.

Secrets are taken out: values of keys that say so, what follows such a word in a text,
passwords in addresses, and the secrets that the configuration names the places of,
wherever they turn up. The texts of the configuration files are not in it. Read it
before you send it all the same: what an instrument said is in it.`,
		Args:              oneFile("a journal"),
		ValidArgsFunction: completeFiles("db"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 0 {
				return fault.Usage(fmt.Errorf("--last is %d; it is a number of steps", last))
			}
			d := dumper{env: e, last: last, doc: newDumpDocument(), folders: []string{folder, filepath.Dir(args[0])}}
			if err := d.read(args[0]); err != nil {
				return err
			}
			if derive && d.reader != nil {
				d.derive(cmd, folder)
			}
			if err := d.close(); err != nil {
				return err
			}
			if output == "" || output == "-" {
				return d.write(e.Stdout)
			}
			return writeFile(output, d.write)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write (default stdout)")
	cmd.Flags().IntVar(&last, "last", dumpLast, "how many of the newest steps, events and actions")
	cmd.Flags().BoolVar(&derive, "replay", true, "derive every decision anew")
	cmd.Flags().StringVar(&folder, "folder", "", "where the files are that the configuration names (default the configuration's own folder)")
	return cmd
}

// dumpDocument is what a dump says.
type dumpDocument struct {
	Type     string       `json:"type"`
	Version  string       `json:"version"`
	Platform dumpPlatform `json:"platform"`
	Journal  dumpJournal  `json:"journal"`
	// Problems are what could not be found out.
	Problems       []string            `json:"problems"`
	Run            *dumpRun            `json:"run,omitempty"`
	Sessions       []dumpSession       `json:"sessions"`
	Configurations []dumpConfiguration `json:"configurations"`
	Counts         dumpCounts          `json:"counts"`
	Replay         string              `json:"replay"`
	Result         json.RawMessage     `json:"result"`
	Comparisons    []json.RawMessage   `json:"comparisons"`
	Steps          []dumpStep          `json:"steps"`
	Events         []dumpEvent         `json:"events"`
	Actions        []dumpAction        `json:"actions"`
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

func newDumpDocument() *dumpDocument {
	d := &dumpDocument{Type: "dump", Version: host.Version(), Problems: []string{}, Sessions: []dumpSession{},
		Configurations: []dumpConfiguration{}, Replay: "not derived", Result: json.RawMessage("null"), Comparisons: []json.RawMessage{},
		Steps: []dumpStep{}, Events: []dumpEvent{}, Actions: []dumpAction{},
		Platform: dumpPlatform{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}}
	d.Journal.Damage = []string{}
	return d
}

// dumper collects a dump.
type dumper struct {
	env    *host.Env
	last   int
	doc    *dumpDocument
	reader *journal.Reader // nil where the journal cannot be read
	redact *redactor
	// folders are where the files may lie that the configuration names.
	folders []string
}

// problem notes what could not be found out: a dump is made of what can be.
func (d *dumper) problem(what string, err error) {
	if err != nil {
		d.doc.Problems = append(d.doc.Problems, what+": "+err.Error())
	}
}

// read collects what the file says. Only a file that is not there is an error.
func (d *dumper) read(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return &disk.Error{Err: disk.ErrIO, Path: path, Detail: err.Error(), Cause: err}
	}
	d.redact = newRedactor(nil, d.env.Lookup, nil)
	d.doc.Journal.Bytes = info.Size()
	if log, err := os.Stat(path + "-wal"); err == nil {
		d.doc.Journal.LogBytes = log.Size()
	}
	fs, err := disk.Locate(path)
	d.problem("file system", err)
	d.doc.Platform.FileSystem, d.doc.Platform.SharedMemory = fs.Name, fs.SharedMemory
	r, err := journal.OpenReader(path)
	if err != nil {
		d.problem("open the journal", err)
		return nil
	}
	d.reader = r
	d.doc.Problems = append(d.doc.Problems, r.Notices()...)
	d.doc.Journal.Schema = r.Version()
	for _, damage := range r.Verify() {
		d.doc.Journal.Damage = append(d.doc.Journal.Damage, damage.String())
	}
	d.doc.Journal.Rows, err = r.Census()
	d.problem("count the rows", err)
	d.describe()
	d.story()
	return nil
}

// derive replays the run.
func (d *dumper) derive(cmd *cobra.Command, folder string) {
	replay, err := replayOf(d.reader, folder, d.env)
	if err != nil {
		d.doc.Replay = "cannot be derived: " + err.Error()
		return
	}
	done, err := replay.Run(cmd.Context(), d.reader)
	switch {
	case err != nil:
		d.doc.Replay = fmt.Sprintf("cannot be derived, after %d decisions that agree: %v", done.Steps, err)
	case done.First != nil:
		f := done.First
		d.doc.Replay = fmt.Sprintf("step %d differs, after %d that agree: the %s was %s, and is now %s", f.Step, done.Steps, f.What, f.Recorded, f.Derived)
	default:
		d.doc.Replay = fmt.Sprintf("%d decisions and %d steps of comparisons derive as they were recorded", done.Steps, done.Compared)
	}
}

func (d *dumper) close() error {
	if d.reader == nil {
		return nil
	}
	return d.reader.Close()
}

// write writes the document without secrets.
func (d *dumper) write(w io.Writer) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d.doc); err != nil {
		return errors.Join(errors.New("write the dump"), err)
	}
	_, err := w.Write(d.redact.document(b.Bytes()))
	return err
}
