package command

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/yamlfile"
)

const (
	envPrefix  = "CLBEMU"
	configFlag = "config"
)

// envName returns the environment variable of a flag: data-dir is CLBEMU_DATA_DIR.
func envName(flag string) string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// configure fills the flags that the command line does not set, as viper merges
// them: from the environment, then from the configuration file. The flags then hold
// what holds.
func configure(cmd *cobra.Command) error {
	flags := cmd.LocalNonPersistentFlags()
	settings, err := readConfig(flags)
	if err != nil {
		return usage(err)
	}
	merged := viper.New()
	merged.SetEnvPrefix(envPrefix)
	merged.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	merged.AllowEmptyEnv(true)
	merged.AutomaticEnv()
	for name, s := range settings {
		merged.SetDefault(name, s.value)
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Changed || err != nil || !merged.IsSet(f.Name) {
			return
		}
		if f.Value.Set(merged.GetString(f.Name)) != nil {
			err = usage(fmt.Errorf("%s: %w", sourceOf(f.Name, settings), wrongValue(f, merged.GetString(f.Name))))
		}
		f.Changed = true
		f.Annotations = map[string][]string{notTyped: nil}
	})
	return err
}

// notTyped marks a flag that the command line does not set.
const notTyped = "not typed"

// typed reports whether the command line sets a flag.
func typed(cmd *cobra.Command, flag string) bool {
	f := cmd.Flags().Lookup(flag)
	_, elsewhere := f.Annotations[notTyped]
	return f.Changed && !elsewhere
}

// onlyTyped gives flags that the command line does not set their defaults, whatever the
// environment has.
func onlyTyped(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		if f := cmd.Flags().Lookup(name); !typed(cmd, name) {
			_ = f.Value.Set(f.DefValue) // it was read from there
			f.Changed = false
		}
	}
}

// sourceOf returns where a flag's value comes from.
func sourceOf(flag string, settings map[string]setting) string {
	if _, found := os.LookupEnv(envName(flag)); found {
		return envName(flag)
	}
	return settings[flag].source
}

// setting holds a flag's value and its source.
type setting struct{ value, source string }

// readConfig reads the configuration file, if the command takes one and the user names one.
// Its keys are the names of flags. It parses as every file that users write does:
// viper would lose the lines.
func readConfig(flags *pflag.FlagSet) (map[string]setting, error) {
	if flags.Lookup(configFlag) == nil {
		return nil, nil
	}
	path, _ := flags.GetString(configFlag) // the flag exists
	if path == "" {
		path = os.Getenv(envName(configFlag))
	}
	if path == "" {
		return nil, nil
	}
	text, err := readPath(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	d, settings := &yamlfile.Decoder{File: path}, make(map[string]setting)
	for n, document := range d.Documents(text) {
		if n > 0 {
			d.Fail(document, "", "there is a second document")
		}
		if !d.Is(document, yaml.MappingNode, "settings by name", "") {
			continue
		}
		for _, e := range d.Entries(document, "") {
			key, value := e.Key.Value, ""
			d.Decode(e.Value, &value, key)
			if flags.Lookup(key) == nil || key == configFlag {
				d.Fail(e.Key, key, "there is no such setting%s", names.DidYouMean(key, flagNames(flags), "the keys are the flags of "+programName))
			}
			settings[key] = setting{value, fmt.Sprintf("%s:%d", path, e.Value.Line)}
		}
	}
	return settings, d.Err()
}

func flagNames(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
