package num

// Kth returns what would stand at place k of v, from 0 on, if v were sorted, and leaves v in another order (Hoare,
// Algorithm 65: Find, Communications of the ACM 4, 1961). O(n) on average. Values are no NaN.
func Kth(v []float64, k int) float64 {
	for low, high := 0, len(v)-1; low < high; {
		pivot := v[low+(high-low)/2]
		i, j := low, high
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default: // between them all are the pivot
			return v[k]
		}
	}
	return v[k]
}
