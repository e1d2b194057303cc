package priors

import (
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/policy"
)

// recording is an experiment on snapshots of many sensors, as the paper's on recorded data: each
// prior is the empirical mean and covariance of some snapshots, and the objective is a snapshot
// that no prior was learnt from. The policies look for the sensor that reads most.
type recording struct {
	name, figure, about string
	noiseSD             float64
	// ownSD is the standard deviation that is added to each sensor's own: few snapshots do not
	// tell how much sensors differ by themselves.
	ownSD float64
	// snapshots gives them all; it is called when one is first needed.
	snapshots func() snapshots
	// same says that asked[k] is of the same kind as known[k], so that there is a true prior.
	same bool
}

// snapshots are what the sensors read, [prior][snapshot][sensor]: priors are learnt from known,
// objectives are drawn from asked.
type snapshots struct{ known, asked [][][]float64 }

func (r *recording) experiment() *experiment.Experiment {
	told := sync.OnceValue(func() (out []policy.Prior) {
		for _, rows := range r.snapshots().known {
			out = append(out, empirical(rows, r.ownSD).told(r.noiseSD))
		}
		return out
	})
	out := &experiment.Experiment{
		Name: "priors/" + r.name, Paper: priorsPaper, Figure: r.figure, About: r.about,
		Steps: priorsSteps, Seeds: priorsSeeds, Design: "random",
		Draw: func(seed uint64) (*experiment.Problem, error) { return r.problem(seed), nil },
		Common: func(*experiment.Problem) policy.Spec {
			return policy.Spec{Confidence: "srinivas", Beta: 2, Delta: priorsDelta,
				Model: policy.Model{Kernel: "se", Hyperparameters: "priors", Priors: told()}}
		},
		Competitors: priorsCompetitors(),
		Metrics:     []experiment.Metric{experiment.FinalCumulativeRegret, experiment.TruePriorShare, experiment.EliminatedPriors, experiment.FinalEntropy, experiment.FinalSimpleRegret},
	}
	if !r.same { // nobody can be told the true prior, or choose it
		out.Competitors = slices.DeleteFunc(out.Competitors, func(c experiment.Competitor) bool { return c.Set != nil })
		out.Metrics = slices.Delete(out.Metrics, 1, 2)
	}
	return out
}

// problem draws a snapshot.
func (r *recording) problem(seed uint64) *experiment.Problem {
	all := r.snapshots()
	kind := experiment.Stream(seed, experiment.ForPrior, 0).IntN(len(all.asked))
	f := all.asked[kind][experiment.Stream(seed, experiment.ForTruth, 0).IntN(len(all.asked[kind]))]
	p := &experiment.Problem{
		Variables:   experiment.Variables([]string{"sensor"}, [][2]float64{{0, float64(len(f) - 1)}}),
		ControlSets: experiment.HoldAll(1), Shots: 1,
		NoiseVariance: experiment.Constantly(r.noiseSD * r.noiseSD),
		Priors:        len(all.known),
		Prior:         -1,
		Best:          experiment.Always(slices.Max(f)),
		Truth:         func(_ int, x []float64) float64 { return f[int(math.Round(x[0]))] },
	}
	if r.same {
		p.Prior = kind
	}
	for i := range f {
		p.Candidates = append(p.Candidates, []float64{float64(i)})
	}
	return p
}

// table is a prior over finitely many arms: arm i of n stands at coordinate i/(n-1). It is its own
// kernel, without hyperparameters.
type table struct {
	mean []float64
	cov  []float64 // n x n, by rows
}

// empirical is the mean of all rows and their covariance (divided by rows less one), with ownSD²
// added to each variance.
func empirical(rows [][]float64, ownSD float64) *table {
	n := len(rows[0])
	t := &table{mean: make([]float64, n), cov: make([]float64, n*n)}
	for _, row := range rows {
		for i, v := range row {
			t.mean[i] += v / float64(len(rows))
		}
	}
	for _, row := range rows {
		for i := range n {
			for j := range n {
				t.cov[i*n+j] += (row[i] - t.mean[i]) * (row[j] - t.mean[j]) / float64(len(rows)-1)
			}
		}
	}
	for i := range n {
		t.cov[i*n+i] += ownSD * ownSD
	}
	return t
}

func (t *table) told(noiseSD float64) policy.Prior {
	return policy.Prior{Custom: t, NoiseSD: noiseSD, MeanOf: func(sensor []float64) float64 { return t.mean[int(math.Round(sensor[0]))] }}
}

func (t *table) arm(x []float64) int { return int(math.Round(x[0] * float64(len(t.mean)-1))) }

// Dim is 1: the arm.
func (t *table) Dim() int { return 1 }

// Cov is the covariance of two arms.
func (t *table) Cov(x, y []float64) float64 { return t.cov[t.arm(x)*len(t.mean)+t.arm(y)] }

// Variance is the variance of an arm.
func (t *table) Variance(x []float64) float64 { return t.Cov(x, x) }

// NumParams is 0: a table has no hyperparameters.
func (t *table) NumParams() int { return 0 }

// Params appends nothing.
func (t *table) Params(dst []float64) []float64 { return dst }

// Kinds appends nothing.
func (t *table) Kinds(dst []kernels.ParamKind) []kernels.ParamKind { return dst }

// WithParams is the table itself; it panics where hyperparameters are given.
func (t *table) WithParams(logs []float64) kernels.Kernel {
	if len(logs) > 0 {
		panic("priors: a table of covariances has no hyperparameters, " + strconv.Itoa(len(logs)) + " were given")
	}
	return t
}

// Gradient is zero: between arms there is nothing.
func (t *table) Gradient(dst, _, _ []float64) { clear(dst) }

// ParamGradient sets nothing.
func (t *table) ParamGradient([]float64, []float64, []float64) {}
