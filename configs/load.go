package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// Load reads and checks a configuration file; known is what there is. The error, if any, is an *Error
// with every problem of the file; as with [Parse], a Config may come beside it.
func Load(path string, known *Known) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		reason := err
		if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) {
			reason = pathErr.Err // the path stands in the problem already
		}
		return nil, &Error{Cause: err, Problems: []Problem{{
			File: path,
			What: "cannot be read: " + reason.Error(),
			Hint: "\"tuner config --sample laser\" prints a file to start from",
		}}}
	}
	return Parse(path, text, known)
}

// Parse checks the text of a configuration file; known is what there is. The name is used in messages,
// and its folder is where relative paths start; no file is touched. The error,
// if any, is an *Error with every problem, or with the one at which the text
// stopped being TOML. A Config that comes beside an error is for asking more of
// it ([Device.Decode]), so that all problems can be reported at once, and for nothing
// else. What overrides say stands in place of what the file says; it is checked as that is.
func Parse(name string, text []byte, known *Known, overrides ...Override) (*Config, error) {
	tree, keys, problem := schema.Decode(string(text))
	if problem == nil {
		problem = override(tree, overrides)
	}
	if problem != nil {
		problem.File = name
		return nil, NewError(*problem)
	}
	digest := sha256.Sum256(text)
	c := Default()
	c.File, c.Dir = name, filepath.Dir(name)
	c.known = known
	if known != nil {
		c.Policy.known = &known.Policies
	}
	c.Text, c.SHA256 = text, hex.EncodeToString(digest[:])
	c.loc = schema.NewLocator(name, string(text), tree, keys)
	c.Asks = complete(tree, known, c.loc)

	w := schema.NewWalker(c.loc, known.enum, known.owner())
	w.Section(reflect.ValueOf(c).Elem(), tree, "")
	w.RefuseSecrets(tree, "", "")
	c.owned = w.Snapshot()
	v := checker{cfg: c, Walker: w}
	v.all()
	if len(w.Problems) > 0 {
		for i := range w.Problems {
			if p := &w.Problems[i]; c.asks(*p) {
				p.Hint = "tuner check --probe and tuner run ask the device for it; elsewhere it must stand in the file"
			}
		}
		return c, NewError(w.Problems...)
	}
	c.derive()
	return c, nil
}

// Default returns a configuration with every default set and nothing else: no
// name, no objective, no sensors, no variables.
func Default() *Config {
	c := &Config{}
	schema.SetDefaults(c)
	return c
}

// Effective lists every key that has a value, with where the value comes from:
// first those of the schema, in its order, repeated sections in file order. The
// keys of a device are the file's until Device.Decode has been called, and with
// the driver's defaults from then on. Keys that are optional and absent are not
// listed.
func (c *Config) Effective() []Setting { return schema.Effective(c, c.owned, c.loc) }

// Reference documents every key of the schema, in its order, from the same field
// tags and defaults that files are checked with. Drivers' keys are not part of
// it; see [ReferenceOf]. known is what there is.
func Reference(known *Known) []KeyDoc {
	return schema.ReferenceOf("", Default(), known.enum, known.owner())
}

// policyParts are the parts of the policy for the control sets that there are: where there is
// nothing to choose from, none has a usual schedule.
func (c *Config) policyParts() Parts {
	p := &c.Policy
	parts := p.Parts()
	if len(c.ControlSets) < 2 && p.Schedule == "" && p.known.Of(p.Kind).Schedule == "" {
		parts.Schedule = scheduleNone
	}
	return parts
}

// shotTimeoutAges is how many times its max_age an objective may be waited for.
// Not fewer: a source that publishes once per max_age must be able to miss
// several. Not more: a dead source should end the step, not the day.
const shotTimeoutAges = 10

// derive fills the defaults that depend on other keys of a file.
func (c *Config) derive() {
	parts := c.policyParts()
	c.Policy.Confidence, c.Policy.Schedule = parts.Confidence, parts.Schedule
	for i := range c.Sensors {
		// Not less: a reading that is fresh enough alone is fresh enough in company,
		// unless the file says otherwise.
		if s := &c.Sensors[i]; s.MaxSkew == 0 {
			s.MaxSkew = s.MaxAge
		}
	}
	c.Objective.Timeout = c.shotTimeout()
}

// shotTimeout is the longest wait for a shot, 0 where no sensor tells it.
func (c *Config) shotTimeout() time.Duration {
	longest := c.Objective.Timeout
	if longest == 0 {
		for _, name := range c.objectiveSensors() {
			if s, ok := c.Sensor(name); ok {
				longest = max(longest, shotTimeoutAges*s.MaxAge)
			}
		}
	}
	return longest
}
