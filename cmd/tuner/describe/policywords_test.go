package describe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/configs"
)

// TestRiskInWords: check says what a decision maximises where steps leave knobs alone, with every kind and
// acquisition that weighs risk, and refuses the others with the reason.
func TestRiskInWords(t *testing.T) {
	const (
		kind     = "kind = \"rahbo\"\n"
		constant = "confidence = \"constant\"\nbeta = 2.0\n"
		draws    = "random_draws = \"shot\"\n"
		each     = "the noise at each setting learnt, knobs left alone add their spread (a new value for each shot); "
		minus    = "the mean minus 0.5 times the variance of one shot"
	)
	samples := configs.Samples()
	sample := string(samples[slices.IndexFunc(samples, func(s configs.Sample) bool { return s.Name == "quiet-and-cheap" })].Text)
	e, _, _, _ := hosttest.Env()
	for name, c := range map[string]struct {
		edits []string // old, new, ...
		want  string
	}{
		"rahbo":         {nil, "RAHBO: upper confidence bound of " + minus + ", " + each},
		"a draw a step": {[]string{draws, "random_draws = \"step\"\n"}, "their spread (one value for all shots of a step); "},
		"as measured":   {[]string{draws, ""}, "their spread (by shot or by step, as measured); "},
		"ucb-cvs":       {[]string{kind, "kind = \"ucb-cvs\"\n"}, "UCB-CVS: upper confidence bound of " + minus + ", " + each},
		"a sample":      {[]string{kind, kind + "acquisition = \"ts\"\n", constant, ""}, "RAHBO: a posterior sample of " + minus + ", " + each},
		"ts-psq":        {[]string{kind, "kind = \"ts-psq\"\n", constant, ""}, "TS-PSQ: a posterior sample of " + minus + ", " + each},
		"no risk":       {[]string{kind, "kind = \"ts-psq\"\n", constant, "", draws, "", "risk = 0.5\n", ""}, "TS-PSQ: a posterior sample of the objective; "},
		"pbgi":          {[]string{kind, "kind = \"pbgi\"\n", constant, "", draws, "", "risk = 0.5\n", ""}, "of which the one of the highest index is played, which weighs what it costs"},
		"costids":       {[]string{kind, "kind = \"costids\"\nrho = 2.0\n", constant, ""}, `policy.risk: risk 0.5 has no meaning for acquisition "ids": its ratio has the objective's standard deviation, which is no bound of the mean-variance objective`},
		"ei-psq":        {[]string{kind, "kind = \"ei-psq\"\n", constant, ""}, `policy.risk: risk 0.5 has no meaning for acquisition "ei": it takes what is compared for normal`},
		"information":   {[]string{kind, "kind = \"multi-fidelity-mes\"\n", constant, ""}, `policy.risk: risk 0.5 has no meaning for acquisition "mf-mes": it asks for information`},
		"known noise":   {[]string{kind, "kind = \"rahbo-known-variance\"\nnoise_sd = \"0.1 + 0.05*mirror_x^2\"\n"}, minus + ", the noise at each setting known, knobs left alone add their spread"},
		"raw variances": {[]string{kind, kind + "variance_model = \"raw\"\n"}, `where control sets leave variables random use "log"`},
		"below zero":    {[]string{"risk = 0.5\n", "risk = -0.5\n"}, "policy.risk: must be >= 0, got -0.5"},
		"no number":     {[]string{"risk = 0.5\n", "risk = nan\n"}, "policy.risk: must be a finite number, got nan"},
		"no such word":  {[]string{draws, "random_draws = \"often\"\n"}, `policy.random_draws: must be "shot" or "step", got "often"`},
		"without risk":  {[]string{kind, "kind = \"ucb-cvs\"\n", "risk = 0.5\n", ""}, "policy.random_draws: has no effect without risk"},
		"risk zero":     {[]string{"risk = 0.5\n", "risk = 0.0\n"}, "policy.random_draws: has no effect without risk"},
		"all held":      {[]string{"[[control_set]]\nvariables = [\"mirror_x\", \"mirror_y\"]\ncost = 1.0\n\n", ""}, "policy.random_draws: has no effect where every control set holds every variable"},
		"no parameter":  {[]string{kind, "kind = \"ts-psq\"\n", constant, "confidence_setting = \"finite\"\n"}, `policy.confidence_setting: has no effect: acquisition "ts" of kind "ts-psq" has no confidence parameter`},
	} {
		t.Run(name, func(t *testing.T) {
			text := sample
			for i := 0; i < len(c.edits); i += 2 {
				if strings.Count(text, c.edits[i]) != 1 {
					t.Fatalf("the sample has %q %d times", c.edits[i], strings.Count(text, c.edits[i]))
				}
				text = strings.Replace(text, c.edits[i], c.edits[i+1], 1)
			}
			said := ""
			if w, err := setup.Parse("risk.toml", []byte(text), e); err != nil {
				said = err.Error()
			} else {
				said = policyWords(w)
			}
			if !strings.Contains(said, c.want) {
				t.Errorf("want %q in\n%s", c.want, said)
			}
		})
	}
}

// Among more than ten variables check offers the kind that finds the few that act, where the usual one of few was
// taken and nothing else speaks against it.
func TestManyKnobsInWords(t *testing.T) {
	file := func(knobs int, policy string) string {
		var b strings.Builder
		b.WriteString("schema = 1\nname = \"wall\"\nobjective = { sensor = \"light\", shots = 4 }\nstop = { steps = 60 }\n" +
			"device = [{ name = \"wall\", driver = \"exec\", command = [\"true\"] }]\n" +
			"sensor = [{ name = \"light\", device = \"wall\", unit = \"V\", range = [-9.0, 9.0], max_age = \"1s\" }]\n[policy]\n" + policy + "\n")
		for i := range knobs {
			fmt.Fprintf(&b, "[[variable]]\nname = \"m%d\"\ndevice = \"wall\"\nunit = \"V\"\nrange = [0.0, 1.0]\nreadback = { tolerance = 0.01 }\n"+
				"[safety.variable.m%d]\nhard = [0.0, 1.0]\nslew = 1.0\nsafe = 0.0\n", i, i)
		}
		return b.String()
	}
	e, _, _, _ := hosttest.Env()
	for name, c := range map[string]struct {
		knobs   int
		policy  string
		offered bool
	}{
		"many":         {12, `kind = "irgp-ucb"`, true},
		"few":          {10, `kind = "irgp-ucb"`, false},
		"taken":        {12, `kind = "ei"`, false},
		"another kind": {12, `kind = "ts"`, false},
		"confidence":   {12, "kind = \"irgp-ucb\"\nconfidence_setting = \"theory\"", false},
		"shared":       {12, "kind = \"irgp-ucb\"\n[model]\nlengthscales = \"shared\"", false},
		"sampled":      {12, "kind = \"irgp-ucb\"\nprior_rule = \"sampled\"", false},
		"acquisition":  {12, "kind = \"irgp-ucb\"\nacquisition = \"ts\"", false},
		"drift":        {12, "kind = \"irgp-ucb\"\n[policy.drift]\ntimescale = 50.0", false},
		"costs":        {12, "kind = \"irgp-ucb\"\n[cost]\nunit = \"EUR\"\nper_step = 1.0\nper_move = { m1 = 0.5 }", false},
		"risk":         {12, "kind = \"irgp-ucb\"\nrisk = 0.5\nnoise_sd = \"0.1 + 0.05*m0^2\"", false},
		"constraint":   {12, "kind = \"irgp-ucb\"\n[[constraint]]\nsensor = \"light\"\nrange = [-8.0, 8.0]", false},
		"fit":          {12, "kind = \"irgp-ucb\"\n[model]\nhyperparameters = \"fit\"", false},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := setup.Parse("wall.toml", []byte(file(c.knobs, c.policy)), e)
			if err != nil {
				t.Fatal(err)
			}
			if said := policyWords(w); strings.Contains(said, `kind = "ei" often finds the few that act sooner`) != c.offered {
				t.Errorf("offered is not %v in %s", c.offered, said)
			}
		})
	}
	listed, err := setup.Parse("wall.toml", []byte(file(12, `kind = "irgp-ucb"`)), e)
	if err != nil {
		t.Fatal(err)
	}
	listed.Spec.Candidates = [][]float64{make([]float64, 12)}
	if said := policyWords(listed); strings.Contains(said, "often finds") {
		t.Errorf("offered among listed settings: %s", said)
	}
	frozen := strings.Replace(file(12, `kind = "irgp-ucb"`), "range = [0.0, 1.0]\n", "range = [0.0, 1.0]\nfrozen = 0.5\n", 2)
	w, err := setup.Parse("wall.toml", []byte(frozen), e)
	if err != nil {
		t.Fatal(err)
	}
	if said := policyWords(w); strings.Contains(said, "often finds") {
		t.Errorf("ten of twelve are tuned, two are frozen: %s", said)
	}
}
