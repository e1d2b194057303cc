// Command mutants changes the program in one place at a time and looks whether a test
// notices.
//
//	go run ./scripts/mutants                          what is made by rule: all of safety, a share of the other rooms
//	go run ./scripts/mutants -n 6 -for 100s           six of them at random, for every change; the seed is printed
//	go run ./scripts/mutants -seed S -n 6             the same six again
//	go run ./scripts/mutants -in loop/guard -share 1  every one of a room
//	go run ./scripts/mutants -match 'takeOver negate' those of which the key has this in it
//	go run ./scripts/mutants -o FILE                  results as JSON lines; what is in it is not run again
//	go run ./scripts/mutants -o FILE -again           of these, those that survived
//	go run ./scripts/mutants -list                    their keys
//	go run ./scripts/mutants -hand                    what no rule makes: each safety rule outside those rooms
//	go run ./scripts/mutants -attacks                 each defence against attacks, in place of the rules
//	go run ./scripts/mutants -behaviours              each behaviour that tests once let pass when it was taken out
//
// See README.md beside it. Run it at the top of the repository. The tree is not changed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// options are the command's.
type options struct {
	n, share, jobs   int
	seed             uint64
	in, match, dir   string
	results          string
	again, list      bool
	hand, attacks    bool
	behaviours       bool
	rule             int
	limit, path, dur time.Duration
	slow             time.Duration
}

func main() {
	var o options
	flag.IntVar(&o.n, "n", 0, "how many, at random; 0: all")
	flag.Uint64Var(&o.seed, "seed", 0, "of the random choice; 0: a new one, which is printed")
	flag.IntVar(&o.share, "share", 20, "outside safety one mutant of so many, always the same ones; 1: each")
	flag.StringVar(&o.in, "in", "", "only these rooms, with commas")
	flag.StringVar(&o.match, "match", "", "only those whose key a regular expression finds")
	flag.StringVar(&o.results, "o", "", "results as JSON lines are added to this file")
	flag.BoolVar(&o.again, "again", false, "of -o, those that did not die")
	flag.BoolVar(&o.list, "list", false, "list the keys, and run nothing")
	flag.IntVar(&o.jobs, "jobs", 2, "how many run at once")
	flag.StringVar(&o.dir, "work", filepath.Join(os.TempDir(), "tuner-mutants"), "what is compiled and measured is kept here for the next time")
	flag.DurationVar(&o.dur, "for", 0, "what is not decided by then, building aside, is told as undecided; 0: no limit")
	flag.DurationVar(&o.path, "path", time.Minute, "how much of the whole-path tests a mutant is given, by the time they take without it; 0: its own package's alone")
	flag.DurationVar(&o.slow, "slow", 0, "tests that take longer are left out; 0: none")
	flag.BoolVar(&o.hand, "hand", false, "those made by hand")
	flag.BoolVar(&o.attacks, "attacks", false, "the defences against attacks")
	flag.BoolVar(&o.behaviours, "behaviours", false, "the behaviours that tests once let pass when they were taken out")
	flag.IntVar(&o.rule, "rule", 0, "of -hand, only the rule with this number; 0: all")
	flag.DurationVar(&o.limit, "timeout", 2*time.Minute, "of -hand, -attacks and -behaviours, the longest test")
	flag.Parse()
	good, err := o.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if !good || err != nil {
		os.Exit(1)
	}
}

func (o *options) run() (good bool, err error) {
	switch {
	case o.attacks:
		return tryList(attacks, o), nil
	case o.behaviours:
		return tryList(behaviours, o), nil
	case o.hand:
		return tryList(mutants, o), nil
	}
	c, err := gather(rooms)
	if err != nil {
		return false, err
	}
	may, err := loadSurvivors(c)
	if err != nil {
		return false, err
	}
	list, done, err := o.choose(c)
	if err != nil {
		return false, err
	}
	if o.list {
		for _, x := range list {
			fmt.Println(x.key())
		}
		return true, nil
	}
	fmt.Printf("%d mutants by rule; %d pairs of arguments would not compile the other way round; %d chosen, %d of them decided before\n",
		len(c.changes), c.unfit, len(list)+done, done)
	return o.campaign(c, list, may)
}

// choose says which mutants are run; done are those of them that were.
func (o *options) choose(c *catalogue) (list []*change, done int, err error) {
	find, err := regexp.Compile(o.match)
	if err != nil {
		return nil, 0, err
	}
	for _, x := range c.changes {
		if (o.in == "" || slices.Contains(strings.Split(o.in, ","), x.room)) && find.MatchString(x.key()) && o.shared(x) {
			list = append(list, x)
		}
	}
	if o.n > 0 {
		if o.seed == 0 {
			o.seed = rand.Uint64()>>1 | 1
		}
		fmt.Printf("seed %d\n", o.seed)
		random := rand.New(rand.NewPCG(o.seed, 0))
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:min(o.n, len(list))]
	}
	if o.results == "" {
		return list, 0, nil
	}
	before, err := readLines[result](o.results)
	verdicts := map[string]string{}
	for _, r := range before {
		verdicts[r.key()] = r.Verdict
	}
	n := len(list)
	list = slices.DeleteFunc(list, func(x *change) bool {
		v, known := verdicts[x.key()]
		return known && (!o.again || v == killed) || o.again && !known
	})
	return list, n - len(list), err
}

// shared reports whether a mutant is among those that are answered for.
func (o *options) shared(x *change) bool {
	if x.room == "safety" || o.share <= 1 {
		return true
	}
	h := fnv.New32a()
	h.Write([]byte(x.key()))
	return h.Sum32()%uint32(o.share) == 0
}

// campaign runs a list of mutants.
func (o *options) campaign(c *catalogue, list []*change, may map[string]string) (bool, error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return false, err
	}
	build, err := c.write(o.dir)
	if err != nil {
		return false, err
	}
	r := &runner{build: build, catalogue: c.id(), jobs: o.jobs, path: o.path, quick: o.dur > 0, slow: o.slow, tests: map[string][]measured{}, killers: map[string][]string{}}
	packages := map[string][]string{}
	for _, room := range rooms {
		packages[room.dir] = room.tests
		if o.path == 0 {
			packages[room.dir] = room.tests[:1]
		}
	}
	if o.dur > 0 {
		r.until = time.Now().Add(o.dur)
	} else if err := r.measureAll(list, packages); err != nil {
		return false, err
	}
	var mu sync.Mutex
	count := map[string]int{}
	good := true
	parallel(o.jobs, list, func(x *change) {
		res := result{change: *x, Verdict: argued}
		why, excused := may[x.key()]
		if !excused || o.again {
			res = r.try(x, packages[x.room])
		}
		mu.Lock()
		defer mu.Unlock()
		if res.Verdict == survived && excused {
			res.Verdict = argued
		}
		if res.Verdict == argued && strings.HasPrefix(why, "open") {
			res.Verdict = open
		}
		count[res.Verdict]++
		good = good && res.Verdict != survived && res.Err == ""
		o.tell(&res, why)
		if o.results != "" {
			err = errors.Join(err, appendLine(o.results, res))
		}
	})
	fmt.Printf("%d killed, %d argued, %d open, %d undecided, %d SURVIVED\n", count[killed], count[argued], count[open], count[undecided], count[survived])
	return good, err
}

func (o *options) tell(r *result, why string) {
	text := r.By
	if r.Verdict == argued || r.Verdict == open {
		text = why
	}
	fmt.Printf("%-9s %s:%d %s %s: %s  %s %s (%.1fs)\n", r.Verdict, r.File, r.Line, r.Func, r.Rule, r.Text, text, r.Err, r.Seconds)
}

// measureAll measures the tests of every package that a list needs.
func (r *runner) measureAll(list []*change, packages map[string][]string) error {
	for _, x := range list {
		for _, pkg := range packages[x.room] {
			if _, err := r.measure(pkg); err != nil {
				return err
			}
		}
	}
	return nil
}
