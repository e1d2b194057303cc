package policy

// price is the cost of a domain's settings relative to a typical cost.
type price struct {
	costs   *costModel
	domain  *domain
	typical float64
}

// leastPrice is what a step that costs nothing counts as, so that it can be divided by.
const leastPrice = 1e-6

func (p *price) at(x []float64) float64 {
	return max(p.costs.of(p.domain, x)/p.typical, leastPrice)
}

// gradient sets grad to the slopes of the price at x and returns it.
func (p *price) gradient(grad, x []float64) float64 {
	if !p.costs.varies() {
		clear(grad)
		return p.at(x)
	}
	v := p.costs.gradient(p.domain, grad, x) / p.typical
	for i := range grad {
		grad[i] /= p.typical
		if v <= leastPrice {
			grad[i] = 0
		}
	}
	return max(v, leastPrice)
}
