package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/annotations"
	"github.com/clbemu/clbemu/emulator/target"
)

// lintedText is a text to check, with its file, which is empty for a cluster, and why it could
// not be read.
type lintedText struct {
	file string
	text []byte
	err  error
}

// unread is why a file, or what follows a line of it, could not be checked. The file is empty
// for a cluster.
type unread struct {
	file string
	line int
	err  error
}

func (u *unread) Unwrap() error { return u.err }

func (u *unread) Error() string {
	if u.line == 0 {
		return fmt.Sprintf("%s: %v", cmp.Or(u.file, "the cluster"), u.err)
	}
	return fmt.Sprintf("%s:%d: %v", cmp.Or(u.file, "the cluster"), u.line, u.err)
}

// whereUnread returns the place of an error of a text, and what is wrong there.
func whereUnread(err error) (file string, line int, text string) {
	if u := (*unread)(nil); errors.As(err, &u) {
		return u.file, u.line, u.err.Error()
	}
	return "", 0, err.Error()
}

// helm is the command that checks a chart.
const helm = "helm template . | clbemu lint-service -"

// unreadable returns an error of the YAML package with its place, and with advice if the text looks
// like a template of Helm.
func unreadable(file string, err error, text []byte) error {
	u := &unread{file: file, err: err}
	if rest, is := strings.CutPrefix(err.Error(), "yaml: "); is {
		if n, _ := fmt.Sscanf(rest, "line %d:", &u.line); n == 1 {
			_, rest, _ = strings.Cut(rest, ": ")
		}
		u.err = errors.New("this is no YAML: " + rest)
	}
	if bytes.Contains(text, []byte("{{")) {
		u.err = fmt.Errorf("%w: it looks like a template of Helm: %s", u.err, helm)
	}
	return u
}

// notAnObject names the line at which a document is not an object of Kubernetes, without
// the names of Go's types, which the YAML package tells.
func notAnObject(file string, document *yaml.Node, err error, text []byte) error {
	u := &unread{file, document.Line, errors.New("this is not a part of a Kubernetes object: give manifests of Services")}
	if wrong := (*yaml.TypeError)(nil); errors.As(err, &wrong) {
		_, _ = fmt.Sscanf(wrong.Errors[0], "line %d:", &u.line) // or else the document's first
	}
	if bytes.Contains(text, []byte("{{")) {
		u.err = fmt.Errorf("%w: if it is a template of Helm: %s", u.err, helm)
	}
	return u
}

// texts reads the files, the files of folders, and the cluster.
func (f *serviceLint) texts(cmd *cobra.Command, files []string) (texts []lintedText) {
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			texts = append(texts, manifestsIn(cmd.Context(), file)...)
			continue
		}
		text, err := readFile(cmd, file)
		texts = append(texts, read(file, text, err))
	}
	if f.kubeconfig != "" {
		text, err := target.Kubectl{Kubeconfig: f.kubeconfig}.Kubectl(cmd.Context(), "", "get", "services", "--all-namespaces", "--output", "json")
		texts = append(texts, lintedText{"", text, err})
	}
	return texts
}

// read returns a file's text, or why it could not be read, with the exit code of err.
func read(file string, text []byte, err error) lintedText {
	if err != nil {
		why := err
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			why = path.Err
		}
		code := exitCannot
		if coded := (*exitError)(nil); errors.As(err, &coded) {
			code = coded.code
		}
		err = withCode(code, &unread{file: file, err: why})
	}
	return lintedText{file, text, err}
}

// manifestsIn reads the files in YAML and JSON of a folder and its folders. Templates of Helm are
// an error: a chart is rendered first.
func manifestsIn(ctx context.Context, folder string) (texts []lintedText) {
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error { // the errors are among the texts
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil:
			texts = append(texts, read(path, nil, usage(err)))
			return nil
		case entry.IsDir() && path != folder && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			return nil
		}
		text, err := readPath(path)
		content := string(text)
		switch {
		case err != nil:
			texts = append(texts, read(path, nil, usage(err)))
		case strings.Contains(content, "kind: Service") && strings.Contains(content, "{{"):
			texts = append(texts, read(path, nil, errors.New("it is a template of Helm: "+helm)))
		case strings.Contains(content, "Service") || mentionsCCM(content):
			texts = append(texts, lintedText{path, text, nil})
		}
		return nil
	})
	return texts
}

// checkAll checks the Services of all texts, and those that reuse a load balancer together. What
// can't be read does not hide the problems of the rest.
func (f *serviceLint) checkAll(ctx context.Context, texts []lintedText) (found []serviceProblem, services int, unread []error) {
	found = []serviceProblem{}
	var shared reused
	for _, t := range texts {
		n, problems, err := 0, []serviceProblem(nil), t.err
		if err == nil {
			n, problems, err = f.checkText(ctx, t.file, t.text, &shared)
		}
		if err != nil {
			unread = append(unread, err)
		}
		services, found = services+n, append(found, problems...)
	}
	wanted := make(map[string][]*annotations.Service)
	for i, service := range shared.services {
		if len(found) > mostProblems || ctx.Err() != nil {
			break
		}
		for _, p := range service.Shares(wanted) {
			place := shared.places[i]
			place.Service, place.Problem = service.Namespace+"/"+service.Name, p
			found = append(found, place)
		}
	}
	if len(found) > mostProblems {
		found, unread = found[:mostProblems], append(unread, fmt.Errorf("there are more than %d problems: mend the first ones", mostProblems))
	}
	return found, services, unread
}
