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

// discover starts a program, whose words are parted by blanks, and reads its hello; then it is
// killed, so that nothing asks it to go safe.
func discover(ctx context.Context, at string, env drivers.Env) ([]drivers.Discovered, error) {
	o := Default()
	o.Command = strings.Fields(at)
	if len(o.Command) == 0 {
		return nil, nil // no program is started that nobody named
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
	name := filepath.Base(o.Command[len(o.Command)-1])
	found := drivers.Discovered{Name: strings.TrimSuffix(name, filepath.Ext(name)), Says: fmt.Sprintf("the program %s, %d channels", at, len(channels)), Keys: []string{"command = " + string(command)}}
	for _, c := range channels {
		found.Channels = append(found.Channels, drivers.DiscoveredChannel{Channel: c, Known: true})
	}
	return []drivers.Discovered{found}, nil
}
