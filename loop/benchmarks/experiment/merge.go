package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Named is the results of one file.
type Named struct {
	Name    string
	Results []Result
}

// Merge puts the results of several files together, policy by policy, with the seeds
// in order. The files must be of one experiment, hold the same policies, come from one
// version of the program and one bound on the steps, and no seed of a policy may be in
// two of them; the error names the files that disagree.
func Merge(files []Named) ([]Result, error) {
	var out []Result
	from := map[string]map[uint64]string{} // policy -> seed -> file
	for _, file := range files {
		if err := agree(files[0], file); err != nil {
			return nil, err
		}
		for _, r := range file.Results {
			i := slices.IndexFunc(out, func(o Result) bool { return o.Policy == r.Policy })
			if i < 0 {
				i = len(out)
				empty := r
				empty.Seeds, empty.CPUSeconds = nil, 0
				out = append(out, empty)
				from[r.Policy] = map[uint64]string{}
			}
			for _, s := range r.Seeds {
				if other, ok := from[r.Policy][s.Seed]; ok {
					return nil, fmt.Errorf("seed %d of policy %q is in %q and in %q", s.Seed, r.Policy, other, file.Name)
				}
				from[r.Policy][s.Seed] = file.Name
				out[i].Seeds = append(out[i].Seeds, s)
			}
			out[i].CPUSeconds += r.CPUSeconds
		}
	}
	for i := range out {
		slices.SortFunc(out[i].Seeds, func(a, b Seed) int { return cmp.Compare(a.Seed, b.Seed) })
	}
	return out, nil
}

// agree refuses a file that does not belong with the first.
func agree(first, file Named) error {
	want := first.Results[0]
	for _, r := range file.Results {
		switch {
		case r.Experiment != want.Experiment:
			return fmt.Errorf("%q is of experiment %q, %q of %q", file.Name, r.Experiment, first.Name, want.Experiment)
		case r.Version != want.Version:
			return fmt.Errorf("%q comes from version %q, %q from %q", file.Name, r.Version, first.Name, want.Version)
		case r.Steps != want.Steps:
			return fmt.Errorf("%q was bounded to %d steps, %q to %d (0: not)", file.Name, r.Steps, first.Name, want.Steps)
		case r.WorkUnits != want.WorkUnits:
			return fmt.Errorf("%q was limited to %d units of work a decision, %q to %d (0: not)", file.Name, r.WorkUnits, first.Name, want.WorkUnits)
		}
	}
	if a, b := policies(first), policies(file); a != b {
		return fmt.Errorf("%q holds the policies %s, %q holds %s", file.Name, b, first.Name, a)
	}
	return nil
}

// policies lists a file's policies, sorted.
func policies(n Named) string {
	var names []string
	for _, r := range n.Results {
		names = append(names, r.Policy)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
