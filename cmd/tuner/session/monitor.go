package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/web"
)

// openMetrics has the loop tell what Prometheus may ask for, where the file asks for a
// server.
func (s *session) openMetrics(deps *loop.Deps) {
	if s.Setup.Config.Web == nil || s.panel == nil {
		return
	}
	names := make([]string, len(s.Setup.Devices))
	for i, d := range s.Setup.Devices {
		names[i] = d.Name
	}
	s.metrics = web.NewMetrics(web.MetricsOptions{Panel: s.panel, Devices: names, Version: host.Version(), GoVersion: runtime.Version(),
		Disk: func() (uint64, uint64, error) { return diskOf(s.journal.Path()) }, Now: s.Env.Now})
	deps.Watch = s.metrics.Watch(deps.Watch)
}

// diskOf is what a process without privileges may still write where a journal is, and
// the size of the journal with the files that SQLite keeps beside it, in bytes.
func diskOf(path string) (free, size uint64, err error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &stat); err != nil {
		return 0, 0, err
	}
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return 0, 0, err
		default:
			size += uint64(info.Size())
		}
	}
	return stat.Bavail * uint64(stat.Bsize), size, nil
}
