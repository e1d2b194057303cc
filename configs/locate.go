package configs

// locator knows the line of every key of a file. A nil locator knows nothing.
type locator struct {
	file  string
	lines map[string]int
	names map[string]string
}
