package search

// searchWorker has what one goroutine needs.
type searchWorker struct {
	forks     []fork // one per problem
	ascent    ascent
	neighbour []float64
	value     []float64
	points    []float64   // of a unit of screening that looks at some of them
	grouped   []Objective // a fork of one objective of each group, whose scratch the others share
}

// fork is one worker's copy of an objective.
type fork struct {
	objective       Objective
	surrogate       Surrogated // nil where it has none
	slopes          slopes
	surrogateSlopes slopes
}

func (s *Search) newWorker() *searchWorker {
	w := &searchWorker{}
	w.takeForks(s.problems)
	return w
}

// takeForks takes a copy of every problem's objective: those that there are, where they follow.
func (w *searchWorker) takeForks(problems []*state) {
	if w.follow(problems) {
		return
	}
	w.forks, w.grouped = w.forks[:0], w.grouped[:0]
	for _, q := range problems {
		w.forks = append(w.forks, q.fork(&w.grouped))
	}
}

func (w *searchWorker) follow(problems []*state) bool {
	if len(w.forks) != len(problems) {
		return false
	}
	for i, q := range problems {
		if f, ok := w.forks[i].objective.(Follower); !ok || !f.Follow(q.p.Objective) {
			return false
		}
	}
	return true
}

func (q *state) fork(grouped *[]Objective) fork {
	f := fork{objective: q.forkSharing(*grouped)}
	if f.objective == nil {
		f.objective = q.p.Objective.Fork()
		if q.group != nil {
			*grouped = append(*grouped, f.objective)
		}
	}
	f.surrogate, _ = f.objective.(Surrogated)
	if g, ok := f.objective.(Differentiable); ok {
		f.slopes.gradients = g.Gradients
	} else {
		f.slopes.gradients = (&differences{o: f.objective, b: &q.box}).gradients
	}
	f.slopes.limited, _ = f.objective.(Limited)
	f.surrogateSlopes = f.slopes
	if f.surrogate != nil {
		f.surrogateSlopes.gradients, f.surrogateSlopes.surrogate = f.surrogate.SurrogateGradients, true
	}
	return f
}

// forkSharing is a fork beside one of the others, nil where none is of the same group.
func (q *state) forkSharing(others []Objective) Objective {
	if q.group == nil {
		return nil
	}
	for _, o := range others {
		if f := q.group.ForkSharing(o); f != nil {
			return f
		}
	}
	return nil
}
