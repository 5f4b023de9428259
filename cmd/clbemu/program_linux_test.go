package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// TestUnchanged proves that only such pages are let go as the file has: those of the
// program, read alone, and changed by nobody.
func TestUnchanged(t *testing.T) {
	mapping := func(line, anonymous string) string {
		return line + "\nSize:                  4 kB\nRss:                   4 kB\nAnonymous:      " + anonymous + " kB\nVmFlags: rd ex mr mw me\n"
	}
	smaps := mapping("00400000-00e05000 r-xp 00000000 fe:00 1065 /bin/clbemu", "0") +
		mapping("00e05000-01a96000 r--p 00a05000 fe:00 1065 /bin/clbemu", "0") +
		mapping("01a96000-01b9e000 rw-p 01696000 fe:00 1065 /bin/clbemu", "0") +
		mapping("02000000-02001000 r--p 00a05000 fe:00 1065 /bin/clbemu", "4") +
		mapping("03000000-03001000 r--s 00a05000 fe:00 1065 /bin/clbemu", "0") +
		mapping("04000000-04001000 r--p 00a05000 fe:00 1066 /bin/clbemu.so", "0") +
		mapping("05000000-05001000 r--p 00000000 00:00 0", "0")
	got, err := unchanged(strings.NewReader(smaps), "/bin/clbemu")
	if want := []addresses{{0x400000, 0xe05000}, {0xe05000, 0x1a96000}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("unchanged = %x, %v, want %x", got, err, want)
	}
	if _, err := unchanged(io.MultiReader(strings.NewReader(smaps), iotest.ErrReader(io.ErrUnexpectedEOF)), "/bin/clbemu"); err == nil {
		t.Error("a list that can't be read to its end is taken for whole")
	}
}

// TestLetProgramGo proves that pages of the program go, and that it goes on.
func TestLetProgramGo(t *testing.T) {
	before := residentOfFiles(t)
	if err := letProgramGo(); err != nil {
		t.Fatal(err)
	}
	if after := residentOfFiles(t); after >= before/2 {
		t.Errorf("%d KiB of files are resident after %d, want less than half", after, before)
	}
}

func residentOfFiles(t *testing.T) (kib int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(status), "RssFile:")
	if _, err := fmt.Sscan(line, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}
