package policy

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/labtuner/tuner/gpcore/sobol"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/scripts/testsize"
)

// idsSpec chooses among control sets with costs.
func idsSpec(seed uint64, rho float64) Spec {
	s := subsetsSpec("ucb-psq-per-cost", seed)
	s.Acquisition, s.Rho = acquireIDS, rho
	return s
}

// ratioAt is R at a setting of an option by its definition: from expectations of the
// moments over the rule's nodes, one point at a time.
func ratioAt(d *decision, o acquisition.Option, top float64, x []float64) (ratio, bound float64) {
	r := o.Objective.(*acquisition.InformationRatio)
	nodes, _ := r.LowerBound.Rules()
	dom := d.Domains[o.Set]
	all := make([]float64, len(d.Domains[0].Axes))
	for j, i := range dom.Coords {
		all[i] = x[j]
	}
	mean, sd := 0.0, 0.0
	for q, w := range nodes.Weight {
		for j, i := range dom.Random {
			all[i] = nodes.X[q*len(dom.Random)+j]
		}
		mu, s := momentsAt(d.Criterion.Model.GP, all)
		mean, sd = mean+w*mu, sd+w*s
	}
	return (top - mean) * (top - mean) / (sd * sd), mean + d.Beta*sd
}

// The identity R(argmax UCB) = beta_t, in every form of the confidence parameter; R is
// nowhere less; the objective is 1/R where the constraint holds; and gradients are those
// of differences.
func TestInformationRatio(t *testing.T) {
	for _, beta := range []float64{0.3, 1, 2, 4} {
		s := idsSpec(9, 2)
		s.Beta = beta
		p := fresh(t, s)
		fill(t, p, s, 14, 1)
		e := p.(*engine)
		if err := e.model.Refresh(); err != nil {
			t.Fatal(err)
		}
		d, err := e.decision(context.Background(), 15, []int{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		top, err := d.Peak()
		if err != nil {
			t.Fatal(err)
		}
		options, err := e.acquisition.Options(d.Decision)
		if err != nil {
			t.Fatal(err)
		}
		if options[0].Set != top.Set || options[0].Start == nil {
			t.Errorf("beta %g: the option of the greatest bound, of set %d, is not the first", beta, top.Set)
		}
		// E[mu] in closed form and by 128 nodes agree to about 1e-4.
		if got, _ := ratioAt(d, options[0], top.Value, top.X); math.Abs(got/(beta*beta)-1) > 5e-3/beta {
			t.Errorf("beta %g: R at the greatest bound is %.6f, want %.6f", beta, got, beta*beta)
		}
		if got := 1 / valuesAt(options[0], top.X)[0]; math.Abs(got/(beta*beta)-1) > 1e-6 {
			t.Errorf("beta %g: the objective takes R at the greatest bound for %.9f, want %.9f", beta, got, beta*beta)
		}
		kept := 0
		scan := sobol.New(3)
		u := make([]float64, 3)
		for k := range 200 {
			scan.Point(u, k)
			for _, o := range options {
				x := u[:d.Domains[o.Set].Size()]
				ratio, bound := ratioAt(d, o, top.Value, x)
				if bound > top.Value+2e-3 {
					t.Fatalf("beta %g: the bound at %v is %g, above its maximum %g", beta, x, bound, top.Value)
				}
				got := valuesAt(o, x)[0]
				switch edge := ratio / (s.Rho * beta * beta); {
				case math.Abs(edge-1) < 0.01: // either side of the constraint, by the nodes' error
				case edge < 1:
					kept++
					if math.Abs(got*ratio-1) > 0.01 {
						t.Errorf("beta %g, %v: 1/R is %g, want %g", beta, x, got, 1/ratio)
					}
					slopes(t, o, x)
				case got > 2*acquisition.Forbidden/ratio:
					t.Errorf("beta %g, %v: R is %g times the most that is allowed, but the objective is %g", beta, x, edge, got)
				}
			}
		}
		if kept < 5 {
			t.Errorf("beta %g: only %d of the scanned settings keep the constraint: it is not tested", beta, kept)
		}
	}
}

// Whatever is proposed keeps the constraint, with boxes, lists, steps of a device, costs
// of settings and of movement, a budget that runs out and decisions that are cut; can be
// paid; and among the settings that keep it, none of many scattered ones has a smaller
// product of cost and ratio. In the whole every rho goes with every number of units.
func TestCostIDSIsFeasible(t *testing.T) {
	listed := withCandidates(pricedSpec("costids"), 40)
	for i := range listed.Candidates {
		listed.Candidates[i][0] *= 10
	}
	stepped := pricedSpec("costids")
	stepped.Variables[0].Resolution, stepped.Variables[1].Levels = 0.05, []float64{0, 0.1, 0.35, 0.8, 1}
	for name, s := range map[string]Spec{"box": pricedSpec("costids"), "list": listed, "steps": stepped, "sets": idsSpec(4, 1)} {
		for i, rho := range []float64{1, 1.5, 5} {
			for j, units := range []int{0, 1, 3} {
				if i != j && !testsize.Whole() {
					continue
				}
				s.Rho, s.Budget, s.InitialSteps = rho, 70, 3
				if name == "sets" {
					s.Budget = 9
				}
				feasibleRun(t, name, s, units)
			}
		}
	}
}

func feasibleRun(t *testing.T, name string, s Spec, units int) {
	t.Helper()
	p := fresh(t, s)
	e := p.(*engine)
	w, left := story{scale: 1, shots: 1}, s.Budget
	for range 12 {
		e.LimitWork(units)
		q, err := p.Propose(context.Background())
		if errors.Is(err, cost.ErrBudget) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if q.Cost > left+1e-8 {
			t.Fatalf("%s, step %d: costs %g, %g is left", name, q.Step, q.Cost, left)
		}
		if left -= q.Cost; !q.Initial {
			keepsConstraint(t, name, e, q)
		}
		for i, o := range w.answer(&s, q) {
			if o.Cost = 0; i == 0 {
				o.Cost = q.Cost
			}
			observe(t, p, o)
		}
	}
}

// keepsConstraint repeats the decision behind a proposal.
func keepsConstraint(t *testing.T, name string, e *engine, q Proposal) {
	t.Helper()
	d, err := e.decision(context.Background(), q.Step, e.affordableSets())
	if err != nil {
		t.Fatal(err)
	}
	options, err := e.acquisition.Options(d.Decision)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range options {
		if o.Set != q.ControlSet {
			continue
		}
		dom := d.Domains[o.Set]
		x := make([]float64, dom.Size())
		for j, i := range dom.Coords {
			x[j] = e.axes[i].Unit(q.X[i])
		}
		chosen := valuesAt(o, x)[0]
		if chosen < acquisition.MinRatio || chosen <= 10*acquisition.Forbidden {
			t.Errorf("%s, step %d: %v breaks the constraint (rho %g)", name, q.Step, q.X, e.spec.Rho)
		}
		if e.limit > 0 {
			return
		}
		// 2% for the search's tolerance at the constraint's edge.
		value := math.Log(chosen/d.Costs.Of(dom, x)) + 0.02
		scan := sobol.New(dom.Size())
		at := make([]float64, dom.Size())
		for k := range 300 {
			scan.Point(at, k)
			dom.Round(at)
			v := valuesAt(o, at)[0]
			if c := d.Costs.Of(dom, at); v > 1e-60 && d.Costs.Affordable(dom, at) && math.Log(v/c) > value && !e.excluded[o.Set].Decide(d.Step) {
				t.Errorf("%s, step %d, rho %g: %v at cost %g has 1/(cost R) = %g, what was proposed %g", name, q.Step, e.spec.Rho, at, c, v/c, math.Exp(value))
			}
		}
	}
}

// With rho 1, or with equal costs, CostIDS is GP-UCB.
func TestCostIDSWithoutLeewayIsUCB(t *testing.T) {
	for name, edit := range map[string]func(*Spec){
		"rho 1":       func(s *Spec) { s.Rho = 1; s.SettingCost = func(_ int, x []float64) float64 { return math.Exp(x[0]) } },
		"equal costs": func(s *Spec) { s.Rho = 3 },
	} {
		s := fixedSpec("costids", 2, 12)
		edit(&s)
		u := s
		u.Kind = "gp-ucb"
		a, b := fresh(t, s), fresh(t, u)
		observeAt(t, a, s, 9)
		observeAt(t, b, u, 9)
		p, q := propose(t, a), propose(t, b)
		for i := range p.X {
			if math.Abs(p.X[i]-q.X[i]) > 1e-3 { // two searches of one maximum
				t.Errorf("%s: CostIDS proposes %v, GP-UCB %v", name, p.X, q.X)
				break
			}
		}
	}
}

// More leeway, cheaper steps: the cost of what is proposed from the same observations
// does not grow with rho.
func TestLeewayMakesStepsCheaper(t *testing.T) {
	for seed := range uint64(5) {
		last := math.Inf(1)
		for _, rho := range []float64{1, 1.5, 3, 10} {
			s := fixedSpec("costids", 2, seed)
			s.Rho = rho
			s.SettingCost = func(_ int, x []float64) float64 { return 30 * x[0] }
			p := fresh(t, s)
			observeAt(t, p, s, 9)
			q := propose(t, p)
			if q.Cost > last+0.02 {
				t.Errorf("seed %d: with rho %g a step costs %g, with less leeway %g", seed, rho, q.Cost, last)
			}
			last = q.Cost
		}
	}
}
