package emulator_test

import (
	"net/http"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestAround proves that what stands around the API sees each call, and lets the API answer.
func TestAround(t *testing.T) {
	seen := make(chan string, 1)
	server := emulatortest.Start(t, emulatortest.WithConfig(func(c *emulator.Config) {
		c.Around = func(api http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen <- r.FormValue("Action")
				api.ServeHTTP(w, r)
			})
		}
	}))
	reply, err := server.Client().Call(emulator.Version("Slb"), "DescribeRegions", nil)
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("the API answers %+v, %v", reply, err)
	}
	if action := <-seen; action != "DescribeRegions" {
		t.Errorf("around the API is seen %q, want DescribeRegions", action)
	}
}
