package kills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/setup"
)

// Whatever is wrong with a table is told with its line and column before anything begins;
// what can be taken is, and counted.
func TestWarmTables(t *testing.T) {
	c := newCampaign(t, nil, heater())
	const head = "power [W],temp [degC]\n"
	for name, tc := range map[string]struct{ text, want string }{
		"plain":             {head + "1,2\n3,4\n", "2 observations"},
		"byte order mark":   {"\ufeff" + head + "1,2\n", "1 observation"},
		"carriage returns":  {"power [W],temp [degC]\r\n1,2\r\n", "1 observation"},
		"blank lines":       {"\n\n" + head + "\n1,2\n", "1 observation"},
		"comments":          {"# a\n" + head + "# 1,2\n3,4\n", "1 observation"},
		"not a number":      {head + "1,NaN\n2,\n3,4\n", "1 observation"},
		"outside":           {head + "1,1e30\n2,3\n", "1 observation, 1 outside the ranges left out"},
		"two columns":       {"power [W],power [W],temp [degC]\n1,7,2\n", "w.csv:1: power: has two columns, 1 (power [W]) and 2 (power [W])"},
		"by two names":      {"power [W],mean [degC],temp [degC]\n1,7,2\n", "w.csv:1: temp: has two columns, 2 (mean [degC]) and 3 (temp [degC])"},
		"another unit":      {"power [mW],temp [degC]\n1,2\n", `w.csv:1: power: is in "mW" there, and in "W" here`},
		"no unit":           {"power,temp [degC]\n1,2\n", "w.csv:1: power: has no unit"},
		"unit of variances": {"power [W],temp [degC],variance [K^2]\n1,2,3\n", `w.csv:1: variance: is in "K^2" there, and in "degC^2" here`},
		"semicolons":        {"power [W];temp [degC]\n1;2\n", "w.csv:1: has its cells parted by semicolons or tabs"},
		"tabs":              {"power [W]\ttemp [degC]\n1\t2\n", "w.csv:1: has its cells parted by semicolons or tabs"},
		"decimal commas":    {head + `"1,5",2`, `w.csv:2: column 1, power [W]: "1,5" is not a finite number`},
		"infinite":          {head + "1,inf\n", `w.csv:2: column 2, temp [degC]: "inf" is not a finite number`},
		"huge":              {head + "1,1e101\n", `w.csv:2: column 2, temp [degC]: "1e101" is beyond 1e100`},
		"cells missing":     {head + "1,2\n3\n", "w.csv:3: has another number of cells than the header"},
		"quotation":         {head + "1,\"2\n", "w.csv:2: extraneous or missing"},
		"UTF-16":            {"\xff\xfep\x00o\x00", "w.csv: is not text in UTF-8, it looks like UTF-16"},
		"Latin-1":           {head + "1,2\n# \xb0\n", "w.csv:3: is not text in UTF-8"},
		"shots":             {"power [W],temp [degC],shots\n1,2,0\n", `w.csv:2: shots: "0" is not a number of shots`},
		"variance":          {"power [W],temp [degC],shots,variance\n1,2,2,-1\n", "w.csv:2: variance: must not be negative"},
		"valid":             {"power [W],temp [degC],valid\n1,2,perhaps\n", `w.csv:2: valid: "perhaps" is neither true nor false`},
		"empty":             {"", "w.csv: is empty"},
		"a header":          {head, "w.csv: has no observation"},
		"all outside":       {head + "100,2\n", "w.csv: has no observation in the ranges: 1 lie outside"},
		"all invalid":       {"power [W],temp [degC],valid\n1,2,false\n", "w.csv: has no observation: 1 row of it without a value"},
	} {
		file := filepath.Join(t.TempDir(), "w.csv")
		if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		told := ""
		if s, err := c.w.ReadWarm([]string{file}); err != nil {
			told = err.Error()
		} else {
			told = setup.WarmWords(s[0])
		}
		if told = strings.ReplaceAll(told, filepath.Dir(file)+"/", ""); !strings.HasPrefix(strings.TrimPrefix(told, "warm start from w.csv: "), tc.want) {
			t.Errorf("%s: told %q, want %q", name, told, tc.want)
		}
	}
}

// A file that is named twice counts once, and one that is neither table nor journal is
// told of as that.
func TestWarmFiles(t *testing.T) {
	c := newCampaign(t, nil, heater())
	name := func(n string) string { return filepath.Join(c.dir, n) }
	for n, text := range map[string]string{"a.csv": "power [W],temp [degC]\n1,2\n", "b.csv": "power [W],temp [degC]\n1,2\n", "notes.txt": "power [W],temp [degC]\n1,2\n"} {
		if err := os.WriteFile(name(n), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.w.ReadWarm([]string{name("a.csv"), name("b.csv"), name("gone.db"), name("notes.txt"), c.dir})
	for _, want := range []string{"b.csv: has the same observations as " + name("a.csv"), "gone.db: cannot be read: no such file", "notes.txt: is neither a journal nor a table", c.dir + ": is neither"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not told: %v", want, err)
		}
	}
}
