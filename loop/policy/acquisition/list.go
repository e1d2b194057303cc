package acquisition

import (
	"math/rand/v2"
	"reflect"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/sampling"
	"github.com/labtuner/tuner/loop/policy/space"
)

// ListSampler draws posterior samples at listed settings. What depends on the kernel
// and the list alone is kept from step to step: with m settings and n observations at
// some of them, a draw then costs O(m^2 + n^2 + n m). A draw is a function of the
// process and the random numbers alone: the kept factor is that of a kernel with the same
// values.
type ListSampler struct{ cached []cachedList }

// cachedList is the prior's factor at the list of a domain.
type cachedList struct {
	gp     *gpcore.GP
	kernel kernels.Kernel
	domain *space.Domain
	prior  *sampling.Finite
}

// maxCachedLists bounds the factors that are kept; each takes up to 8 m^2 bytes.
const maxCachedLists = 32

// draw sets dst to a sample of g at the settings of a list. Where an observation is not
// at one of the settings (a device that came near, say) it is drawn from the joint
// posterior, which costs O(n^2 m + n m^2 + m^3).
func (l *ListSampler) draw(rng *rand.Rand, dst []float64, g *gpcore.GP, dom *space.Domain) error {
	at := make([]int, g.Len())
	for i := range at {
		k, ok := dom.Find(g.X(i))
		if !ok {
			return sampling.DrawJoint(g, rng, dst, dom.List)
		}
		at[i] = k
	}
	prior, err := l.prior(g, dom)
	if err != nil {
		return err
	}
	return prior.Draw(rng, dst, g, at)
}

func (l *ListSampler) prior(g *gpcore.GP, dom *space.Domain) (*sampling.Finite, error) {
	k := g.Kernel()
	for i := range l.cached {
		e := &l.cached[i]
		if e.gp != g || e.domain != dom {
			continue
		}
		if reflect.DeepEqual(e.kernel, k) {
			return e.prior, nil
		}
		f, err := sampling.NewFinite(k, dom.List)
		e.kernel, e.prior = k, f
		return f, err
	}
	f, err := sampling.NewFinite(k, dom.List)
	if err != nil {
		return nil, err
	}
	if len(l.cached) == maxCachedLists {
		l.cached = append(l.cached[:0], l.cached[1:]...)
	}
	l.cached = append(l.cached, cachedList{g, k, dom, f})
	return f, nil
}
