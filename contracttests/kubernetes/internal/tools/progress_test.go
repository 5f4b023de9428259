package tools

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestDuring proves that work of minutes prints progress each minute, and when it ends.
func TestDuring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		failed := errors.New("no room")
		err := during(&out, "building etcd, 1 of 3", func() error {
			time.Sleep(150 * time.Second)
			return failed
		})
		want := "building etcd, 1 of 3\nbuilding etcd, 1 of 3: 1m0s\nbuilding etcd, 1 of 3: 2m0s\nbuilding etcd, 1 of 3: 2m30s\n"
		if !errors.Is(err, failed) || out.String() != want {
			t.Errorf("during = %v, and wrote\n%s\nwant\n%s", err, out.String(), want)
		}
	})
}
