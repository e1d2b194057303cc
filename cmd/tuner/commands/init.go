package commands

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/examine"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/wizard"
	"github.com/labtuner/tuner/drivers"
)

// initFlags are the flags of tuner init.
type initFlags struct {
	devices []string
	probe   bool
	page    bool
	purpose examine.Purpose
}

func newInitCommand(e *host.Env) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init FILE",
		Short: "Write a first configuration from what answers",
		Long: `Look what answers, and write a commented first configuration for it, which tuner check
accepts. Looking reads and asks; nothing is moved. A FILE that is there is never
overwritten.

A device is DRIVER=WHERE: a program, a broker, a serial port, an OPC UA server. Without one the usual
places are looked at; a serial port that nobody named stays closed, because opening one
resets some instruments. --probe without FILE only lists what answers. What no flag says is
asked on a terminal.

--page shows what answers in a browser, with the file for what you choose there, which you
copy; it serves this computer alone, only reads, and writes nothing. Ctrl-C ends it.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.page {
				if len(args) > 0 {
					return fault.Usage(fault.WithHint(fmt.Errorf("--page writes no file, so %s is not wanted", args[0]), "leave it out, and copy the text from the page"))
				}
				return showFirst(cmd.Context(), e, f)
			}
			if len(args) == 0 && !f.probe {
				return fault.Usage(fault.WithHint(errors.New("FILE is missing"), "tuner init oven.toml, or tuner init --probe to list what answers"))
			}
			if len(args) == 1 {
				if _, err := os.Lstat(args[0]); err == nil {
					return fault.Usage(fault.WithHint(fmt.Errorf("%s is there already, and is not overwritten", args[0]), "name another file"))
				}
			}
			return writeFirst(cmd.Context(), e, args, f)
		},
	}
	cmd.Flags().StringArrayVar(&f.devices, "device", nil, "where to look, DRIVER=WHERE: exec=\"python3 oven.py\", mqtt=tcp://HOST:1883, serial=/dev/ttyUSB0, opcua=opc.tcp://HOST:4840; may be repeated")
	cmd.Flags().BoolVar(&f.probe, "probe", false, "list what answers; with FILE and the other flags, ask nothing")
	cmd.Flags().BoolVar(&f.page, "page", false, "show what answers, and the file for it, in a browser; nothing is written")
	cmd.Flags().StringVar(&f.purpose.Objective, "objective", "", "the channel that counts")
	cmd.Flags().BoolVar(&f.purpose.Minimize, "minimize", false, "less of it is better")
	cmd.Flags().StringArrayVar(&f.purpose.Knobs, "knob", nil, "a channel that is set; may be repeated (default: all that can be)")
	cmd.Flags().StringVar(&f.purpose.Name, "name", "", "the run's name (default: the file's)")
	cmd.Flags().IntVar(&f.purpose.Steps, "steps", 30, "how many steps the search has")
	return cmd
}

// placesOf reads where to look.
func placesOf(devices []string) (places []examine.Place, err error) {
	for _, text := range devices {
		p, err := examine.ParsePlace(text)
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}

// showFirst looks, and shows in a browser what there is and the file for it, until it is
// interrupted.
func showFirst(ctx context.Context, e *host.Env, f initFlags) error {
	places, err := placesOf(f.devices)
	if err != nil {
		return err
	}
	found, err := examine.Discover(ctx, e, places)
	if err != nil {
		return err
	}
	listFound(e.Stderr, found)
	purpose := f.purpose
	purpose.Name = cmp.Or(purpose.Name, "first")
	_ = completePurpose(&purpose, found, &questions{}) // what is still open, the page asks
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "http://%s/\n", l.Addr())
	fmt.Fprintln(e.Stderr, "tuner: it only shows, to this computer alone; Ctrl-C ends it")
	w := wizard.Wizard{Found: found, Purpose: purpose, Check: func(name, text string) error { return checkText(name, text, e) }}
	return w.Serve(ctx, l)
}

// checkText says what check would say of a text if it stood in a file of this folder.
func checkText(name, text string, e *host.Env) error {
	_, err := setup.ParseUnasked(name, []byte(text), e)
	return unlessUnasked(err)
}

// unlessUnasked is err, nil where all that is wrong is what devices have not been asked yet.
func unlessUnasked(err error) error {
	if _, left := errors.AsType[*setup.Unasked](err); left {
		return nil
	}
	return err
}

// writeFirst looks, asks what is open, and writes the file.
func writeFirst(ctx context.Context, e *host.Env, args []string, f initFlags) error {
	places, err := placesOf(f.devices)
	if err != nil {
		return err
	}
	ask := &questions{in: bufio.NewReader(e.Stdin), out: e.Stderr, person: !f.probe && e.IsTerminal(e.Stderr)}
	if len(places) == 0 && ask.person {
		if program := ask.answer("a program that speaks tuner-exec/1, such as python3 oven.py (empty: none)", ""); program != "" {
			places = append(places, examine.Place{Driver: "exec", At: program})
		}
	}
	found, err := examine.Discover(ctx, e, places)
	if err != nil {
		return err
	}
	listFound(e.Stderr, found)
	if len(args) == 0 {
		return nil
	}
	purpose := f.purpose
	if purpose.Name == "" {
		purpose.Name = strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))
	}
	if err := completePurpose(&purpose, found, ask); err != nil {
		return err
	}
	text, err := examine.FirstFile(found, purpose)
	if err != nil {
		return err
	}
	if err := writeChecked(args[0], text, e); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "%s: written; look at what says CHANGE, then tuner check --probe %s\n", args[0], args[0])
	return nil
}

// writeChecked writes a file that is not there, and takes it back where check does not accept it.
func writeChecked(path, text string, e *host.Env) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	err = errors.Join(err, file.Close())
	if err == nil {
		_, err = setup.Load(path, e)
		err = unlessUnasked(err)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("no file was written: what answered makes none that check accepts: %w", err), os.Remove(path))
	}
	return nil
}

// completePurpose fills in what no flag says: the objective is asked for, or is the only channel that
// can only be read; every channel that can be set is a knob.
func completePurpose(purpose *examine.Purpose, found []examine.Instrumented, ask *questions) error {
	var read, set []string
	for _, d := range found {
		for _, c := range d.Channels {
			if name := d.Name + "." + c.Name; c.Access == drivers.ReadWrite && !c.Dose {
				set = append(set, name)
			} else {
				read = append(read, name)
			}
		}
	}
	if purpose.Objective == "" && len(read) == 1 {
		purpose.Objective = read[0]
	}
	if purpose.Objective == "" && ask.person {
		purpose.Objective = ask.answer("which channel counts ("+strings.Join(read, ", ")+")", "")
	}
	if len(purpose.Knobs) == 0 && ask.person && len(set) > 1 {
		purpose.Knobs = strings.Fields(ask.answer("which channels are set, parted by blanks (empty: all of "+strings.Join(set, " ")+")", ""))
	}
	if len(purpose.Knobs) == 0 {
		purpose.Knobs = set
	}
	switch {
	case purpose.Objective == "":
		return fault.Usage(fault.WithHint(errors.New("which channel counts is not known"), "--objective, one of "+strings.Join(read, ", ")))
	case len(purpose.Knobs) == 0:
		return fault.Usage(fault.WithHint(errors.New("nothing that answered can be set"), "name a program, or a broker with a device of a preset: --device DRIVER=WHERE"))
	}
	return nil
}

// listFound says what answered.
func listFound(out io.Writer, found []examine.Instrumented) {
	if len(found) == 0 {
		fmt.Fprintln(out, "nothing answered; --device DRIVER=WHERE says where to look")
	}
	for _, d := range found {
		fmt.Fprintf(out, "%s (%s): %s\n", d.Name, d.Driver, d.Says)
		for _, c := range d.Channels {
			access := "read"
			if c.Access == drivers.ReadWrite {
				access = "set"
			}
			limits := ""
			if c.Min < c.Max {
				limits = fmt.Sprintf(", %g to %g", c.Min, c.Max)
			}
			fmt.Fprintf(out, "  %s.%s\t%s\t%s%s\n", d.Name, c.Name, access, c.Unit, limits)
		}
	}
}

// questions are put to a person, where one is there.
type questions struct {
	in     *bufio.Reader
	out    io.Writer
	person bool
}

// answer is what is answered, or the usual answer where nothing is.
func (q *questions) answer(question, usual string) string {
	fmt.Fprintf(q.out, "%s: ", question)
	line, err := q.in.ReadString('\n')
	if text := strings.TrimSpace(line); text != "" && (err == nil || errors.Is(err, io.EOF)) {
		return text
	}
	return usual
}
