package commands

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/configs"
)

func newConfigCommand(e *host.Env) *cobra.Command {
	var name string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "List the sample configurations, or print one",
		Long: `List the sample configurations, or print one to start from:

  tuner config --sample laser > laser.toml`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			samples := configs.Samples()
			if name == "" {
				return listSamples(e, samples, asJSON)
			}
			names := make([]string, len(samples))
			for i, s := range samples {
				if s.Name == name {
					_, err := e.Stdout.Write(s.Text)
					return err
				}
				names[i] = s.Name
			}
			hint := "tuner config lists the samples"
			if near := configs.Nearest(name, names); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return fault.Usage(fault.WithHint(fmt.Errorf("there is no sample %q", name), hint))
		},
	}
	cmd.Flags().StringVar(&name, "sample", "", "print this sample")
	cmd.Flags().BoolVar(&asJSON, "json", false, "list as one JSON document")
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, s := range configs.Samples() {
			names = append(names, s.Name+"\t"+s.Title)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("sample", complete); err != nil {
		panic("tuner: config: " + err.Error()) // only a misspelt flag name gets here
	}
	return cmd
}

func listSamples(e *host.Env, samples []configs.Sample, asJSON bool) error {
	if asJSON {
		type sample struct {
			Name  string `json:"name"`
			Title string `json:"title"`
		}
		list := []sample{}
		for _, s := range samples {
			list = append(list, sample{s.Name, s.Title})
		}
		return json.NewEncoder(e.Stdout).Encode(map[string]any{"type": "samples", "samples": list})
	}
	t := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	for _, s := range samples {
		fmt.Fprintf(t, "%s\t%s\n", s.Name, s.Title)
	}
	return t.Flush()
}
