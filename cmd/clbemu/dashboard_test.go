package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestDashboard proves that every metric, label and kind that the dashboard for
// Grafana names is one that the emulator has after a call.
func TestDashboard(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/grafana/clbemu.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	faults := filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(faults, []byte("{name: slow, effect: {delay: {fixed: 1ms}}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := binary.Serve(t, "--engine", "memory", "--faults", faults)
	createLoadBalancer(t, s.Client())
	_, metrics, err := s.Ask("GET", "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			for _, name := range regexp.MustCompile(`\b(?:clbemu|process|go)_[a-z_]+`).FindAllString(target.Expr, -1) {
				if seen++; !regexp.MustCompile(`(?m)^` + name + `[{ ]`).Match(metrics) {
					t.Errorf("%s: there is no metric %s", panel.Title, name)
				}
			}
			for _, labels := range regexp.MustCompile(`by \(([^)]*)\)`).FindAllStringSubmatch(target.Expr, -1) {
				for label := range strings.SplitSeq(labels[1], ", ") {
					if !strings.Contains(string(metrics), label+`="`) {
						t.Errorf("%s: there is no label %s", panel.Title, label)
					}
				}
			}
			for _, kinds := range regexp.MustCompile(`kind=~"([^"]*)"`).FindAllStringSubmatch(target.Expr, -1) {
				for kind := range strings.SplitSeq(kinds[1], "|") {
					if !strings.Contains(string(metrics), `kind="`+kind+`"`) {
						t.Errorf("%s: there is no kind %s", panel.Title, kind)
					}
				}
			}
		}
	}
	if seen < 9 {
		t.Errorf("the dashboard names %d metrics", seen)
	}
}
