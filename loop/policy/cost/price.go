package cost

import (
	"github.com/labtuner/tuner/loop/policy/space"
)

// Price is the cost of a domain's settings relative to a typical cost.
type Price struct {
	costs   *Model
	domain  *space.Domain
	typical float64
}

// NewPrice is the price of a domain's settings.
func NewPrice(costs *Model, d *space.Domain) Price { return Price{costs, d, costs.TypicalCost} }

// minPrice is what a step that costs nothing counts as, so that it can be divided by.
const minPrice = 1e-6

func (p *Price) At(x []float64) float64 {
	return max(p.costs.Weighed(p.domain, x)/p.typical, minPrice)
}

// Gradient sets grad to the slopes of the price at x and returns it.
func (p *Price) Gradient(grad, x []float64) float64 {
	if !p.costs.varies() {
		clear(grad)
		return p.At(x)
	}
	v := p.costs.gradient(p.domain, grad, x) / p.typical
	for i := range grad {
		grad[i] /= p.typical
		if v <= minPrice {
			grad[i] = 0
		}
	}
	return max(v, minPrice)
}

// Varies reports whether settings have different prices.
func (p *Price) Varies() bool { return p.costs.varies() }
