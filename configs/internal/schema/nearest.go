package schema

import "strconv"

// Nearest returns the word among candidates that is closest to what was written,
// or "" where none is close enough to be what was meant: the distance may be at
// most a third of the word, and two for short words. Swapping two neighbouring
// letters counts as one change. Ties go to the earlier candidate.
func Nearest(word string, candidates []string) string {
	limit := max(2, len(word)/3)
	best := ""
	for _, c := range candidates {
		d := distance(word, c)
		if d <= limit && d < max(len(word), len(c))/2+1 {
			best, limit = c, d-1
		}
	}
	return best
}

// DidYouMean is the hint for an unknown word.
func DidYouMean(word string, candidates []string) string {
	if n := Nearest(word, candidates); n != "" {
		return "did you mean " + strconv.Quote(n) + "?"
	}
	return ""
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour to turn a into b (optimal string alignment). O(len(a)*len(b)).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, above, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(t)]
}
