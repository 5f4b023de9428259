package command

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// TestTypedFields proves that numbers and lists are what they are in JSON, in a list, in
// the tree of a load balancer, and in YAML.
func TestTypedFields(t *testing.T) {
	flags := listening(t, served(t))
	for what, c := range map[string]struct {
		args []string
		want []string
	}{
		"list": {[]string{"get", "lb", "-o", "json"}, []string{`"listeners": 1`, `"servers": 1`, `"zones": [`}},
		"tree": {[]string{"get", "lb", "web", "-o", "json"}, []string{`"port": 80`, `"weight": 100`}},
		"yaml": {[]string{"get", "vswitch", "-o", "yaml"}, []string{"free: 2"}},
	} {
		code, stdout, problems := executed(t, append(c.args, flags...)...)
		for _, want := range c.want {
			if code != exitOK || !strings.Contains(stdout, want) {
				t.Errorf("%s: %d, %s, want %q in\n%s", what, code, problems, want, stdout)
			}
		}
	}
	for text, want := range map[string]any{"80": 80, "80-90": "80-90", "": ""} {
		if got := valueOf(text, controlapi.FormNumber); got != want {
			t.Errorf("valueOf(%q) = %v", text, got)
		}
	}
}
