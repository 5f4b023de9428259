// Command helm lints deploy/chart and prints what it installs, by Helm's own library.
//
// It is a separate module, so that no other one has Helm's dependencies.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/cli/values"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/getter"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/releaseutil"
)

func main() {
	var o options
	flag.StringVar(&o.chart, "chart", "../chart", "folder of the chart")
	flag.StringVar(&o.release, "release", "clbemu", "name of the release")
	flag.StringVar(&o.namespace, "namespace", "default", "namespace of the release")
	flag.Func("set", "a value, as name=value", func(v string) error { o.values.Values = append(o.values.Values, v); return nil })
	flag.Func("values", "file of values", func(f string) error { o.values.ValueFiles = append(o.values.ValueFiles, f); return nil })
	flag.Parse()
	if err := o.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "helm:", err)
		os.Exit(1)
	}
}

type options struct {
	chart, release, namespace string
	values                    values.Options
}

// run prints the objects in the order in which Helm installs them.
func (o options) run(w io.Writer) error {
	given, err := o.values.MergeValues(getter.Providers{})
	if err != nil {
		return err
	}
	if err := o.lint(given); err != nil {
		return err
	}
	chart, err := loader.LoadDir(o.chart)
	if err != nil {
		return err
	}
	merged, err := chartutil.ToRenderValues(chart, given, chartutil.ReleaseOptions{Name: o.release, Namespace: o.namespace, IsInstall: true, Revision: 1}, chartutil.DefaultCapabilities)
	if err != nil {
		return err
	}
	files, err := engine.Render(chart, merged)
	if err != nil {
		return err
	}
	for name := range files {
		if strings.HasSuffix(name, "/NOTES.txt") {
			delete(files, name)
		}
	}
	_, manifests, err := releaseutil.SortManifests(files, chartutil.DefaultCapabilities.APIVersions, releaseutil.InstallOrder)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		if _, err := fmt.Fprintf(w, "---\n# %s\n%s\n", m.Name, strings.TrimSpace(m.Content)); err != nil {
			return err
		}
	}
	return nil
}

// lint returns what Helm's linter warns of; that there is no icon is information.
func (o options) lint(given map[string]any) (err error) {
	for _, m := range lint.AllWithKubeVersion(o.chart, given, o.namespace, nil).Messages {
		if m.Severity >= support.WarningSev {
			err = errors.Join(err, m)
		}
	}
	return err
}
