package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/annotations"
)

// serviceLint are the settings of clbemu lint-service.
type serviceLint struct {
	kubeconfig, version string
	from, to            string
}

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
		Short: "Find annotations of Services that take no effect, or break them",
		Long: `Find annotations of Services that take no effect: names that no Cloud Controller
Manager (CCM) reads, values that it ignores, annotations of another product or cloud,
those that need a newer CCM, a listener or another annotation, and those that count only
when the load balancer is created. Find also what keeps a Service from coming up: values
that the CCM or the cloud rejects, and annotations that lack another one. A file has
Services in YAML or JSON, also in lists; - is standard input.

The page "annotations" of the reference lists all annotations, with what a real CCM
did about each.

Exits with 1 when an annotation takes no effect or breaks its Service. Notes alone are no
failure.`,
		Example: `  clbemu lint-service service.yaml
  kubectl get services -A -o yaml | clbemu lint-service -
  clbemu lint-service --kubeconfig ~/.kube/config --ccm-version v2.9.1
  clbemu lint-service --from v2.9.1 --to v2.15.0 manifests/
  clbemu lint-service --output sarif manifests/ > lint.sarif`,
		RunE:        f.run,
		Annotations: map[string]string{moreForms: formSARIF + "," + formGitHub},
	}
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "check all Services of this cluster")
	cmd.Flags().StringVar(&f.version, "ccm-version", "", "version of the CCM, such as v2.9.1 (default: the newest)")
	cmd.Flags().StringVar(&f.from, "from", "", "say what an upgrade of the CCM from this version changes; needs --to")
	cmd.Flags().StringVar(&f.to, "to", "", "say what an upgrade of the CCM to this version changes; needs --from")
	return cmd
}

// checkFlags refuses flags that do not fit together.
func (f *serviceLint) checkFlags(cmd *cobra.Command) error {
	for _, flag := range []struct{ name, version string }{{"ccm-version", f.version}, {"from", f.from}, {"to", f.to}} {
		unknown, is := annotations.IsVersion(flag.version)
		if flag.version != "" && !is {
			return usage(fmt.Errorf("--%s: %q is not a version, such as v2.9.1", flag.name, flag.version))
		}
		if unknown != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "clbemu: warning: %s\n", unknown)
		}
	}
	switch {
	case (f.from == "") != (f.to == ""):
		return usage(errors.New("give both --from and --to"))
	case f.from != "" && f.version != "":
		return usage(errors.New("give --ccm-version, or --from and --to"))
	}
	return nil
}

func (f *serviceLint) run(cmd *cobra.Command, files []string) error {
	if err := f.checkFlags(cmd); err != nil {
		return err
	}
	if (len(files) == 0) == (f.kubeconfig == "") {
		return usage(errors.New("give files with Services, or --kubeconfig"))
	}
	ctx := cmd.Context()
	texts := f.texts(cmd, files)
	if f.from != "" {
		return f.upgrade(cmd, texts)
	}
	found, services, unread := f.checkAll(ctx, texts)
	if err := ctx.Err(); err != nil {
		return cannot(err)
	}
	if err := f.print(cmd, found, services, unread); err != nil {
		return err
	}
	if unread != nil {
		return cannot(errors.Join(unread...))
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

// manifest has the parts of an object, or of a list of them, that lint reads.
type manifest struct {
	Kind     string
	Metadata struct {
		Namespace, Name string
		Annotations     yaml.Node
		Labels          yaml.Node
	}
	Spec struct {
		Type              string
		Annotations       yaml.Node
		LoadBalancerClass string      `yaml:"loadBalancerClass"`
		TrafficPolicy     yaml.Node   `yaml:"externalTrafficPolicy"`
		IP                yaml.Node   `yaml:"loadBalancerIP"`
		NodePorts         yaml.Node   `yaml:"allocateLoadBalancerNodePorts"`
		SourceRanges      []yaml.Node `yaml:"loadBalancerSourceRanges"`
		Ports             []yaml.Node
	}
	Status struct {
		LoadBalancer struct {
			Ingress []yaml.Node
		} `yaml:"loadBalancer"`
	}
	// Annotations are misplaced.
	Annotations yaml.Node
	Items       []yaml.Node
}

// checkText checks the Services of a text, and returns how many it has, also with an error, which
// says at which line the text can't be read further.
func (f *serviceLint) checkText(ctx context.Context, file string, text []byte, shared *reused) (services int, found []serviceProblem, err error) {
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return services, found, nil
		} else if err != nil {
			return services, found, unreadable(file, err, text)
		}
		if twice := duplicate(&document); twice != nil { // of which the package lists each pair
			return services, found, &unread{file, twice.Line, fmt.Errorf("%.100q is there twice", twice.Value)}
		}
		objects := []yaml.Node{document}
		for len(objects) > 0 && ctx.Err() == nil {
			if objects[0].Kind == yaml.AliasNode { // which could be a list that holds itself
				return services, found, &unread{file, objects[0].Line, fmt.Errorf("write the object out in place of *%s", objects[0].Value)}
			}
			var object manifest
			if err := objects[0].Decode(&object); err != nil {
				return services, found, notAnObject(file, &objects[0], err, text)
			}
			if object.Kind == "Service" {
				services++
				found = append(found, f.checkService(file, &object, shared)...)
			} else if len(object.Items) == 0 {
				found = append(found, f.checkElsewhere(file, &objects[0], &object)...)
			}
			objects = append(objects[1:], object.Items...)
			if len(found) > mostProblems {
				return services, found[:mostProblems], &unread{file, found[mostProblems].Line, fmt.Errorf("there are more than %d problems: mend the first ones, such as %s: %s", mostProblems, printable(found[0].Key), printable(found[0].Text))}
			}
		}
	}
}

// mostProblems bounds the number of problems.
const mostProblems = 1000

// duplicate returns a key that a mapping has twice, or nil if there is none.
func duplicate(node *yaml.Node) *yaml.Node {
	seen := make(map[string]bool)
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode {
			if seen[child.Value] {
				return child
			}
			seen[child.Value] = true
		}
		if twice := duplicate(child); twice != nil {
			return twice
		}
	}
	return nil
}

func (f *serviceLint) checkService(file string, object *manifest, shared *reused) (found []serviceProblem) {
	service, lines := serviceOf(object)
	service.Running = file == ""
	shared.services = append(shared.services, service)
	shared.places = append(shared.places, serviceProblem{File: file, Line: cmp.Or(lines[annotations.Prefixes[0]+"id"], object.Metadata.Annotations.Line)})
	name := cmp.Or(object.Metadata.Namespace, "default") + "/" + object.Metadata.Name
	for _, p := range annotations.Check(service, f.version) {
		problem := serviceProblem{File: file, Service: name, Problem: p}
		if file != "" {
			problem.Line = cmp.Or(lines[p.Key], object.Metadata.Annotations.Line)
		}
		found = append(found, problem)
	}
	for i := range object.Spec.Ports {
		for key, value := range entries(&object.Spec.Ports[i]) {
			if number := 0; (key.Value == "port" || key.Value == "nodePort") && value.Decode(&number) != nil { // as serviceOf leaves the port out then
				text := fmt.Sprintf("Kubernetes rejects the Service: %s %q is no number", key.Value, value.Value)
				found = append(found, serviceProblem{File: file, Line: value.Line, Service: name, Problem: annotations.Problem{Key: "spec.ports", Text: text, Breaks: true}})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b serviceProblem) int { return cmp.Compare(a.Line, b.Line) })
	return found
}

// serviceOf returns what lint reads of a Service, and the lines of its fields and annotations.
func serviceOf(object *manifest) (*annotations.Service, map[string]int) {
	spec := &object.Spec
	service := &annotations.Service{
		Namespace: cmp.Or(object.Metadata.Namespace, "default"), Name: object.Metadata.Name, Local: spec.TrafficPolicy.Value == "Local",
		Type: cmp.Or(spec.Type, "ClusterIP"), Class: spec.LoadBalancerClass, IP: spec.IP.Value, NoNodePorts: spec.NodePorts.Value == "false",
		Annotations: make(map[string]string), Untyped: make(map[string]bool), Elsewhere: make(map[string]string),
		HasAddress: len(object.Status.LoadBalancer.Ingress) > 0, SourceRanges: slices.ContainsFunc(spec.SourceRanges, func(n yaml.Node) bool { return n.Value != "0.0.0.0/0" }),
	}
	lines := map[string]int{"spec.loadBalancerIP": spec.IP.Line, "spec.externalTrafficPolicy": spec.TrafficPolicy.Line, "spec.allocateLoadBalancerNodePorts": spec.NodePorts.Line}
	if len(spec.SourceRanges) > 0 {
		lines["spec.loadBalancerSourceRanges"] = spec.SourceRanges[0].Line
	}
	for i := range spec.Ports {
		var port struct {
			Port           int
			NodePort       int `yaml:"nodePort"`
			Protocol, Name string
			TargetPort     yaml.Node `yaml:"targetPort"`
		}
		if spec.Ports[i].Decode(&port) == nil {
			service.Ports = append(service.Ports, annotations.Port{Number: port.Port, Protocol: cmp.Or(port.Protocol, "TCP"), Name: port.Name, Target: port.TargetPort.Value, Node: port.NodePort})
			lines["spec.ports"] = spec.Ports[0].Line
		}
	}
	for key, value := range entries(&object.Metadata.Annotations) {
		service.Annotations[key.Value], lines[key.Value] = value.Value, key.Line
		if untyped(value) {
			service.Untyped[key.Value] = true
		}
	}
	for field, node := range map[string]*yaml.Node{"metadata.labels": &object.Metadata.Labels, "spec.annotations": &spec.Annotations, "annotations": &object.Annotations} {
		for key := range entries(node) {
			service.Elsewhere[key.Value] = field
			lines[key.Value] = cmp.Or(lines[key.Value], key.Line)
		}
	}
	return service, lines
}

// entries returns the pairs of a mapping.
func entries(node *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}

// booleans are the words that kubectl reads as booleans, as YAML 1.1 has it.
var booleans = strings.Fields("y Y yes Yes YES on On ON n N no No NO off Off OFF")

// untyped reports whether kubectl reads a value as something else than a text.
func untyped(value *yaml.Node) bool {
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	tag := value.ShortTag()
	return value.Kind == yaml.ScalarNode && value.Style == 0 && (slices.Contains([]string{"!!bool", "!!int", "!!float"}, tag) || slices.Contains(booleans, value.Value))
}
