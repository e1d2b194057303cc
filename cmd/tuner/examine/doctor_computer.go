package examine

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// syncs is how many durable writes are timed.
	syncs = 16
	// slowSync is where a durable write is too slow: a step writes a few, and a step
	// of a fast instrument takes a fraction of a second.
	slowSync = 100 * time.Millisecond
	// lowSpace is where a run holds, by its rule on free space, in bytes.
	lowSpace = 50 << 20
)

// diskFindings tells of the folder that the journal would be in.
func diskFindings(folder string) []finding {
	subject := "journal folder " + folder
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return []finding{{Subject: subject, What: err.Error(), Bad: true, Hint: "--journal names another folder"}}
	}
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return []finding{{Subject: subject, What: "is no folder", Bad: true, Hint: "--journal names another folder"}}
	}
	free := finding{Subject: subject, What: fmt.Sprintf("%.1f GiB free", float64(fs.Bavail)*float64(fs.Bsize)/(1<<30))}
	if fs.Bavail*uint64(fs.Bsize) < lowSpace {
		free.Bad, free.Hint = true, "make room: a run holds below 50 MiB"
	}
	found := []finding{free}
	switch uint32(fs.Type) { // its type differs between architectures
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC:
		found = append(found, finding{Subject: subject, What: "it is in memory: nothing in it survives a power cut", Bad: true, Hint: "put the journal on a disk"})
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		found = append(found, finding{Subject: subject, What: "it is on another computer: locks and durable writes depend on that", Bad: true, Hint: "put the journal on a disk of this computer"})
	}
	took, err := timeSyncs(folder)
	if err != nil {
		return append(found, finding{Subject: subject, What: "cannot be written: " + err.Error(), Bad: true, Hint: "give this user the right to write there"})
	}
	median, longest := took[len(took)/2], took[len(took)-1]
	f := finding{Subject: "durable write there", What: fmt.Sprintf("%d times: median %v, longest %v", len(took), median.Round(time.Microsecond), longest.Round(time.Microsecond))}
	if median > slowSync {
		f.Bad, f.Hint = true, "a memory card may be at its end, or busy; a step writes a few times"
	}
	return append(found, f)
}

// timeSyncs writes and syncs a file some times and gives the durations in order.
func timeSyncs(folder string) (took []time.Duration, err error) {
	file, err := os.CreateTemp(folder, ".tuner-doctor-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	block := make([]byte, 4096)
	for range syncs {
		start := time.Now()
		if _, err := file.Write(block); err != nil {
			return nil, err
		}
		if err := file.Sync(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took, nil
}

// clockFinding says whether the clock is kept by a time service. The loop itself
// measures time with the monotonic clock, which no service sets.
func clockFinding() finding {
	f := finding{Subject: "clock", What: "set by a time service"}
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	switch {
	case err != nil:
		f.What = "whether a time service sets it is not known: " + err.Error()
	case state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0:
		f.What = "no time service sets it: times in the journal are as good as it is; the loop's own timing does not depend on it"
		f.Hint = "systemd-timesyncd or chrony sets it"
	}
	return f
}
