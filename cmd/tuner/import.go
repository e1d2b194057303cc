package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/configs"
)

// foreignRun is what another optimizer's file tells of its run.
type foreignRun struct {
	// program wrote it.
	program string
	// columns are the quantities by name, rows long; NaN where there is none.
	names   []string
	columns [][]float64
	// failed says which rows had no valid result.
	failed []bool
	// objective names the column that was sought after; minimize says its sense.
	objective string
	minimize  bool
}

// foreignMax bounds a file that is read, in bytes.
const foreignMax = 64 << 20

func newImportCommand(e *env) *cobra.Command {
	var output string
	var renames []string
	var negate bool
	cmd := &cobra.Command{
		Use:   "import CONFIG FILE",
		Short: "Make a warm start of another optimizer's archive",
		Long: `Make a table for a warm start of another optimizer's archive: a controller's or learner's
archive of M-LOOP as text (.txt), or a file of Xopt or Badger (.yaml). Rows whose run had
failed are left out.

These files have no units. The table has those of CONFIG in its header, where you can check
them before tuner run --warm-start takes it. --rename gives a quantity of the file the name
that it has in CONFIG; where one minimises what the other maximises, --negate turns the sign.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return usageError{withHint(fmt.Errorf("%s takes a configuration and an archive, and got %d arguments", cmd.CommandPath(), len(args)), cmd.UseLine())}
		},
		RunE: func(_ *cobra.Command, args []string) error {
			w, err := loadWiring(args[0], e.executable)
			if err != nil {
				return err
			}
			run, err := readForeign(args[1])
			if err != nil {
				return err
			}
			if err := run.rename(args[1], renames); err != nil {
				return err
			}
			place, err := w.matchForeign(args[1], run, negate)
			if err != nil {
				return err
			}
			if output == "" {
				output = strings.TrimSuffix(filepath.Base(args[1]), filepath.Ext(args[1])) + ".csv"
			}
			kept := 0
			write := func(out io.Writer) (err error) {
				kept, err = w.writeForeign(out, run, place, negate)
				return err
			}
			if output == "-" {
				return write(e.stdout)
			}
			if err := writeFile(output, write); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s: %s of %s by %s, %d left out\n", output, count(kept, "observation"), args[1], run.program, len(run.failed)-kept)
			fmt.Fprintf(e.stdout, "the archive has no units: check those in the table's header against it\nnext: tuner run %s --warm-start %s\n", args[0], output)
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, - for stdout (default the archive's name with .csv)")
	cmd.Flags().StringArrayVar(&renames, "rename", nil, "OLD=NEW: the file's quantity OLD is NEW in CONFIG (may be repeated)")
	cmd.Flags().BoolVar(&negate, "negate", false, "turn the objective's sign")
	return cmd
}

// readForeign reads an archive by its kind.
func readForeign(file string) (*foreignRun, error) {
	bad := func(what, hint string) error {
		return configs.NewError(configs.Problem{File: file, What: what, Hint: hint})
	}
	info, err := os.Stat(file)
	if err == nil && info.Size() > foreignMax {
		return nil, bad(fmt.Sprintf("has %d bytes, and at most %d are read", info.Size(), foreignMax), "export the rows that count as CSV")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, bad("cannot be read: "+err.Error(), "name the archive that the other optimizer has written")
	}
	var run *foreignRun
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case ".txt":
		run, err = parseMLOOP(string(text))
	case ".yaml", ".yml":
		run, err = parseXopt(text)
	case ".mat", ".pkl":
		return nil, bad("is an M-LOOP archive of a kind that only Python or MATLAB reads", "have M-LOOP write text: controller_archive_file_type = 'txt', learner_archive_file_type = 'txt'; or convert it with mloop.utilities.get_dict_from_file and save_dict_to_file")
	default:
		return nil, bad(fmt.Sprintf("an archive ends in .txt (M-LOOP) or .yaml (Xopt, Badger), this in %q", ext), "a table as CSV needs no import: name it with --warm-start")
	}
	var at *foreignError
	if errors.As(err, &at) {
		return nil, configs.NewError(configs.Problem{File: file, Line: at.line, Key: at.key, What: at.what, Hint: "is it an archive of M-LOOP, Xopt or Badger?"})
	}
	return run, err
}

// foreignError is what is wrong with an archive, and where.
type foreignError struct {
	line      int
	key, what string
}

func (e *foreignError) Error() string { return e.what }

// rename gives quantities the names of the configuration.
func (r *foreignRun) rename(file string, renames []string) error {
	for _, text := range renames {
		from, to, ok := strings.Cut(text, "=")
		i := slices.Index(r.names, from)
		switch {
		case !ok || to == "":
			return usageError{fmt.Errorf("--rename %s: it is OLD=NEW", text)}
		case i < 0:
			return usageError{withHint(fmt.Errorf("--rename %s: %s has no quantity %q", text, file, from), "it has "+strings.Join(r.names, ", "))}
		}
		if r.objective == from {
			r.objective = to
		}
		r.names[i] = to
	}
	return nil
}

// matchForeign finds each variable and the objective among an archive's columns; the
// objective's place comes last.
func (w *wiring) matchForeign(file string, run *foreignRun, negate bool) (place []int, err error) {
	var problems []configs.Problem
	has := "it has " + strings.Join(run.names, ", ")
	for _, v := range w.opt.Variables {
		i := slices.Index(run.names, v.Name)
		if i < 0 {
			problems = append(problems, configs.Problem{File: file, Key: v.Name, What: "is no quantity of this archive", Hint: has + "; --rename OLD=" + v.Name + " says which it is"})
		}
		place = append(place, i)
	}
	o := &w.opt.Objective
	at := slices.Index(run.names, o.Name)
	if at < 0 && run.objective != "" { // an archive has one thing that is sought after
		at = slices.Index(run.names, run.objective)
	}
	if at < 0 {
		problems = append(problems, configs.Problem{File: file, Key: o.Name, What: "the objective is no quantity of this archive", Hint: has + "; --rename OLD=" + o.Name + " says which it is"})
	} else if run.names[at] == run.objective && (run.minimize != o.Minimize) != negate {
		what := "was maximised there, and is minimised here"
		if run.minimize {
			what = "was minimised there, and is maximised here"
		}
		hint := "--negate turns its sign, if that is what makes the two the same"
		if negate {
			what, hint = "has the same sense there as here, and --negate would turn it", "leave --negate out"
		}
		problems = append(problems, configs.Problem{File: file, Key: run.objective, What: what, Hint: hint})
	}
	return append(place, at), configs.NewError(problems...)
}

// writeForeign writes the rows that have everything as a table for a warm start, and tells
// how many there are.
func (w *wiring) writeForeign(out io.Writer, run *foreignRun, place []int, negate bool) (kept int, err error) {
	table := csv.NewWriter(out)
	var header []string
	for _, v := range w.opt.Variables {
		header = append(header, v.Name+" ["+v.Unit+"]")
	}
	unit := w.opt.Objective.Unit
	if unit == "" {
		unit = "1"
	}
	if err := table.Write(append(header, "mean ["+unit+"]")); err != nil {
		return 0, err
	}
	for k := range run.failed {
		row := make([]string, len(place))
		whole := !run.failed[k]
		for j, i := range place {
			x := run.columns[i][k]
			if j == len(place)-1 && negate {
				x = -x
			}
			whole = whole && !math.IsNaN(x) && !math.IsInf(x, 0)
			row[j] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		if !whole {
			continue
		}
		kept++
		if err := table.Write(row); err != nil {
			return kept, err
		}
	}
	table.Flush()
	return kept, table.Error()
}
