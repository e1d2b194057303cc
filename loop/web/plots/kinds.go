package plots

import (
	"strings"

	"github.com/labtuner/tuner/loop/web/figure"
)

// Kind is one kind of figure.
type Kind struct {
	Name, About string
	draw        func(*Source, Options) (*figure.Figure, error)
}

// Two kinds that have options of their own.
const progress, contours = "progress", "contour"

// Kinds are all kinds of figures, in the order in which they are of use.
func Kinds() []Kind {
	return []Kind{
		{progress, "what was measured, and the best so far, over steps or cost", (*Source).progress},
		{"tradeoff", "mean against noise of every setting tried, with the front", (*Source).tradeoff},
		{"risk", "what would be recommended as the charge for noise grows: mean, noise, setting", (*Source).risk},
		{"sets", "gain against cost of each control set, and when it was chosen", (*Source).sets},
		{contours, "the model over two variables: mean, its uncertainty, noise, probability of the constraints, acquisition", (*Source).contour},
		{"slices", "the model along every variable, with what was measured", (*Source).slices},
		{"importance", "how much each variable matters: shares of the variation, and lengthscales", (*Source).importance},
		{"parallel", "every setting tried, a line each, coloured by its worth", (*Source).parallel},
		{"sensors", "every recorded sensor over the steps, with its limits", (*Source).sensors},
		{"predicted", "what the model predicted against what was measured", (*Source).predicted},
	}
}

// Draw makes a figure.
//
// Errors: an unknown kind or variable, an option that the kind does not have, [ErrNothing], and those of the model.
func Draw(s Source, kind string, o Options) (*figure.Figure, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == kind {
			if err := o.fit(kind); err != nil {
				return nil, err
			}
			return k.draw(&s, o)
		}
		names = append(names, k.Name)
	}
	return nil, wrong("there is no kind of figure %q; there are %s", kind, strings.Join(names, ", "))
}

// fit refuses an option that a kind would leave unused.
func (o Options) fit(kind string) error {
	for _, c := range []struct{ of, name, value string }{{contours, "x", o.X}, {contours, "y", o.Y}, {contours, "of", o.Of}, {progress, "over", o.Over}} {
		if c.value != "" && c.of != kind {
			return wrong("%s belongs to --kind %s; a figure of kind %s has none", c.name, c.of, kind)
		}
	}
	return nil
}

// chosen checks a word against those that may stand there; "" is the first.
func chosen(what, word string, words ...string) (string, error) {
	if word == "" {
		return words[0], nil
	}
	for _, w := range words {
		if w == word {
			return w, nil
		}
	}
	return "", wrong("%s is %q, and may be %s", what, word, strings.Join(words, ", "))
}
