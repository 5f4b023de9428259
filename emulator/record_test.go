package emulator_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/state"
)

// TestCallsAreJournalled proves that the journal has a call when its client has
// the answer, with what it asked, of what, and how it was answered, and with what
// it sent that no handler read.
func TestCallsAreJournalled(t *testing.T) {
	start := time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)
	s := emulatortest.Start(t, emulatortest.WithClock(state.NewManualClock(start)))
	s.Fault(t, "name: busy\nmatch: {action: DeleteLoadBalancer}\neffect: {error: {code: ServiceUnavailable, message: m, httpStatus: 503}}")
	created, err := s.Client().Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"LoadBalancerSpec": "slb.s1.small", "SourceIp": "192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	id := created.Text("LoadBalancerId")
	deleted, err := s.Client().Call(emulatortest.Slb, "DeleteLoadBalancer", map[string]string{"LoadBalancerId": id})
	if err != nil {
		t.Fatal(err)
	}
	entries := s.Calls(t)
	if len(entries) != 2 {
		t.Fatalf("the journal has %d calls, want two", len(entries))
	}
	for _, e := range entries {
		if e.Milliseconds <= 0 || !e.Time.Equal(start) {
			t.Errorf("%s took %v ms at %v, want some time at %v", e.Action, e.Milliseconds, e.Time, start)
		}
	}
	want := []journal.Entry{ // after that of the rule
		{Sequence: 2, Kind: journal.KindCall, RequestID: created.Text("RequestId"), Action: "CreateLoadBalancer", Made: id, Also: []string{"rg-clbemu0default"}, Status: 200, Unread: []string{"SourceIp"},
			Parameters: journal.Parameters{{Name: "LoadBalancerSpec", Value: "slb.s1.small"}, {Name: "RegionId", Value: "cn-hangzhou"}, {Name: "SourceIp", Value: "192.0.2.1"}}},
		{Sequence: 3, Kind: journal.KindCall, RequestID: deleted.Text("RequestId"), Action: "DeleteLoadBalancer", Resource: id, Status: 503,
			Code: "ServiceUnavailable", Faults: []string{"busy"}, Parameters: journal.Parameters{{Name: "LoadBalancerId", Value: id}, {Name: "RegionId", Value: "cn-hangzhou"}}},
	}
	for i, w := range want {
		w.AccessKeyID, w.Product, w.Region, w.UserAgent = emulatortest.AccessKeyID, "Slb", "cn-hangzhou", "Go-http-client/1.1"
		w.Time, w.Milliseconds = entries[i].Time, entries[i].Milliseconds
		got, wanted := mustJSON(t, entries[i]), mustJSON(t, w)
		if got != wanted {
			t.Errorf("entry %s, want %s", got, wanted)
		}
	}
}

func mustJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestJournalHasNoSecrets sends every secret that a call can carry, in query,
// form and headers and in all spellings, and looks for them in the journal and
// in its file.
func TestJournalHasNoSecrets(t *testing.T) {
	const secret = "5ecr3t"
	path := filepath.Join(t.TempDir(), "journal")
	s := emulatortest.Start(t, emulatortest.WithConfig(func(cfg *emulator.Config) {
		cfg.StrictAuth, cfg.Journal.File = false, path
	}))
	const key = "-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----"
	names := []string{"Signature", "SignatureNonce", "SecurityToken", "PrivateKey", "ServerCertificate", "CACertificate", "AccessKeySecret", "Password", "BearerToken"}
	for _, name := range slices.Clone(names) {
		names = append(names, strings.ToLower(name), strings.ToUpper(name), name+".1", "Listener.1."+name, strings.ReplaceAll(name, "Key", "_Key"), "x-acs-"+name)
	}
	calls := 0
	send := func(query, form url.Values, header http.Header) {
		t.Helper()
		calls++
		r, err := http.NewRequest("POST", s.URL()+"/?"+query.Encode(), strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	call := func(name, value string) url.Values {
		return url.Values{"Version": {emulatortest.Slb}, "Action": {"UploadServerCertificate"}, "RegionId": {"cn-hangzhou"}, name: {value}}
	}
	for _, name := range names {
		send(call(name, secret), nil, http.Header{})
		send(nil, call(name, secret), http.Header{})
		send(call("ServerCertificateName", "n"), nil, http.Header{name: {secret}})
	}
	send(nil, call("ServerCertificateName", key), http.Header{})
	send(nil, call("Listeners", `[{"PrivateKey":"`+secret+`"}]`), http.Header{})
	send(call("ServerCertificateName", "n"), nil, http.Header{"Authorization": {"ACS3-HMAC-SHA256 Credential=testid,SignedHeaders=host,Signature=" + secret}})

	page := s.Journal().Query(journal.Query{})
	kept := mustJSON(t, page)
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(written), "\n"); len(page.Entries) != calls || lines != calls {
		t.Errorf("the journal has %d and the file %d entries, want %d", len(page.Entries), lines, calls)
	}
	for where, text := range map[string]string{"journal": kept, "file": string(written)} {
		for _, forbidden := range []string{secret, emulatortest.AccessKeySecret, "PRIVATE KEY"} {
			if i := strings.Index(text, forbidden); i >= 0 {
				t.Errorf("the %s has %s: …%s…", where, forbidden, text[max(i-300, 0):i+len(forbidden)])
			}
		}
	}
}

// TestCloseEndsStreams proves that who follows the journal does not hold up the
// end, and has got the last call.
func TestCloseEndsStreams(t *testing.T) {
	e := mustNew(t, emulator.Config{Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0"})
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	stream, err := http.Get("http://" + e.ControlAddr() + "/v1/journal/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if _, err := (&emulatortest.Client{URL: "http://" + e.Addr()}).Call(emulatortest.Slb, "DescribeRegions", nil); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Errorf("Close = %v", err)
	}
	if text, err := io.ReadAll(stream.Body); err != nil || !strings.Contains(string(text), `"action":"DescribeRegions"`) {
		t.Errorf("the stream was %q, %v, want the call and a clean end", text, err)
	}
}

// TestJournalFileRefused proves that a journal that can't be written stops the
// start and releases the state.
func TestJournalFileRefused(t *testing.T) {
	dir := t.TempDir()
	cfg := emulator.Config{DataDir: dir, Journal: journal.Config{File: filepath.Join(dir, "none", "journal")}}
	if _, err := emulator.New(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "journal file") {
		t.Errorf("New = %v, want an error about the file", err)
	}
	cfg.Journal.File = ""
	if err := mustNew(t, cfg).Close(context.Background()); err != nil {
		t.Error(err)
	}
}
