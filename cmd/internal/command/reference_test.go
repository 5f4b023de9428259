package command

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/annotations"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
)

var update = flag.Bool("update", false, "write the pages of the reference")

const docs = "../../../docs/"

// reference are the pages written from what the code declares.
var reference = map[string]func(t *testing.T) string{
	"actions":       actionsPage,
	"annotations":   annotationsPage,
	"commands":      commandsPage,
	"configuration": configurationPage,
	"conditions":    conditionsPage,
	"control-api":   controlAPIPage,
	"faults":        faultsPage,
	"scenarios":     scenariosPage,
}

// TestReference proves that the pages of the reference, and the example of a Go test,
// say what the code does. With -update it writes them.
func TestReference(t *testing.T) {
	for name, text := range reference {
		current(t, docs+"reference/"+name+".md", "<!-- written by make golden -->\n"+text(t))
	}
	const author = docs + "controller-author.md"
	page, err := os.ReadFile(author)
	if err != nil {
		t.Fatal(err)
	}
	part := regexp.MustCompile("(?s)(<!-- written by make golden -->\n```go\n).*?(```\n)")
	if !part.Match(page) {
		t.Fatalf("%s has no place for its example", author)
	}
	example, err := os.ReadFile("../../../emulator/emulatortest/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	current(t, author, part.ReplaceAllString(string(page), "${1}"+strings.ReplaceAll(string(example), "$", "$$")+"${2}"))

	files, err := filepath.Glob(docs + "reference/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if reference[name] == nil && name != "refusals" { // which contracttests write
			t.Errorf("nothing writes %s", file)
		}
	}
}

// current holds a page to what it should be.
func current(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	} else if string(text) != want {
		t.Errorf("%s is stale: run make golden", file)
	}
}

// table begins a table of Markdown.
func table(heads ...string) *strings.Builder {
	b := &strings.Builder{}
	row(b, heads...)
	fmt.Fprintln(b, strings.Repeat("|---", len(heads))+"|")
	return b
}

func row(b *strings.Builder, cells ...string) {
	for i, cell := range cells {
		if !strings.Contains(cell, "`") {
			cell = strings.ReplaceAll(cell, "<", "&lt;")
		}
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(cell, "|", `\|`), "\n", " ")
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func actionsPage(*testing.T) string {
	var products []string
	emulated, known := make(map[string][]string), make(map[string]int)
	all := slices.SortedFunc(slices.Values(knownNames().Actions()), func(a, b names.Action) int {
		return cmp.Or(cmp.Compare(a.Product, b.Product), cmp.Compare(a.Name, b.Name))
	})
	for _, a := range all {
		product := a.Product + " " + a.Version()
		if known[product]++; known[product] == 1 {
			products = append(products, product)
		}
		if a.Emulated {
			emulated[product] = append(emulated[product], a.Name)
		}
	}
	var b strings.Builder
	b.WriteString("# Actions\n\nWhat each product emulates. `clbemu actions` prints the same with what is refused, with `InvalidAction.NotEmulated`,\n" +
		"and `clbemu explain ACTION` what an action reads.\n")
	for _, product := range products {
		fmt.Fprintf(&b, "\n## %s: %d of %d\n\n", product, len(emulated[product]), known[product])
		for _, action := range emulated[product] {
			fmt.Fprintf(&b, "- `%s`\n", action)
		}
		if len(emulated[product]) == 0 {
			b.WriteString("None is emulated, and each is refused.\n")
		}
	}
	return b.String()
}

// commandsPage returns the page of all commands, with their own flags by name: only the help
// explains them, and has examples.
func commandsPage(*testing.T) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n`clbemu COMMAND --help` explains a command, with its flags and examples. Each flag is an environment variable as well:\n" +
		"`--data-dir` is `CLBEMU_DATA_DIR`. [Configuration](configuration.md) has the flags of `serve`.\n\n" +
		"## Exit codes\n\n")
	codes := table("code", "means")
	for n, means := range exitCodes {
		row(codes, fmt.Sprint(n), means)
	}
	root := plain.newRoot()
	b.WriteString(codes.String() + "\n## Flags of every command\n\n" + flagTable(root.PersistentFlags()))
	connections := pflag.NewFlagSet("", pflag.ContinueOnError)
	(&connection{}).define(connections)
	b.WriteString("\n## Flags of commands that ask a running emulator\n\n" + flagTable(connections))
	all := table("command", "does", "flags")
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if sub.Runnable() && !sub.HasAvailableSubCommands() {
				row(all, code(strings.TrimSuffix(strings.TrimPrefix(sub.UseLine(), root.Name()+" "), " [flags]")), sub.Short, ownFlags(sub, connections))
			}
			walk(sub)
		}
	}
	root.InitDefaultCompletionCmd("completion")
	walk(root)
	return b.String() + "\n## Commands and their own flags\n\n" + all.String()
}

// ownFlags names the flags of a command that no table above has.
func ownFlags(cmd *cobra.Command, connections *pflag.FlagSet) string {
	var names []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden && cmd.Name() != "serve" && connections.Lookup(f.Name) == nil {
			names = append(names, code("--"+f.Name))
		}
	})
	return strings.Join(names, " ")
}

func flagTable(flags *pflag.FlagSet) string {
	b := table("flag", "default", "meaning")
	flags.VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.Name != "help" {
			row(b, code(name), code(usualValue(f)), f.Usage)
		}
	})
	return b.String()
}

// usualValue returns the default of a flag, or "" if that is nothing.
func usualValue(f *pflag.Flag) string {
	if slices.Contains([]string{"false", "0", "[]", "0s"}, f.DefValue) {
		return ""
	}
	return f.DefValue
}

func configurationPage(t *testing.T) string {
	serve, _, err := plain.newRoot().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	settings := table("key", "environment", "default", "meaning")
	serve.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		key := code(f.Name)
		if f.Name == configFlag {
			key = ""
		}
		if f.Name != "help" {
			row(settings, key, code(envName(f.Name)), code(usualValue(f)), f.Usage)
		}
	})
	clients := table("variables", "for")
	for _, v := range clientVariables() {
		row(clients, code(strings.ReplaceAll(v[0], ", ", "`, `")), v[1])
	}
	return "# Configuration\n\nEach setting of `clbemu serve` is a flag, an environment variable, and a key of the YAML file that `--config` names.\n" +
		"The command line wins over the environment, and the environment over the file. Unknown keys are refused.\n\n" + settings.String() +
		"\nThe flags of other commands are environment variables too, named in the same way: `CLBEMU_SERVER` is `--server`.\n" +
		"\n## The environment of clients\n\n`clbemu env` prints these, which point clients at the emulator:\n\n" + clients.String()
}

func conditionsPage(t *testing.T) string {
	all := table("name", "of the", "value")
	for _, c := range conditions.All() {
		row(all, code(c.Name), string(c.Scope), c.Help)
	}
	quotas := table("name", "usual limit")
	used, err := (&controlclient.Client{URL: served(t)}).Quotas(t.Context(), controlapi.Where{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range used {
		row(quotas, code(q.Name), fmt.Sprint(q.Default))
	}
	stages := table("name", "with `life.profile=realistic`")
	delays := emulator.Names().Stages()
	for _, name := range slices.Sorted(maps.Keys(delays)) {
		row(stages, code("life."+string(name)), delays[name].String())
	}
	return "# Conditions\n\nWhat the cloud does to its users is state, which `clbemu world set NAME=VALUE` changes while clients work, and\n" +
		"`clbemu world get` shows. [Refusals](refusals.md) tells what comes of it.\n\n" + all.String() +
		"\n## Quotas\n\n`clbemu quota --used` shows what is used of them, and `quota.<name>` changes the limit.\n\n" + quotas.String() +
		"\n## Stages of life\n\nHow long a change is on its way. With `life.profile=instant`, which is usual, none takes any time; `life.<stage>` changes one.\n\n" + stages.String()
}

func faultsPage(*testing.T) string {
	effects, details := table("effect", "does", "happens at"), ""
	for _, kind := range faults.Kinds() {
		var points []string
		for _, p := range kind.Points {
			points = append(points, string(p))
		}
		row(effects, code(kind.Form()), kind.About, strings.Join(points, ", "))
		if of := structOf(kind.Value); of != nil {
			details += "\n### " + kind.Name + "\n\n" + fieldList(of) + parts(of)
		}
	}
	points := table("point", "what has happened")
	for _, p := range faults.Points {
		row(points, code(string(p)), p.About())
	}
	return "# Faults\n\nA rule says which calls or packets go wrong, when, at which point, and how. Rules are asked in order, and the first that\n" +
		"matches decides. `clbemu fault --help` has an example.\n\n" + fieldList(reflect.TypeFor[faults.Rule]()) +
		"\n## match\n\n" + matchTable() + "\nEach but the action equals a text, or is `{matches: expression}` or `{absent: true}`.\n" +
		"\n## when\n\n" + fieldList(reflect.TypeFor[faults.When]()) +
		"\n## at\n\n" + points.String() +
		"\n## effect\n\nExactly one. It happens at the first of its points unless the rule says another.\n\n" + effects.String() + details
}

func matchTable() string {
	b := table("field", "is", "at")
	row(b, code("action"), "the action: a glob such as `Create*`, or several by commas", "the points of calls")
	for _, f := range faults.MatchFields {
		row(b, code(f.Name), f.About, where(f.Points))
	}
	return b.String()
}

// where names points.
func where(points []faults.Point) string {
	names := make([]string, len(points))
	for i, p := range points {
		names[i] = string(p)
	}
	if len(points) > 0 && !points[0].OfPackets() {
		return "the points of calls"
	}
	return strings.Join(names, ", ")
}

func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// fieldsOf lists the fields of a struct that a file is read into. A step and an expectation
// have one for each kind.
func fieldsOf(t reflect.Type) (fields []reflect.StructField) {
	kinds := map[reflect.Type][]*scenarios.Kind{reflect.TypeFor[scenarios.Step](): scenarios.StepKinds(), reflect.TypeFor[scenarios.Expectation](): scenarios.ExpectationKinds()}[t]
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") != "" {
			fields = append(fields, f)
		} else if f.Name == "element" {
			for _, k := range kinds {
				fields = append(fields, reflect.StructField{Name: k.Name, Type: k.Value, Tag: reflect.StructTag(fmt.Sprintf("yaml:%q doc:%q", k.Name, k.About))})
			}
		}
	}
	return fields
}

// fieldList lists the fields of a struct that files are read into.
func fieldList(t reflect.Type) string {
	var b strings.Builder
	for _, f := range fieldsOf(t) {
		about := f.Tag.Get("doc")
		if f.Tag.Get("required") == "true" {
			about += " Required."
		}
		if !strings.Contains(about, "`") {
			about = strings.ReplaceAll(about, "<", "&lt;")
		}
		fmt.Fprintf(&b, "- `%s` (%s): %s\n", fieldName(f), valueWord(f.Type), about)
	}
	return b.String()
}

// parts are the lists of the structs that the fields of one are.
func parts(t reflect.Type) (text string) {
	for _, f := range fieldsOf(t) {
		if of := structOf(f.Type); of != nil {
			text += "\n### " + fieldName(f) + "\n\n" + fieldList(of) + parts(of)
		}
	}
	return text
}

// structOf returns the struct with fields of its own that a type is, or is a list of.
func structOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || len(fieldsOf(t)) == 0 {
		return nil
	}
	return t
}

// valueWord describes the values of a field.
func valueWord(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[scenarios.Duration](), reflect.TypeFor[faults.Duration]():
		return "duration"
	case reflect.TypeFor[scenarios.NameList](), reflect.TypeFor[scenarios.Clear]():
		return "names"
	case reflect.TypeFor[scenarios.Manifest]():
		return "YAML"
	case reflect.TypeFor[scenarios.Fault]():
		return "[fault rule](faults.md)"
	case reflect.TypeFor[scenarios.Settings]():
		return "conditions by name"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return valueWord(t.Elem())
	case reflect.Slice:
		return "list of " + cmp.Or(map[string]string{"fields": "what is below"}[valueWord(t.Elem())], valueWord(t.Elem()))
	case reflect.Map:
		return valueWord(t.Elem()) + " by name"
	case reflect.Bool:
		return "true"
	case reflect.Int, reflect.Uint64, reflect.Float64:
		return "number"
	case reflect.Struct:
		return t.Name()
	}
	return "text"
}

func scenariosPage(*testing.T) string {
	var b strings.Builder
	b.WriteString("# Fields of scenarios\n\n[Scenarios](../../scenarios/README.md) leads from nothing to one, `clbemu scenario schema` prints the same as a JSON Schema.\n")
	seen := make(map[reflect.Type]bool)
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		fmt.Fprintf(&b, "\n## %s\n\n%s", t.Name(), fieldList(t))
		for _, f := range fieldsOf(t) {
			of := f.Type
			if of.Kind() == reflect.Map {
				of = of.Elem()
			}
			if of = structOf(of); of != nil {
				walk(of)
			}
		}
	}
	walk(reflect.TypeFor[scenarios.Scenario]())
	return b.String()
}

func controlAPIPage(*testing.T) string {
	calls := table("call", "query", "does")
	for _, r := range controlclient.Routes() {
		var query []string
		for _, name := range r.Query {
			query = append(query, code(name))
		}
		if r.Fields {
			query = append(query, "a field of entries")
		}
		summary := r.Summary
		if r.Open {
			summary += "; needs no token"
		}
		row(calls, code(r.Method+" "+r.Path), strings.Join(query, ", "), summary)
	}
	return "# Control API\n\nServed on a listener of its own, 127.0.0.1:9601 unless `--control-listen` says otherwise. On any other address than loopback it\n" +
		"needs a token (`--control-token`), which calls send as `Authorization: Bearer <token>`. `GET /v1/openapi.yaml` is all of this as\n" +
		"an OpenAPI document.\n\n" + calls.String()
}

func annotationsPage(*testing.T) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Annotations of Services

What a Cloud Controller Manager (CCM) reads of a Service of type LoadBalancer. `+"`clbemu lint-service`"+` checks the annotations of your
Services. Each name follows `+"`%s`"+`, except in the last table.

The last column was measured with %s,
which ran against clbemu: a Service was created with the annotation; another one got it, another value, and lost it again.

- **acts**: the load balancer became as the annotation says.
- **ignored**: nothing changed, and no Event said so. Where an annotation is removed, its last value stays.
- **refused**: nothing changed, and an Event said why.

An annotation of listeners also needs `+"`force-override-listeners=true`"+` on a load balancer that is reused (`+"`id`"+`). "Since" is the first tagged version of the CCM that reads the annotation. "Needs" is what it needs to take effect, or what the Service
needs to come up ("or fails"), with the newest CCM; `+"`clbemu lint-service --ccm-version`"+` knows the earlier ones.
`, annotations.Prefixes[0], code(annotations.CCM()))
	for _, product := range []string{annotations.CLB, annotations.NLB} {
		fmt.Fprintf(&b, "\n## %s\n\n", strings.ToUpper(product))
		t := table("annotation", "sets", "values", "needs", "since", "created/added/changed/removed")
		for _, a := range annotations.All() {
			if !a.Of(product) || strings.HasPrefix(a.Key(), "service.beta.kubernetes.io/"+a.Name) {
				continue
			}
			row(t, annotationCells(&a, product)...)
		}
		b.WriteString(t.String())
	}
	b.WriteString("\n## Under service.beta.kubernetes.io/\n\n")
	t := table("annotation", "sets", "values", "needs", "since", "created/added/changed/removed")
	for _, a := range annotations.All() {
		if strings.HasPrefix(a.Key(), "service.beta.kubernetes.io/"+a.Name) {
			row(t, annotationCells(&a, annotations.CLB)...)
		}
	}
	b.WriteString(t.String())
	return b.String()
}

// reusedNeeds is what most annotations of listeners need; the page says it once.
const reusedNeeds = "with id: force-override-listeners=true"

func annotationCells(a *annotations.Annotation, product string) []string {
	var needs []string
	for i := range annotations.Needs() {
		if n := &annotations.Needs()[i]; n.Of(a.Name, product, "") && n.Shown() != reusedNeeds {
			needs = append(needs, n.Shown())
		}
	}
	values := strings.TrimPrefix(cmp.Or(a.ValuesOf(product).Words(), "any text"), "a whole number from ")
	return []string{code(a.Name), a.Help, values, strings.Join(needs, "; "), a.Since, effectsCell(a.Effects[product])}
}

// effectsCell has what was measured, and the Event without how all of them begin.
func effectsCell(e annotations.Effects) string {
	if e.Created+e.Added+e.Changed+e.Removed == "" {
		return ""
	}
	text := string(e.Created + "/" + e.Added + "/" + e.Changed + "/" + e.Removed)
	if event := strings.TrimPrefix(e.Event, "Error syncing load balancer "); event != "" {
		_, after, cut := strings.Cut(event, "]: ")
		if !cut {
			after = event
		}
		text += ": " + strings.TrimPrefix(after, "apply model error: ")
	}
	return text
}
