package gpcore

// Least is the observation that would leave next.
func (m *Memory) Least() int { return m.least() }
