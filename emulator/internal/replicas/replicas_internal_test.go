package replicas

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// following returns a replica that follows, and knows a leader at a URL, or "" for none.
func following(t *testing.T, cfg Config) *Replica {
	t.Helper()
	store, err := state.Follow(t.Context(), state.Config{Schema: state.NewSchema()}, &memory.Engine{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	cfg.Store, cfg.Self = store, controlapi.Replica{Name: "self"}
	return New(cfg)
}

func (r *Replica) knows(t *testing.T, name, url string) {
	t.Helper()
	text, err := json.Marshal(controlapi.Replica{Name: name, API: url, Control: url})
	if err != nil {
		t.Fatal(err)
	}
	r.setMembers([]engine.Member{{Self: string(text), Term: 1}})
}

// term lasts as long as leads says.
type term struct{ leads atomic.Bool }

func (t *term) Leads() bool           { return t.leads.Load() }
func (t *term) Over() <-chan struct{} { return nil }
func (t *term) Why() error            { return nil }

var here = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { _, _ = io.WriteString(w, "here") })

func get(t *testing.T, h http.Handler, method, target, body string) (status int, text string, header http.Header) {
	t.Helper()
	q := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if body == "" {
		q.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, q)
	return w.Code, w.Body.String(), w.Header()
}

// The leader gets a call as it was sent: host, path, query, headers and body, as all of
// these may be signed.
func TestPassesAsSent(t *testing.T) {
	var got *http.Request
	var body string
	leader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		text, _ := io.ReadAll(q.Body)
		got, body = q, string(text)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusTeapot)
	}))
	defer leader.Close()
	r := following(t, Config{})
	r.knows(t, "leader", leader.URL)
	q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://slb.aliyuncs.com/?b=%2F+x&a=1;2", strings.NewReader("Action=X"))
	q.Header.Set("X-Acs-Action", "X")
	q.Header.Set("X-Forwarded-For", "10.0.0.1")
	w := httptest.NewRecorder()
	r.API(here).ServeHTTP(w, q)
	if w.Code != http.StatusTeapot || w.Header().Get("X-Answer") != "yes" {
		t.Errorf("the answer is %d %v", w.Code, w.Header())
	}
	if got.Host != "slb.aliyuncs.com" || got.URL.RawQuery != "b=%2F+x&a=1;2" || body != "Action=X" ||
		got.Header.Get("X-Acs-Action") != "X" || got.Header.Get("X-Forwarded-For") != "10.0.0.1" || got.Header.Get(forwardedHeader) != "self" {
		t.Errorf("the leader got %s %s %q %v", got.Host, got.URL, body, got.Header)
	}
}

// Replicas trust each other's certificates, and no others.
func TestPassesByHTTPS(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	leader := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "there") }))
	var connections atomic.Int32
	leader.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if connections.Add(1) == 3 {
			cancel() // a certificate may change: it is tried again, in vain
		}
		return nil, nil
	}}
	leader.StartTLS()
	defer leader.Close()
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leader.Certificate().Raw}))
	for _, known := range []string{certificate, ""} {
		r := following(t, Config{})
		text, err := json.Marshal(controlapi.Replica{Name: "leader", API: leader.URL, Certificate: known})
		if err != nil {
			t.Fatal(err)
		}
		r.setMembers([]engine.Member{{Self: string(text), Term: 1}})
		w := httptest.NewRecorder()
		r.API(here).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		status, body := w.Code, w.Body.String()
		if known != "" && body != "there" || known == "" && (status != http.StatusServiceUnavailable || !strings.Contains(body, "certificate")) {
			t.Errorf("with the certificate %.10q: %d %s", known, status, body)
		}
	}
}

// A leader that closes the connection on a call does not get it again, whatever its
// method, and the client learns that its outcome is unknown.
func TestPassesOnce(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		var calls atomic.Int32
		leader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if calls.Add(1) == 1 {
				return // an answer that leaves the connection open for the next call
			}
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
		}))
		r := following(t, Config{})
		r.knows(t, "leader", leader.URL)
		get(t, r.API(here), method, "/?Action=CreateLoadBalancer", "")
		status, body, _ := get(t, r.API(here), method, "/?Action=CreateLoadBalancer", "")
		if status != http.StatusServiceUnavailable || !strings.Contains(body, "not known whether it was executed") || calls.Load() != 2 {
			t.Errorf("%s: %d %s, and the leader got %d calls", method, status, body, calls.Load())
		}
		leader.Close()
	}
}

// A call that found no leader, or one that is gone, waits for the next.
func TestWaitsForALeader(t *testing.T) {
	leader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		text, _ := io.ReadAll(q.Body)
		_, _ = w.Write(text)
	}))
	defer leader.Close()
	for _, before := range []string{"", "http://127.0.0.1:1"} {
		r := following(t, Config{})
		if before != "" {
			r.knows(t, "gone", before)
		}
		time.AfterFunc(50*time.Millisecond, func() { r.knows(t, "leader", leader.URL) })
		if status, body, _ := get(t, r.API(here), http.MethodPost, "/", "the body"); status != http.StatusOK || body != "the body" {
			t.Errorf("after %q: %d %s", before, status, body)
		}
	}
}

// Who waits for an answer of a leader learns when it is none any more.
func TestLeaderChangesDuringACall(t *testing.T) {
	got, end := make(chan struct{}), make(chan struct{})
	leader := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(got)
		<-end
	}))
	defer leader.Close()
	defer close(end)
	r := following(t, Config{})
	r.knows(t, "leader", leader.URL)
	go func() {
		<-got
		r.knows(t, "another", "http://127.0.0.1:1")
	}()
	if status, body, _ := get(t, r.API(here), http.MethodPost, "/", "x"); status != http.StatusServiceUnavailable || !strings.Contains(body, errChanged.Error()) {
		t.Errorf("%d %s", status, body)
	}
}

// Who waits for an answer of a leader learns when the replica that passed the call on ends.
func TestEndDuringACall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan struct{})
	leader := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-end
	}))
	defer leader.Close()
	defer close(end)
	r := following(t, Config{})
	r.knows(t, "leader", leader.URL)
	answer := httptest.NewRecorder()
	r.API(here).ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("x")))
	if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), errEnds.Error()) {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// A leader answers while it is certain, and a call passed on is not passed on
// again.
func TestLeads(t *testing.T) {
	r := following(t, Config{})
	r.knows(t, "another", "http://127.0.0.1:1")
	leads := &term{}
	leads.leads.Store(true)
	r.update(func() { r.term = leads })
	if _, body, _ := get(t, r.API(here), http.MethodGet, "/", ""); body != "here" {
		t.Errorf("the leader answers %s", body)
	}
	if err := r.Ready(); err != nil {
		t.Errorf("the leader is not ready: %v", err)
	}
	leads.leads.Store(false)
	q := httptest.NewRequest(http.MethodGet, "/", nil)
	q.Header.Set(forwardedHeader, "another")
	w := httptest.NewRecorder()
	r.API(here).ServeHTTP(w, q)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || w.Header().Get(untouchedHeader) == "" || !strings.Contains(w.Body.String(), errUntouched.Error()) {
		t.Errorf("a call that was passed on to one who does not lead: %d %s", w.Code, w.Body)
	}
}

// A call that comes to a leader which was killed and follows by now is not executed there, and
// waits for the next leader, who gets it whole. One too large to be sent again is refused, and
// the client learns that nothing was executed.
func TestWaitsForTheNextAfterAFollower(t *testing.T) {
	for _, size := range []int{8, maxRepeated, maxRepeated + 1} {
		restarted, r := following(t, Config{}), following(t, Config{})
		var asked atomic.Int32
		next := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			text, _ := io.ReadAll(q.Body)
			_, _ = w.Write(text)
		}))
		old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if asked.Add(1) == 1 {
				time.AfterFunc(50*time.Millisecond, func() { r.knows(t, "next", next.URL) })
			}
			text, _ := io.ReadAll(q.Body) // so that all of it was sent
			q.Body = io.NopCloser(strings.NewReader(string(text)))
			restarted.API(here).ServeHTTP(w, q)
		}))
		r.knows(t, "old", old.URL)
		restarted.knows(t, "old", old.URL)
		sent := strings.Repeat("x", size)
		status, body, _ := get(t, r.API(here), http.MethodPost, "/?Action=CreateLoadBalancer", sent)
		if small := size <= maxRepeated; small && (status != http.StatusOK || body != sent) ||
			!small && (status != http.StatusServiceUnavailable || !strings.Contains(body, "was not executed") || asked.Load() != 1) {
			t.Errorf("a call of %d bytes: %d %.100s, and the old leader got it %d times", size, status, body, asked.Load())
		}
		old.Close()
		next.Close()
	}
}

// Where no replica can lead, calls, readiness and status say why.
func TestSaysWhyNoneLeads(t *testing.T) {
	r := following(t, Config{Election: full{}})
	go func() { _ = r.Run(t.Context()) }() // until the end
	for {
		_, _, changed := r.leader()
		if r.Status().Problem != "" {
			break
		}
		<-changed
	}
	call, gone := context.WithTimeout(t.Context(), 50*time.Millisecond) // for a leader that does not come
	defer gone()
	w := httptest.NewRecorder()
	r.API(here).ServeHTTP(w, httptest.NewRequestWithContext(call, http.MethodPost, "/", nil))
	for what, text := range map[string]string{"a call": w.Body.String(), "readiness": r.Ready().Error(), "the status": r.Status().Problem} {
		if !strings.Contains(text, "etcd is full") {
			t.Errorf("%s says %q, want that etcd is full", what, text)
		}
	}
}

// full is an election that no replica wins.
type full struct{}

func (full) Campaign(context.Context, string) (engine.Term, error) {
	return nil, errors.New("etcd is full")
}
func (full) Members(ctx context.Context, _ func([]engine.Member)) error { return ended(ctx) }
func (full) Changed(ctx context.Context) error                          { return ended(ctx) }

// ended waits until ctx ends.
func ended(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// What is about this process is answered by it, and so are reads where that is wanted.
func TestAnswersItself(t *testing.T) {
	leader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "there") }))
	defer leader.Close()
	r := following(t, Config{Local: func(q *http.Request) bool { return q.URL.Query().Get("Action") == "DescribeRegions" }})
	r.knows(t, "leader", leader.URL)
	for path, want := range map[string]string{"/healthz": "here", "/readyz": "here", "/metrics": "here", "/v1/server": "here", "/v1/version": "here", "/v1/faults": "there", "/": "there"} {
		if _, body, _ := get(t, r.Control(here), http.MethodGet, path, ""); body != want {
			t.Errorf("%s is answered %s, want %s", path, body, want)
		}
	}
	_, body, header := get(t, r.API(here), http.MethodGet, "/?Action=DescribeRegions", "")
	if lag, err := time.ParseDuration(header.Get(LagHeader)); body != "here" || err != nil || lag < 0 {
		t.Errorf("a read is answered %s, with the lag %q", body, header.Get(LagHeader))
	}
	if _, body, _ := get(t, r.API(here), http.MethodGet, "/?Action=CreateLoadBalancer", ""); body != "there" {
		t.Errorf("a write is answered %s", body)
	}
	if err := r.Ready(); err != nil {
		t.Errorf("the follower is not ready: %v", err)
	}
	r.setMembers(nil)
	if err := r.Ready(); err == nil {
		t.Error("the follower is ready though nobody leads")
	}
}

// elected elects this process at once, and loses the term when the test closes over.
type elected struct {
	memory.Engine
	term *overTerm
}

type overTerm struct{ over chan struct{} }

func (t *overTerm) Leads() bool           { return true }
func (t *overTerm) Over() <-chan struct{} { return t.over }
func (t *overTerm) Why() error            { return errors.New("the lease has ended") }

func (e *elected) Campaign(context.Context, string) (engine.Term, error)      { return e.term, nil }
func (e *elected) Members(ctx context.Context, _ func([]engine.Member)) error { return ended(ctx) }
func (e *elected) Changed(ctx context.Context) error                          { return ended(ctx) }

// spoilt is an election that this process never wins, as another program changed what is kept.
type spoilt struct{}

var errSpoilt = errors.New("another program changed it")

func (spoilt) Campaign(ctx context.Context, _ string) (engine.Term, error) { return nil, ended(ctx) }
func (spoilt) Members(ctx context.Context, fn func([]engine.Member)) error {
	fn([]engine.Member{{Self: `{"name":"leader","api":"http://127.0.0.1:1"}`, Term: 1}})
	return ended(ctx)
}
func (spoilt) Changed(context.Context) error { return errSpoilt }

// TestSpoilt proves that a replica whose medium another program changed is not ready, says why,
// and answers no read itself.
func TestSpoilt(t *testing.T) {
	r := following(t, Config{Election: spoilt{}, Local: func(*http.Request) bool { return true }})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.Run(ctx) // ends with ctx
	}()
	for {
		_, known, changed := r.leader()
		if known && r.spoilt() != nil {
			break
		}
		<-changed
	}
	if err := r.Ready(); !errors.Is(err, errSpoilt) {
		t.Errorf("Ready = %v, want %v", err, errSpoilt)
	}
	if s := r.Status(); s.Problem != errSpoilt.Error() || s.Leader != "leader" {
		t.Errorf("Status = %+v, want the leader and the problem", s)
	}
	q := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	q.Header.Set(forwardedHeader, "x") // or it would wait for the leader
	w := httptest.NewRecorder()
	if r.API(here).ServeHTTP(w, q); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a read is answered %d %s, want it left to the leader", w.Code, w.Body)
	}
	stop()
	<-done
}

// A replica leads when what the leader needs has begun, and is deposed with its term.
func TestRun(t *testing.T) {
	e := &elected{term: &overTerm{make(chan struct{})}}
	store, err := state.Follow(t.Context(), state.Config{Schema: state.NewSchema()}, e)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	begun := make(chan struct{})
	r := New(Config{Election: e, Store: store, Self: controlapi.Replica{Name: "self"}, Lead: func(context.Context) error {
		close(begun)
		return nil
	}})
	ended := make(chan error, 1)
	go func() { ended <- r.Run(t.Context()) }()
	<-begun
	close(e.term.over)
	if err := <-ended; !errors.Is(err, ErrDeposed) || !strings.Contains(err.Error(), "the lease has ended") {
		t.Errorf("Run = %v", err)
	}
	if _, follows := store.Follows(); follows {
		t.Error("the store still follows")
	}
}

// A leader that stood still while it had a call does not send what it read before: another
// may lead and have written since.
func TestLateAnswer(t *testing.T) {
	r := following(t, Config{})
	leads := &term{}
	leads.leads.Store(true)
	r.update(func() { r.term = leads })
	slow := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Length", "3")
		leads.leads.Store(false)
		_, _ = io.WriteString(w, "old")
	})
	status, text, header := get(t, r.API(slow), http.MethodGet, "/", "")
	if status != http.StatusServiceUnavailable || !strings.Contains(text, "lost the lead") || header.Get("Content-Length") != "" {
		t.Errorf("a late answer = %d %s %v", status, text, header)
	}
}

// Who led until now and does not follow yet answers no reads on its own: it does not know
// how old they are.
func TestDeposedReadsNothing(t *testing.T) {
	store, err := state.Open(t.Context(), state.Config{Schema: state.NewSchema(), Engine: &memory.Engine{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	r := New(Config{Store: store, Self: controlapi.Replica{Name: "self"}, Local: func(*http.Request) bool { return true }})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond) // for a leader that does not come
	defer cancel()
	w := httptest.NewRecorder()
	r.API(here).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("it answers %d %s", w.Code, w.Body)
	}
}

// A body is read whole by each attempt, also while an earlier one still reads, and by no second one
// if it is too large to be kept.
func TestRepeatedBody(t *testing.T) {
	small := &repeatedBody{from: iotest.OneByteReader(strings.NewReader("Action=X"))}
	first := small.again()
	if _, err := io.ReadFull(first, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	for name, reader := range map[string]io.Reader{"a second": small.again(), "a third": small.again()} {
		if got, err := io.ReadAll(reader); err != nil || string(got) != "Action=X" {
			t.Errorf("%s attempt reads %q, %v", name, got, err)
		}
	}
	if rest, err := io.ReadAll(first); err != nil || string(rest) != "ion=X" {
		t.Errorf("the first attempt reads %q, %v, in the end", rest, err)
	}

	text := strings.Repeat("x", maxRepeated) + "y"
	large := &repeatedBody{from: strings.NewReader(text)}
	first, second := large.again(), large.again()
	if got, err := io.ReadAll(first); err != nil || string(got) != text {
		t.Errorf("of %d bytes the first attempt reads %d, %v", len(text), len(got), err)
	}
	if got, err := io.ReadAll(second); err == nil || large.again() != nil {
		t.Errorf("a second attempt reads %d bytes of what is not kept", len(got))
	}
}
