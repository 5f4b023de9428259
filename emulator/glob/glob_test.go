package glob_test

import (
	"slices"
	"testing"

	"github.com/clbemu/clbemu/emulator/glob"
)

// TestMatch proves what a list of patterns matches.
func TestMatch(t *testing.T) {
	for _, test := range []struct {
		patterns, name string
		want           bool
	}{
		{"CreateVpc", "CreateVpc", true}, {"CreateVpc", "CreateVpcs", false}, {"createvpc", "CreateVpc", false},
		{"Create*", "CreateVpc", true}, {"Create*", "DeleteVpc", false}, {"Delete?pc", "DeleteVpc", true},
		{"Create*, Delete*", "DeleteVpc", true}, {" Create* ", "CreateVpc", true}, {"[CD]*", "DeleteVpc", true},
		{"", "", false}, {"", "CreateVpc", false}, {"*", "", true}, {"[", "[", false}, {"[,Create*", "CreateVpc", true},
	} {
		if got := glob.Split(test.patterns).Match("nothing", test.name); got != test.want {
			t.Errorf("%q matches %q: %t", test.patterns, test.name, got)
		}
	}
}

// TestBad proves that the pattern which is none is named.
func TestBad(t *testing.T) {
	for patterns, want := range map[string]string{"": "", "a,b*": "", "a, [b": "[b", "a\\": "a\\"} {
		if got, bad := glob.Split(patterns).Bad(); got != want || bad != (want != "") {
			t.Errorf("%q: %q, %t, want %q", patterns, got, bad, want)
		}
	}
}

// TestSelect proves that each pattern must be about a value.
func TestSelect(t *testing.T) {
	names := []string{"CreateVpc", "DeleteVpc", "DeleteVSwitch"}
	for _, test := range []struct {
		patterns, idle string
		want           []string
	}{
		{"Delete*", "", names[1:]}, {"Create*,DeleteVpc", "", names[:2]}, {"Delete*,Modify*", "Modify*", names[1:]}, {"", "", nil},
	} {
		got, idle := glob.Select(glob.Split(test.patterns), names, func(name string) string { return name })
		if idle != test.idle || !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, idle %q", test.patterns, got, idle)
		}
	}
}
