package command

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/names"
)

// The forms in which commands print.
const (
	formTable = "table"
	formWide  = "wide"
	formJSON  = "json"
	formYAML  = "yaml"
)

var forms = []string{formTable, formWide, formJSON, formYAML}

// moreForms is the annotation of a command with forms of its own, separated by commas.
const moreForms = "forms"

// outputFlags give every command its form.
func outputFlags(root *cobra.Command) {
	root.PersistentFlags().StringP("output", "o", formTable, "output format: "+strings.Join(forms, ", "))
	root.PersistentFlags().Bool("json", false, "the same as --output json")
}

// counted returns a number of things in words: 1 scenario, 2 scenarios.
func counted[N int | uint64](n N, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "y") && !strings.HasSuffix(thing, "ay"): // entry, but not play
		thing = thing[:len(thing)-1] + "ies"
	default:
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// printer prints a command's output in the form that the flags ask for.
type printer struct {
	form   string
	out    io.Writer
	screen *terminal.Screen
	values int
}

// checkForm refuses a form that there is not.
func checkForm(cmd *cobra.Command) error {
	form, _ := cmd.Flags().GetString("output") // every command has it
	known := forms
	if more := cmd.Annotations[moreForms]; more != "" {
		known = slices.Concat(forms, strings.Split(more, ","))
	}
	if !slices.Contains(known, form) {
		return usage(fmt.Errorf("--output: unknown format %s%s", form, names.DidYouMean(form, known, "there are "+strings.Join(known, ", "))))
	}
	if asJSON, _ := cmd.Flags().GetBool("json"); asJSON && cmd.Flags().Changed("output") && form != formJSON {
		return usage(fmt.Errorf("--json and --output %s can't be used together", form))
	}
	return nil
}

// printing returns the printer of a command.
func printing(cmd *cobra.Command) *printer {
	form, _ := cmd.Flags().GetString("output") // every command has both
	if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
		form = formJSON
	}
	return &printer{form: form, out: cmd.OutOrStdout(), screen: terminal.New(cmd.OutOrStdout())}
}

// forPrograms reports whether a program reads the output.
func (p *printer) forPrograms() bool { return p.form == formJSON || p.form == formYAML }

// show prints a value: for programs as it is, and else as text does it.
func (p *printer) show(value any, text func(*terminal.Screen) error) error {
	switch p.form {
	case formJSON:
		return cannot(encode(p.out, value, "  "))
	case formYAML:
		return cannot(p.yaml(value))
	}
	return cannot(text(p.screen))
}

// list returns things for programs: under their name, so that a later version can add
// more keys.
func list[T any](name string, things []T) map[string][]T {
	return map[string][]T{name: append([]T{}, things...)}
}

// line prints one of many values, each on a line.
func (p *printer) line(value any, text string) error {
	switch p.form {
	case formJSON:
		return encode(p.out, value, "")
	case formYAML:
		return p.yaml(value)
	}
	_, err := fmt.Fprintln(p.screen, text)
	return err
}

func encode(w io.Writer, value any, indent string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(value)
}

// yaml prints a value as a document with the names and the order of its JSON, since
// YAML includes JSON.
func (p *printer) yaml(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(terminal.Escape(string(text))), &node); err != nil {
		return err
	}
	inBlocks(&node)
	if text, err = yaml.Marshal(&node); err != nil {
		return err
	}
	if p.values++; p.values > 1 {
		text = append([]byte("---\n"), text...)
	}
	_, err = p.out.Write(text)
	return err
}

// inBlocks takes the style of JSON off a document, except for texts that need escapes.
func inBlocks(node *yaml.Node) {
	node.Style = 0
	if terminal.Escape(node.Value) != node.Value {
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, n := range node.Content {
		inBlocks(n)
	}
}

// printYAML prints a text of YAML: with its comments for those who read YAML.
func printYAML(cmd *cobra.Command, text []byte) error {
	p := printing(cmd)
	if p.form != formJSON {
		_, err := p.out.Write(text)
		return cannot(err)
	}
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return cannot(err)
	}
	return p.show(value, nil)
}

// commandOutput reports what a command did, when it has nothing else to print.
type commandOutput struct {
	Done string `json:"done"`
}

// warn prints warnings of a command that succeeded.
func warn(cmd *cobra.Command, warnings []string) {
	for _, warning := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", warning)
	}
}

// printChange prints what a command changed.
func printChange(cmd *cobra.Command, format string, args ...any) error {
	done := fmt.Sprintf(format, args...)
	return printing(cmd).show(commandOutput{done}, func(s *terminal.Screen) error {
		_, err := fmt.Fprintln(s, done)
		return err
	})
}
