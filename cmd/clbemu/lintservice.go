package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/cmd/clbemu/internal/terminal"
	"github.com/clbemu/clbemu/emulator/annotations"
	"github.com/clbemu/clbemu/emulator/target"
)

// serviceLint are the settings of clbemu lint-service.
type serviceLint struct{ kubeconfig, version string }

// serviceProblem is a problem with the place of the Service.
type serviceProblem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Service string `json:"service"`
	annotations.Problem
}

func newLintService() *cobra.Command {
	var f serviceLint
	cmd := &cobra.Command{
		Use:   "lint-service [FILE...]",
		Short: "Find annotations of Services that take no effect",
		Long: `Find annotations of Services that take no effect: names that no Cloud Controller
Manager (CCM) reads, values that it ignores or rejects, annotations of another
product, those that need a newer CCM or another annotation, and those that count only
when the load balancer is created. A file has Services in YAML or JSON, also in
lists; - is standard input.

The page "annotations" of the reference lists all annotations, with what a real CCM
did about each.

Exits with 1 when an annotation takes no effect. Notes alone are no failure.`,
		Example: `  clbemu lint-service service.yaml
  kubectl get services -A -o yaml | clbemu lint-service -
  clbemu lint-service --kubeconfig ~/.kube/config --ccm-version v2.9.1`,
		RunE: f.run,
	}
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "check all Services of this cluster")
	cmd.Flags().StringVar(&f.version, "ccm-version", "", "version of the CCM, such as v2.9.1 (default: the newest)")
	return cmd
}

func (f *serviceLint) run(cmd *cobra.Command, files []string) error {
	if f.version != "" && !annotations.IsVersion(f.version) {
		return usage(fmt.Errorf("--ccm-version: %q is not a version, such as v2.9.1", f.version))
	}
	if (len(files) == 0) == (f.kubeconfig == "") {
		return usage(errors.New("give files with Services, or --kubeconfig"))
	}
	found, services := []serviceProblem{}, 0
	check := func(file string, text []byte) error {
		n, problems, err := f.check(file, text)
		services += n
		found = append(found, problems...)
		return err
	}
	for _, file := range files {
		text, err := readFile(cmd, file)
		if err != nil {
			return err
		}
		if err := check(file, text); err != nil {
			return cannot(err)
		}
	}
	if f.kubeconfig != "" {
		text, err := target.Kubectl{Kubeconfig: f.kubeconfig}.Kubectl(cmd.Context(), "", "get", "services", "--all-namespaces", "--output", "json")
		if err == nil {
			err = check("", text)
		}
		if err != nil {
			return cannot(err)
		}
	}
	if services == 0 {
		return cannot(errors.New("there is no Service to check"))
	}
	if err := printing(cmd).show(list("problems", found), func(s *terminal.Screen) error {
		printServiceProblems(s, found, services)
		return nil
	}); err != nil {
		return err
	}
	wrong := 0
	for i := range found {
		if !found[i].Note {
			wrong++
		}
	}
	if wrong > 0 {
		return failed(fmt.Errorf("%s", counted(wrong, "problem")))
	}
	return nil
}

// manifest has the parts of an object, or of a list of them, that are read.
type manifest struct {
	Kind     string
	Metadata struct {
		Namespace, Name string
		Annotations     yaml.Node
	}
	Spec struct {
		Type              string
		LoadBalancerClass string `yaml:"loadBalancerClass"`
	}
	Status struct {
		LoadBalancer struct {
			Ingress []yaml.Node
		} `yaml:"loadBalancer"`
	}
	Items []yaml.Node
}

// check checks the Services of a text, and returns how many it has.
func (f *serviceLint) check(file string, text []byte) (services int, found []serviceProblem, err error) {
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return services, found, nil
		} else if err != nil {
			return services, found, fmt.Errorf("%s: %w", cmp.Or(file, "the cluster"), err)
		}
		objects := []yaml.Node{document}
		for len(objects) > 0 {
			if objects[0].Kind == yaml.AliasNode { // which could be a list that holds itself
				return services, found, fmt.Errorf("%s:%d: write the object out in place of *%s", cmp.Or(file, "the cluster"), objects[0].Line, objects[0].Value)
			}
			var object manifest
			if err := objects[0].Decode(&object); err != nil {
				return services, found, fmt.Errorf("%s:%w", cmp.Or(file, "the cluster"), notAnObject(&objects[0], err))
			}
			objects = append(objects[1:], object.Items...)
			if object.Kind == "Service" {
				services++
				found = append(found, f.checkService(file, &object)...)
			}
		}
	}
}

// notAnObject names the line at which a document is not an object of Kubernetes, without
// the names of Go's types, which the YAML package tells.
func notAnObject(document *yaml.Node, err error) error {
	line := document.Line
	if wrong := (*yaml.TypeError)(nil); errors.As(err, &wrong) {
		_, _ = fmt.Sscanf(wrong.Errors[0], "line %d:", &line) // or else the document's first
	}
	return fmt.Errorf("%d: this is not a part of a Kubernetes object: give manifests of Services", line)
}

func (f *serviceLint) checkService(file string, object *manifest) (found []serviceProblem) {
	service := annotations.Service{
		Type: cmp.Or(object.Spec.Type, "ClusterIP"), Class: object.Spec.LoadBalancerClass,
		Annotations: make(map[string]string), HasAddress: len(object.Status.LoadBalancer.Ingress) > 0,
	}
	lines := make(map[string]int)
	given := &object.Metadata.Annotations
	if given.Kind == yaml.AliasNode {
		given = given.Alias
	}
	pairs := given.Content
	for i := 0; i+1 < len(pairs); i += 2 {
		service.Annotations[pairs[i].Value], lines[pairs[i].Value] = pairs[i+1].Value, pairs[i].Line
	}
	name := cmp.Or(object.Metadata.Namespace, "default") + "/" + object.Metadata.Name
	for _, p := range annotations.Check(&service, f.version) {
		problem := serviceProblem{File: file, Service: name, Problem: p}
		if file != "" {
			problem.Line = lines[p.Key]
		}
		found = append(found, problem)
	}
	slices.SortStableFunc(found, func(a, b serviceProblem) int { return cmp.Compare(a.Line, b.Line) })
	return found
}

func printServiceProblems(s *terminal.Screen, found []serviceProblem, services int) {
	for i := range found {
		p := &found[i]
		if p.File != "" {
			fmt.Fprintf(s, "%s:%d: ", printable(p.File), p.Line)
		}
		fmt.Fprintf(s, "%s: %s: ", printable(p.Service), printable(p.Key))
		if p.Note {
			fmt.Fprint(s, "note: ")
		}
		fmt.Fprint(s, printable(p.Text))
		if p.Advice != "" {
			fmt.Fprintf(s, ": %s", printable(p.Advice))
		}
		fmt.Fprintln(s)
	}
	if len(found) == 0 {
		fmt.Fprintf(s, "%s, nothing is wrong\n", counted(services, "Service"))
	}
}
