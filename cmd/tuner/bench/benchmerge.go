package bench

import (
	"errors"
	"fmt"
	"os"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// MergeFiles reads and merges result files. Whatever is wrong is a usage error that
// names the file.
func MergeFiles(paths []string) ([]experiment.Result, error) {
	var files []experiment.Named
	var errs []error
	for _, path := range paths {
		results, err := readResults(path)
		if err != nil {
			errs = append(errs, fault.Usage(err))
			continue
		}
		files = append(files, experiment.Named{Name: path, Results: results})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	merged, err := experiment.Merge(files)
	if err != nil {
		return nil, fault.Usage(fault.WithHint(err, "merge the shards of one run of one experiment"))
	}
	return merged, nil
}

func readResults(path string) (results []experiment.Result, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if results, err = experiment.Read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return results, nil
}
