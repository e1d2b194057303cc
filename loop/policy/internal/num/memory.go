package num

// Memory is what one call of a policy works with and nobody keeps: what is taken from it holds until the next
// Begin, after which it is given again. So calls of the same size take nothing from the heap. A nil Memory
// takes all from the heap. It is not safe for concurrent use.
type Memory struct {
	call   int // how often it has begun
	floats Slab[float64]
	ints   Slab[int]
}

// Begin takes back what was given.
func (m *Memory) Begin() { m.call++ }

// Floats are n zeros.
func (m *Memory) Floats(n int) []float64 {
	if m == nil {
		return make([]float64, n)
	}
	return m.floats.Take(m, n)
}

// Ints are n zeros.
func (m *Memory) Ints(n int) []int {
	if m == nil {
		return make([]int, n)
	}
	return m.ints.Take(m, n)
}

// Slab is the part of a Memory for values of one type, in the hands of who makes them. The zero value is
// ready for use.
type Slab[T any] struct {
	block   []T
	used    int
	missing int // what the call has taken from the heap
	call    int
}

// Take gives n zero values until the next Begin of m.
func (s *Slab[T]) Take(m *Memory, n int) []T {
	if m == nil {
		return make([]T, n)
	}
	if s.call != m.call {
		if s.missing > 0 {
			n := len(s.block) + s.missing
			s.block = make([]T, n+n/4) // models grow from step to step
		}
		s.used, s.missing, s.call = 0, 0, m.call
	}
	if s.used+n > len(s.block) {
		s.missing += n
		return make([]T, n)
	}
	out := s.block[s.used : s.used+n : s.used+n]
	s.used += n
	clear(out)
	return out
}

// Objects is the part of a Memory for objects that are pointed to: each stays where it is, and is given again
// with what it held. The zero value is ready for use.
type Objects[T any] struct {
	all  []*T
	used int
	call int
}

// Take gives an object until the next Begin of m.
func (o *Objects[T]) Take(m *Memory) *T {
	if m == nil {
		return new(T)
	}
	if o.call != m.call {
		o.used, o.call = 0, m.call
	}
	if o.used == len(o.all) {
		o.all = append(o.all, new(T))
	}
	o.used++
	return o.all[o.used-1]
}

// Pieces gives memory for good, many pieces of one object of the heap.
type Pieces[T any] struct{ left []T }

// piecesOfOne is how many pieces of the same size one object of the heap makes.
const piecesOfOne = 64

// Take gives n zero values, which are the caller's.
func (p *Pieces[T]) Take(n int) []T {
	if n > len(p.left) {
		p.left = make([]T, piecesOfOne*n)
	}
	out := p.left[:n:n]
	p.left = p.left[n:]
	return out
}
