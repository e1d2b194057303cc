package host

import (
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/show"
)

func TestSparkLevelsFollowTheLocale(t *testing.T) {
	for _, c := range []struct {
		locale map[string]string
		want   string
	}{
		{nil, show.ASCIILevels},
		{map[string]string{"LANG": "de_DE.UTF-8"}, show.UnicodeLevels},
		{map[string]string{"LANG": "C.utf8"}, show.UnicodeLevels},
		{map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, show.ASCIILevels},
		{map[string]string{"LC_ALL": "", "LC_CTYPE": "en_US.UTF-8", "LANG": "C"}, show.UnicodeLevels},
	} {
		e := &Env{Lookup: func(name string) (string, bool) { v, ok := c.locale[name]; return v, ok }}
		if got := e.SparkLevels(); got != c.want {
			t.Errorf("%v: %q", c.locale, got)
		}
	}
}
