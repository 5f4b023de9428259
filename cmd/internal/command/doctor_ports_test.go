package command

import "testing"

// TestNodePorts proves that doctor notes NodePorts that are local ports too.
func TestNodePorts(t *testing.T) {
	for _, test := range []struct{ nodePorts, local, level string }{
		{"30000-32767", "32768\t60999\n", levelOK},
		{"30000-32767", "32767\t60999\n", levelNote},
		{"30000-32767", "1024 65535", levelNote},
		{"30000-32767", "30500 30600", levelNote},
		{"30000-30100", "20000 29999", levelOK},
		{"30000-32767", "none", ""},
	} {
		d := &doctor{nodePorts: test.nodePorts}
		d.comparePorts(test.local)
		got := ""
		if len(d.list) > 0 {
			got = d.list[0].Level
		}
		if got != test.level {
			t.Errorf("NodePorts %s and local ports %q: %q, want %q", test.nodePorts, test.local, got, test.level)
		}
	}
	for _, bad := range []string{"", "30000", "30000-", "2-1", "0-5", "1-70000", "a-b"} {
		if _, _, ok := portRange(bad); ok {
			t.Errorf("%q is a range of ports", bad)
		}
	}
}
