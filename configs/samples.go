package configs

import (
	_ "embed"
	"strings"
)

// Sample is a configuration that runs as it is.
type Sample struct {
	// Name is the file's name without its ending.
	Name string
	// Title is the first sentence of the file.
	Title string
	// Text is the file.
	Text []byte
}

//go:embed laser.toml
var laserText []byte

//go:embed nutrient.toml
var nutrientText []byte

//go:embed thiscomputer.toml
var thiscomputerText []byte

//go:embed perovskite.toml
var perovskiteText []byte

//go:embed feed.toml
var feedText []byte

//go:embed quiet-and-cheap.toml
var quietAndCheapText []byte

// Samples returns the embedded samples, the one to begin with first. The texts
// are copies.
func Samples() []Sample {
	samples := []Sample{
		{Name: "laser", Text: laserText},
		{Name: "nutrient", Text: nutrientText},
		{Name: "thiscomputer", Text: thiscomputerText},
		{Name: "perovskite", Text: perovskiteText},
		{Name: "feed", Text: feedText},
		{Name: "quiet-and-cheap", Text: quietAndCheapText},
	}
	for i := range samples {
		s := &samples[i]
		first, _, _ := strings.Cut(string(s.Text), "\n")
		s.Title = strings.TrimSpace(strings.TrimLeft(first, "#"))
		s.Text = []byte(string(s.Text))
	}
	return samples
}
