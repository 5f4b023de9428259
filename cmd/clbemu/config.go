package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/clbemu/clbemu/emulator/names"
)

const (
	envPrefix  = "CLBEMU"
	configFlag = "config"
)

// envName is the environment variable of a flag: data-dir is CLBEMU_DATA_DIR.
func envName(flag string) string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// configure fills the flags that the command line does not set: from the
// environment, then from the configuration file. The flags then hold what holds.
func configure(cmd *cobra.Command) error {
	flags := cmd.LocalNonPersistentFlags()
	v := viper.New()
	if flags.Lookup(configFlag) != nil {
		path, _ := flags.GetString(configFlag) // the flag exists
		if path == "" {
			path = os.Getenv(envName(configFlag))
		}
		if err := readConfig(v, path, flags); err != nil {
			return usage(err)
		}
	}
	var problem error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Changed || problem != nil {
			return
		}
		source, value, ok := "configuration file", v.GetString(f.Name), v.InConfig(f.Name)
		if text, set := os.LookupEnv(envName(f.Name)); set {
			source, value, ok = envName(f.Name), text, true
		}
		if !ok {
			return
		}
		if err := f.Value.Set(value); err != nil {
			problem = usage(fmt.Errorf("%s: %s: %w", source, f.Name, err))
		}
		f.Changed = true
	})
	return problem
}

// readConfig reads the configuration file, whose keys are the names of flags.
func readConfig(v *viper.Viper, path string, flags *pflag.FlagSet) error {
	if path == "" {
		return nil
	}
	v.SetConfigFile(path)
	v.SetConfigType("yaml")
	if err := v.ReadInConfig(); err != nil {
		return fmt.Errorf("configuration file %s: %w", path, err)
	}
	keys := v.AllKeys()
	slices.Sort(keys)
	for _, key := range keys {
		if flags.Lookup(key) == nil || key == configFlag {
			return fmt.Errorf("configuration file %s: unknown key %q%s", path, key, names.DidYouMean(key, flagNames(flags), "the keys are the flags of "+programName))
		}
		switch v.Get(key).(type) {
		case string, bool, int, uint64:
		default:
			return fmt.Errorf("configuration file %s: %s must be a single value", path, key)
		}
	}
	return nil
}

func flagNames(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
