package await_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A deadline in code of tests, shorter than a minute.
var deadline = regexp.MustCompile(`(\b(WithTimeout|WithDeadline|DialTimeout|After|Set(Read|Write)?Deadline)\(|\b(Client|APICall|Config)\{.*\b(Dial)?Timeout: |\.Timeout = |\b(took|waited|lag) > ).*\btime\.(Second|Millisecond)\b`)

// TestDeadlinesSayWhy proves that who writes a deadline of less than a minute into a test says on
// its line why it decides no verdict on a busy machine: it is for what should not come, or what
// comes late is asked for again.
func TestDeadlinesSayWhy(t *testing.T) {
	seen, explained := 0, 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name := entry.Name(); name == "bin" || strings.HasPrefix(name, ".") && name != ".." {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, "_test.go") && !(strings.HasPrefix(path, "../../contracttests/") && strings.HasSuffix(path, ".go")):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			code, why, _ := strings.Cut(line, " // ")
			if !deadline.MatchString(code) || strings.Contains(code, "regexp") {
				continue
			}
			if explained++; why == "" {
				t.Errorf("%s:%d: a deadline of less than a minute decides: wait for await.Patience, or say why not:\n%s", path, number, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d deadlines in %d files", explained, seen)
	if seen < 500 || explained < 10 {
		t.Errorf("%d deadlines in %d files were looked at", explained, seen)
	}
}
