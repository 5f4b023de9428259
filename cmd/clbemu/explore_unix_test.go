//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestExploreForks proves that what a program started ends with it, when the program does
// not end by itself.
func TestExploreForks(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	file := writeScenario(t, "about: a\nexplore: {quiet: 1s, within: 5s, off: [rest]}\nprogram: {steps: [{start: true}]}\n")
	program := `curl --silent "http://$SLB_ENDPOINT/" >/dev/null; sleep 1000 & echo $! >> ` + pids + `; wait`
	code, stdout, problems := executed(t, "explore", file, "--plays", "1", "--", "sh", "-c", program)
	text, err := os.ReadFile(pids)
	if err != nil || len(text) == 0 {
		t.Fatalf("= %d, %s%s, and no child was started: %v", code, stdout, problems, err)
	}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		// Whoever inherits it takes a moment to see its end.
		for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatalf("the child %d still runs", pid)
			}
		}
	}
}

// TestExploreInterrupted proves that Ctrl-C keeps the results so far, and says so.
func TestExploreInterrupted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results")
	ctx, cancel := context.WithCancel(t.Context())
	var stdout, problems bytes.Buffer
	done := make(chan int)
	file := writeScenario(t, strings.Replace(explored, " TOKEN", "", 1))
	go func() {
		done <- run(ctx, []string{"explore", file, "--out", out, "--parallel", "1"}, &stdout, &problems)
	}()
	for kept := 0; kept < 3 && t.Context().Err() == nil; runtime.Gosched() {
		text, _ := os.ReadFile(filepath.Join(out, playsFile)) // there is none at first
		kept = bytes.Count(text, []byte("\n"))
	}
	cancel()
	if code := <-done; code != exitCannot || !strings.Contains(problems.String(), "it was interrupted") || !strings.Contains(stdout.String(), "CreateLoadBalancer") {
		t.Errorf("= %d, %s\n%s", code, problems.String(), stdout.String())
	}
	if _, err := os.Stat(filepath.Join(out, "report.json")); err != nil {
		t.Error(err)
	}
}
