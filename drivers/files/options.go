package files

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options are the keys of a [[device]] with driver = "files".
type Options struct {
	Folder     string        `toml:"folder" doc:"folder of both files; absent: the configuration's"`
	Input      string        `toml:"input" doc:"name of the file that the experiment reads"`
	Output     string        `toml:"output" doc:"name of the file that the experiment writes"`
	Parameters []string      `toml:"parameters" required:"true" doc:"channels in the order in which the input file has them"`
	CostUnit   string        `toml:"cost_unit" doc:"unit of the cost and its uncertainty"`
	Style      string        `toml:"style" enum:"array, list" doc:"how the parameters are written: array([...]), as M-LOOP does, or a plain list [...]"`
	Quiet      time.Duration `toml:"quiet" bound:"> 0s, <= 1m" doc:"the output file is read once it has not changed for this long"`

	// Base is the folder that a relative Folder starts at; empty: the working folder.
	Base string `toml:"-"`
}

// ChannelOptions are the keys of a [device.channel.X] of a files device, one
// section for each parameter.
type ChannelOptions struct {
	// Channel is X.
	Channel string   `toml:"-"`
	Unit    string   `toml:"unit" required:"true" doc:"the parameter's unit; \"1\" for a plain number"`
	Min     *float64 `toml:"min" unit:"its own" doc:"smallest value that the experiment takes"`
	Max     *float64 `toml:"max" unit:"its own" doc:"largest value that the experiment takes"`
	Start   *float64 `toml:"start" unit:"its own" doc:"value that counts as the present one before the first run; absent: the variable's start"`
}

// The channels of what comes back.
const (
	channelCost  = "cost"
	channelUncer = "uncer"
)

// Results are the names of the channels that every device has beside its parameters.
func Results() []string { return []string{channelCost, channelUncer} }

// The styles of the input file.
const (
	styleArray = "array"
	styleList  = "list"
)

// Default returns the options that a file need not write: M-LOOP's own names.
func Default() Options {
	return Options{
		Input: "exp_input.txt", Output: "exp_output.txt", CostUnit: "1", Style: styleArray,
		Quiet: 100 * time.Millisecond, // a line is written in far less; an experiment takes far longer
	}
}

// problems checks the options and gives every problem at once.
func (o *Options) problems(channels []ChannelOptions) error {
	var all []error
	bad := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	for _, f := range []struct{ key, name string }{{"input", o.Input}, {"output", o.Output}} {
		if f.name == "" || f.name != filepath.Base(f.name) || f.name == "." || f.name == ".." {
			bad(`%s is %q and must be the name of a file, without a folder; write that in "folder"`, f.key, f.name)
		}
	}
	if o.Input == o.Output {
		bad("input and output are both %q; they must be two files", o.Input)
	}
	if o.Style != styleArray && o.Style != styleList {
		bad("style is %q and must be %q or %q", o.Style, styleArray, styleList)
	}
	if o.CostUnit == "" {
		bad(`cost_unit is empty; write "1" for a plain number`)
	}
	if o.Quiet <= 0 {
		bad("quiet is %v and must be above 0s", o.Quiet)
	}
	if len(o.Parameters) == 0 {
		bad("parameters is empty; name the channels in the order of the input file")
	}
	names := make([]string, len(channels))
	for i := range channels {
		names[i] = channels[i].Channel
		if err := channels[i].problem(); err != nil {
			all = append(all, err)
		}
		if !slices.Contains(o.Parameters, names[i]) {
			bad("channel %q is none of the parameters, %s", names[i], strings.Join(o.Parameters, ", "))
		}
	}
	for i, name := range o.Parameters {
		switch {
		case name == channelCost || name == channelUncer:
			bad("a parameter is called %q, which is what comes back; give it another name", name)
		case slices.Contains(o.Parameters[:i], name):
			bad("parameters names %q twice", name)
		case !slices.Contains(names, name):
			bad("parameter %q has no section; add [device.channel.%s] with its unit", name, name)
		}
	}
	return errors.Join(all...)
}

func (c *ChannelOptions) problem() error {
	low, high := limit(c.Min), limit(c.Max)
	switch {
	case c.Unit == "":
		return fmt.Errorf(`channel %q has no unit; write "1" for a plain number`, c.Channel)
	case math.IsInf(low, 0) || math.IsInf(high, 0):
		return fmt.Errorf("channel %q: a limit is not finite; leave it out", c.Channel)
	case low >= high:
		return fmt.Errorf("channel %q: min (%v %s) must be below max (%v %s)", c.Channel, low, c.Unit, high, c.Unit)
	case c.Start == nil:
		return fmt.Errorf("channel %q has no start: before the first run nothing tells where the parameter is; give the variable or the channel one", c.Channel)
	case math.IsNaN(*c.Start) || math.IsInf(*c.Start, 0) || *c.Start < low || *c.Start > high:
		return fmt.Errorf("channel %q: start (%v %s) must lie within its limits, %v to %v", c.Channel, *c.Start, c.Unit, low, high)
	}
	return nil
}

// limit is a limit's value, NaN where it is not known.
func limit(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// folder is where both files are; empty means the working folder.
func (o *Options) folder() string {
	if filepath.IsAbs(o.Folder) {
		return o.Folder
	}
	return filepath.Join(o.Base, o.Folder)
}
