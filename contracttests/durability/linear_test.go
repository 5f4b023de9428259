package durability_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/apiclient"
)

const (
	linearClients = 16
	linearLives   = 5    // of the server
	callsPerLife  = 1600 // of all clients
)

// TestLinearizable proves that to clients which call at the same time, and while the
// server is killed and started again, names, tags and quotas look as if one call was
// made after the other. Two controls show that it would be noticed if they did not.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// between wraps the clients' transport to the server, nil for nothing.
		between func(http.RoundTripper, *rand.Rand) http.RoundTripper
		// forgets lets the server start from what was on its disk one life ago.
		forgets bool
		want    porcupine.CheckResult
		// tries are more where chance may leave right what a control spoils.
		tries int
	}{
		{"as it is", nil, false, porcupine.Ok, 1},
		{"control: calls that are acknowledged and never made", newLiar, false, porcupine.Illegal, 4},
		{"control: a disk that forgets", nil, true, porcupine.Illegal, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			chance, wanted := chances(t, ""), make(map[int]bool) // subjects that were as wanted, by their number
			var subjects []*subject
			for try := 0; try < test.tries && (try == 0 || len(wanted) < len(subjects)); try++ {
				l := newLinear(t, chance)
				l.between, l.forgets = test.between, test.forgets
				l.run()
				subjects = l.subjects
				for i, s := range subjects {
					got := porcupine.CheckOperationsTimeout(s.model(), s.history, await.Patience)
					t.Logf("%s: %d calls, %d without an answer: %s", s.name, len(s.history), s.lost, got)
					if got == test.want {
						wanted[i] = true
					}
				}
			}
			for i, s := range subjects {
				if !wanted[i] {
					t.Errorf("%s is never %s", s.name, test.want)
				}
			}
		})
	}
}

// linear is a server killed again and again, and what its clients saw.
type linear struct {
	t        *testing.T
	dir      string
	chance   *rand.Rand
	begin    time.Time
	subjects []*subject
	between  func(http.RoundTripper, *rand.Rand) http.RoundTripper
	forgets  bool
}

func newLinear(t *testing.T, chance *rand.Rand) *linear {
	return &linear{t: t, dir: t.TempDir(), chance: chance, begin: time.Now()}
}

func (l *linear) now() int64 { return time.Since(l.begin).Nanoseconds() }

// run makes the subjects, and then lets the clients call through the lives of the
// server.
func (l *linear) run() {
	s := binary.Serve(l.t, "--data-dir", l.dir)
	l.subjects = makeSubjects(l.t, s)
	before := ""
	lives := linearLives
	if testing.Short() {
		lives = 3
	}
	for range lives {
		var limit fuse
		limit.left.Store(callsPerLife/2 + l.chance.Int64N(callsPerLife))
		limit.blow = func() { s.Cmd.Process.Kill() }
		l.live(s, &limit)
		s.Cmd.Wait()
		before = l.forget(before)
		s = binary.Serve(l.t, "--data-dir", l.dir)
		l.answerLost()
	}
	for _, subject := range l.subjects {
		l.call(subject, s.Client(), doing{})
	}
	if code := s.End(syscall.SIGTERM); code != 0 {
		l.t.Errorf("exit code %d at the end", code)
	}
}

// live lets the clients call until the server dies.
func (l *linear) live(s *binary.Server, limit *fuse) {
	var clients sync.WaitGroup
	for range linearClients {
		chance := rand.New(rand.NewPCG(l.chance.Uint64(), 0))
		client := s.Client()
		if l.between != nil {
			client.HTTP = &http.Client{Transport: l.between(client.HTTP.Transport, chance)}
		}
		clients.Go(func() {
			for alive := true; alive; {
				subject := l.subjects[chance.IntN(len(l.subjects))]
				do := doing{}
				if chance.IntN(2) == 0 {
					do = subject.next(chance)
				}
				limit.burn()
				alive = l.call(subject, client, do)
			}
		})
	}
	clients.Wait()
}

// call makes one call and adds it to the history. It reports whether there was an
// answer.
func (l *linear) call(s *subject, client *apiclient.Client, do doing) bool {
	begin := l.now()
	saw, err := s.call(client, do)
	op := porcupine.Operation{Input: do, Call: begin, Output: saw, Return: l.now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		op.Output, op.Return = seen{lost: true}, never
		s.lost++
	}
	s.history = append(s.history, op)
	return err == nil
}

const never = -1

// answerLost notes that what was never answered was executed by now, or is not any
// more.
func (l *linear) answerLost() {
	for _, s := range l.subjects {
		for i := range s.history {
			if s.history[i].Return == never {
				s.history[i].Return = l.now()
			}
		}
	}
}

// forget puts the disk back to what it was, and returns a copy of what it is.
func (l *linear) forget(before string) string {
	if !l.forgets {
		return ""
	}
	now := l.t.TempDir()
	err := os.CopyFS(now, os.DirFS(l.dir))
	if err == nil && before != "" {
		if err = os.RemoveAll(l.dir); err == nil {
			err = os.CopyFS(l.dir, os.DirFS(before))
		}
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return now
}

// liar acknowledges some writes that it never makes.
type liar struct {
	next   http.RoundTripper
	chance *rand.Rand
}

func newLiar(next http.RoundTripper, chance *rand.Rand) http.RoundTripper { return &liar{next, chance} }

func (l *liar) RoundTrip(r *http.Request) (*http.Response, error) {
	action := r.URL.Query().Get("Action")
	for _, verb := range []string{"Set", "Tag", "Delete"} {
		if strings.HasPrefix(action, verb) && l.chance.IntN(8) == 0 {
			body := io.NopCloser(strings.NewReader(fmt.Sprintf(`{"RequestId":%q}`, action)))
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
		}
	}
	return l.next.RoundTrip(r)
}
