package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/labtuner/tuner/drivers"
)

// words parts a command line at its blanks; what stands between quotes, double or single, is kept
// together.
func words(line string) (all []string, err error) {
	var word strings.Builder
	quote, inside := rune(0), false
	for _, r := range line {
		switch {
		case quote == 0 && (r == '"' || r == '\''):
			quote, inside = r, true
		case r == quote:
			quote = 0
		case quote == 0 && (r == ' ' || r == '\t'):
			if inside {
				all = append(all, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the command %s has a %c that is not closed", line, quote)
	}
	if inside {
		all = append(all, word.String())
	}
	return all, nil
}

// discover starts a program, whose words are parted by blanks outside of quotes, and reads its hello; then it is
// killed, so that nothing asks it to go safe.
func discover(ctx context.Context, at string, env drivers.Env) ([]drivers.Discovered, error) {
	o := Default()
	var err error
	if o.Command, err = words(at); err != nil || len(o.Command) == 0 {
		return nil, err // no program is started that nobody named
	}
	env.ReadOnly = true
	d, err := New(o, nil, env)
	if err != nil {
		return nil, err
	}
	channels, err := d.Open(ctx)
	if err := errors.Join(err, d.Close()); err != nil {
		return nil, err
	}
	command, err := json.Marshal(o.Command)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(programOf(o.Command))
	found := drivers.Discovered{Name: strings.TrimSuffix(name, filepath.Ext(name)), Says: fmt.Sprintf("the program %s; channels: %d", at, len(channels)), Keys: []string{"command = " + string(command)}}
	for _, c := range channels {
		found.Channels = append(found.Channels, drivers.DiscoveredChannel{Channel: c, Known: true})
	}
	return []drivers.Discovered{found}, nil
}

// programOf is the word of a command that names its program: the first that is a file by its ending, such as
// oven.py behind python3, else the first.
func programOf(command []string) string {
	for _, word := range command {
		if ext := filepath.Ext(word); !strings.HasPrefix(word, "-") && len(ext) > 1 && len(ext) < 5 && !strings.ContainsAny(ext, " {}|") {
			return word
		}
	}
	return command[0]
}
