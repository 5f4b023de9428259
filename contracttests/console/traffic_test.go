package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestTrafficIsShown proves that the page shows where a listener answers, each server's
// share of the requests while they come, and what is wrong with a server that this machine
// can't reach.
func TestTrafficIsShown(t *testing.T) {
	b := open(t, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.DataPlane = emulator.Ports }))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer server.Close()
	b.World(t, "instance."+node1+".reachAt", strings.TrimPrefix(server.URL, "http://"))
	lb, _ := b.web("web")
	b.visit("/?lb=" + lb)
	b.shows("#detail", "answers at 127.0.0.1:")
	b.shows("#detail p", "no way to 192.168.0.12 from here")
	traffic, err := (&controlclient.Client{URL: b.ControlURL()}).Traffic(t.Context(), lb)
	if err != nil || len(traffic.Listeners) != 1 {
		t.Fatalf("traffic = %+v, %v", traffic, err)
	}
	for range 3 {
		answer, err := http.Get("http://" + traffic.Listeners[0].AnswersAt)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	b.until("document.querySelector('#detail meter')?.value === 3")
	b.shows("#detail td", "3")
}
