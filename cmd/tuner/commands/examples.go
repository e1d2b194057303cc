package commands

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// example is a command line and what it does.
type example struct{ line, what string }

// askExamples are those of a command to a running tuner that takes nothing else.
func askExamples(name, reason string) []example {
	return []example{
		{name, "the only run of this computer"},
		{name + " laser", "the run of that name"},
		{fmt.Sprintf("%s laser.toml --reason %q", name, reason), "a run elsewhere, through the file's broker"},
	}
}

// examples are at least three command lines of every command, by the command's path below tuner.
var examples = map[string][]example{
	"": {
		{"config --sample laser > laser.toml", "a file to start from"},
		{"simulate laser.toml", "run it on a simulated instrument"},
		{"run my.toml", "tune the instrument"},
		{"report pulse-energy.simulate.db", "the result, as one HTML file"},
	},
	"simulate": {
		{"simulate laser.toml", "the journal is NAME.simulate.db"},
		{"simulate laser.toml --journal try.db -q", "tell only warnings and the result"},
		{"simulate laser.toml --inject stuck:energy@120", "a sensor that sticks from step 120 on"},
		{"simulate laser.toml --json | jq .mean", "a line of JSON per step"},
	},
	"run": {
		{"run --shadow my.toml", "dry run: measure and propose, write nothing"},
		{"run my.toml", "begin, or go on where the journal ends"},
		{"run my.toml --new", "keep the old journal aside, begin again"},
		{"run my.toml --try settings.csv", "measure settings of your own first"},
	},
	"check": {
		{"check my.toml", "every mistake, and what will happen"},
		{"check --probe my.toml", "read every channel once, move nothing"},
		{"check --effective my.toml", "every key with its value and origin"},
	},
	"init": {
		{"init --probe", "only list what answers"},
		{`init oven.toml --device exec="python3 oven.py" --objective yield --knob power`, "a program of your own"},
		{"init lamp.toml --device mqtt=tcp://127.0.0.1:1883", "devices at a broker"},
		{"init bench.toml --device serial=/dev/ttyUSB0", "an instrument at a serial port"},
		{"init hall.toml --device opcua=opc.tcp://127.0.0.1:4840", "an OPC UA server"},
	},
	"config": {
		{"config", "list the samples"},
		{"config --sample thiscomputer", "print one: an instrument that every computer is"},
		{"config --sample nutrient > my.toml", "start from one: MQTT"},
	},
	"doctor": {
		{"doctor", "ports, brokers, disk and clock of this computer"},
		{"doctor my.toml", "those that the file needs"},
		{"doctor --journal /var/lib/tuner --json", "the disk of another folder, for a program"},
	},
	"plant": {
		{"plant laser.toml", "every device, each under its driver"},
		{"plant nutrient.toml --device doser", "one device only"},
		{"plant laser.toml --faults faults.pipe", "faults that are written to a pipe while it runs"},
	},
	"exec-test": {
		{"exec-test python3 heater.py", "is the program an instrument?"},
		{"exec-test --write python3 heater.py", "also write each output's safe value"},
		{"exec-test -v --reply-timeout 10s ./slow", "show its standard error, wait longer"},
	},
	"safety": {
		{"safety explain", "states and rules"},
		{"safety explain my.toml", "what they mean for a file"},
		{"safety explain --why", "why each default is what it is"},
	},
	"safety explain": {
		{"safety explain", "states, rules and how each is cleared"},
		{"safety explain my.toml", "what they mean for each actuator and sensor"},
		{"safety explain --why", "why each default is what it is"},
	},
	"status": {
		{"status", "every run of this computer"},
		{"status laser", "one run: what it does and has found"},
		{"status laser.toml --json", "a run elsewhere, for a program"},
	},
	"pause":    askExamples("pause", "changing the sample"),
	"resume":   askExamples("resume", "the sample is changed"),
	"stop":     askExamples("stop", "smoke"),
	"set-best": askExamples("set-best", "good enough for today"),
	"end":      askExamples("end", "the beam time is over"),
	"make-safe": {
		{"make-safe laser", "a run of this computer does it"},
		{"make-safe my.toml", "also where no run answers"},
		{"make-safe --after-service my.toml", "ExecStopPost= of a systemd service"},
	},
	"reset": {
		{"reset my.toml", "clear a trip after looking at the instrument"},
		{"reset feed.toml --refilled acid", "the reservoir is full again"},
		{"reset feed.toml --doses-anew", "begin the budgets where the record is lost"},
	},
	"try": {
		{"try laser mirror_x=1.2,mirror_y=0.3", "as the next step"},
		{`try laser mirror_x=1.2 --times 5 --reason "is it really that noisy?"`, "five steps"},
		{"try laser --csv settings.csv", "a column a variable, a row a step"},
	},
	"strike": {
		{`strike laser 41,57 --reason "the shutter was closed"`, "two steps"},
		{"strike laser 41-57", "all of a range"},
		{"strike laser --sensor-saturated pulse_energy", "every step that saturated a sensor"},
		{"strike laser.db 41", "in a journal that no run writes"},
	},
	"unstrike": {
		{"unstrike laser 41", "one step counts again"},
		{"unstrike laser 41-57", "all of a range"},
		{"unstrike laser.db 41", "in a journal that no run writes"},
		{`unstrike laser.toml 41,57 --reason "the shutter was open"`, "a run elsewhere"},
	},
	"narrow": {
		{"narrow laser mirror_x=-0.5:0.5", "one variable"},
		{"narrow laser mirror_x=-0.5:0.5 grating=12:13", "two"},
		{`narrow laser.toml grating=12:13 --reason "the mount hits"`, "a run elsewhere"},
	},
	"widen": {
		{"widen laser mirror_x=-2:2", "one variable"},
		{"widen laser mirror_x=-2:2 grating=5:20", "two"},
		{`widen laser.toml grating=5:20 --reason "the best is at the edge"`, "a run elsewhere"},
	},
	"freeze": {
		{"freeze laser grating=12.6", "one variable"},
		{"freeze laser grating=12.6 mirror_x=0", "two"},
		{`freeze laser.toml grating=12.6 --reason "its motor is hot"`, "a run elsewhere"},
	},
	"free": {
		{"free laser grating", "one variable"},
		{"free laser grating mirror_x", "two"},
		{`free laser.toml grating --reason "the motor is cool"`, "a run elsewhere"},
	},
	"change": {
		{"change laser stop.steps=300 policy.risk=0.2", "two keys"},
		{"change laser stop.no_improvement.steps=40", "end when nothing gets better"},
		{"change laser stop.time=", "leave a key out"},
	},
	"best": {
		{"best laser.db", "by a journal"},
		{"best laser --try", "the command that measures it again"},
		{"best laser.db --risk 2", "if steadiness counted more"},
		{"best laser.db --front", "all that are not beaten in both"},
		{"best laser.db --sensors energy:max,temperature:min", "by two sensors, as measured"},
	},
	"report": {
		{"report laser.db", "laser.html"},
		{"report laser.db -o monday.html", "under another name"},
		{"report laser.db --derive", "derive every decision again and tell the verdict"},
	},
	"plot": {
		{"plot laser.db -o progress.svg", "best so far"},
		{"plot laser.db --kind contour --x mirror_x --y grating -o contour.pdf", "the model over two variables"},
		{"plot laser.db --kind tradeoff --size column -o tradeoff.png", "mean against noise, for a paper"},
	},
	"export": {
		{"export laser.db > laser.csv", "a row a step"},
		{"export laser.db --shots -o shots.csv", "a row a shot, with its units in shots.units.json"},
		{"export laser.db --format parquet --shots -o shots.parquet", "for pandas, polars, DuckDB"},
		{"export laser.db --format jsonl --all", "every record"},
		{"export laser.db --format bluesky -o run.jsonl", "documents of Bluesky's event model"},
	},
	"replay": {
		{"replay laser.db", "is every decision as recorded?"},
		{"replay laser.db --until 40", "the first 40 steps"},
		{"replay laser.db --folder /etc/tuner --json", "where the files are that it names, for a program"},
	},
	"dump": {
		{"dump laser.db -o bug.txt", "a file for a bug report, without secrets"},
		{"dump laser.db --last 100 -o bug.txt", "more of the newest"},
		{"dump laser.db --replay=false | less", "without deriving decisions"},
	},
	"bench": {
		{"bench list", "the experiments"},
		{"bench run irgp/synthetic --seeds 5", "one of them"},
		{"bench merge a.json b.json -o all.json", "results of two computers"},
	},
	"bench list": {
		{"bench list", "with papers, budgets and policies"},
		{"bench list --json", "for a program"},
		{"bench list | grep rahbo", "those of one paper"},
	},
	"bench run": {
		{"bench run irgp/synthetic", "all seeds and policies"},
		{"bench run irgp/synthetic --seeds 5 --steps 20", "a quick look"},
		{"bench run irgp/synthetic --shard 0/4 --out part0.json", "a quarter of the seeds"},
	},
	"bench merge": {
		{"bench merge part0.json part1.json -o all.json", "two shards"},
		{"bench merge part*.json -o all.json", "all of a folder"},
		{"bench merge part*.json -o -", "to stdout"},
	},
	"version": {
		{"version", "the version and what it was built for"},
		{"version --json", "for a program"},
		{"--version", "the same"},
	},
	"completion": {
		{"completion bash > /etc/bash_completion.d/tuner", "bash, for all users"},
		{`completion zsh > "${fpath[1]}/_tuner"`, "zsh"},
		{"completion fish > ~/.config/fish/completions/tuner.fish", "fish"},
	},
	"help": {
		{"help", "every command"},
		{"help run", "one"},
		{"help bench run", "one below another"},
	},
}

// shells are where the completion of a shell is kept, for one user and for all.
var shells = map[string][2]string{
	"bash":       {"~/.local/share/bash-completion/completions/tuner", "/etc/bash_completion.d/tuner"},
	"zsh":        {"~/.zsh/completions/_tuner", "/usr/local/share/zsh/site-functions/_tuner"},
	"fish":       {"~/.config/fish/completions/tuner.fish", "/etc/fish/completions/tuner.fish"},
	"powershell": {"tuner.ps1", "profile.ps1"},
}

// addExamples gives every command its examples. cobra makes completion and help when the command
// line is read; they are made here, so that they have some too.
func addExamples(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var add func(c *cobra.Command, path string)
	add = func(c *cobra.Command, path string) {
		c.Example = exampleText(examplesOf(path))
		for _, sub := range c.Commands() {
			add(sub, strings.TrimPrefix(path+" "+sub.Name(), " "))
		}
	}
	add(root, "")
}

// examplesOf are the examples of a command by its path.
func examplesOf(path string) []example {
	shell, completion := strings.CutPrefix(path, "completion ")
	if !completion {
		return examples[path]
	}
	files := shells[shell]
	return []example{
		{path + " > " + files[0], "for yourself"},
		{path + " > " + files[1], "for all users"},
		{path + " --no-descriptions", "without a word on each"},
	}
}

// longestExample is up to where a line has what it does beside it, not below.
const longestExample = 46

// exampleText is the examples as help shows them.
func exampleText(list []example) string {
	width := 0
	for _, x := range list {
		if n := len(x.line); n <= longestExample {
			width = max(width, n)
		}
	}
	var b strings.Builder
	for i, x := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(x.line) > width {
			fmt.Fprintf(&b, "  tuner %s\n  %s # %s", x.line, strings.Repeat(" ", len("tuner ")+width), x.what)
			continue
		}
		fmt.Fprintf(&b, "  tuner %-*s # %s", width, x.line, x.what)
	}
	return b.String()
}
