package replicas_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// tempest is what a storm disturbs.
type tempest struct {
	t       *testing.T
	chance  *rand.Rand
	net     *network // nil without root
	members []*member
	all     []*replica
	client  *clientv3.Client
}

// disturbances are the ways in which a storm disturbs replicas and etcd. Each leaves all of
// them running.
var disturbances = map[string]func(*tempest){
	"leader killed":             func(s *tempest) { s.restart(s.leader()) },
	"follower killed":           func(s *tempest) { s.restart(s.follower()) },
	"leader away":               func(s *tempest) { s.away(s.leader()) },
	"leader ended by SIGTERM":   func(s *tempest) { s.end(s.leader()) },
	"follower ended":            func(s *tempest) { s.end(s.follower()) },
	"all replicas killed":       func(s *tempest) { s.restart(s.all...) },
	"leader wakes, next killed": (*tempest).wake,
	"leader paused for long":    func(s *tempest) { s.stop(s.leader().signal, 3500, 6000) },
	"leader paused, often":      func(s *tempest) { s.often(func() { s.stop(s.leader().signal, 0, 900) }) },
	"follower paused":           func(s *tempest) { s.stop(s.follower().signal, 0, 6000) },
	"leader cut off":            func(s *tempest) { s.cut(s.leader(), 8000) },
	"leader cut off, shortly":   func(s *tempest) { s.cut(s.leader(), 1500) },
	"follower cut off":          func(s *tempest) { s.cut(s.follower(), 8000) },
	"leader's link slow":        func(s *tempest) { s.slow(s.leader()) },
	"all links slow":            func(s *tempest) { s.slow(s.all...) },
	"etcd's leader killed":      func(s *tempest) { s.restartEtcd(s.etcdLeader()) },
	"member of etcd killed":     func(s *tempest) { s.restartEtcd(s.members[s.chance.IntN(len(s.members))]) },
	"all of etcd killed":        func(s *tempest) { s.restartEtcd(s.members...) },
	"both leaders killed":       func(s *tempest) { s.etcdLeader().running.Kill(); s.restart(s.leader()); s.restartEtcd(s.members...) },
	"etcd's leader paused":      func(s *tempest) { s.stop(s.etcdLeader().signal, 0, 5000) },
	"etcd slow":                 (*tempest).stutter,
	"etcd full":                 (*tempest).fill,
	"etcd compacted":            (*tempest).compact,
	"leader misses compacted":   func(s *tempest) { s.missCompacted(s.leader()) },
	"follower misses compacted": func(s *tempest) { s.missCompacted(s.follower()) },
	"etcd's leader moved":       (*tempest).move,
	"leader's lease revoked":    func(s *tempest) { s.depose(true) },
	"leader's place deleted":    func(s *tempest) { s.depose(false) },
	"lease revoked, often":      func(s *tempest) { s.often(func() { s.depose(true) }) },
}

// needWires are those that need root, and networks that can be cut.
var needWires = []string{"leader cut off", "leader cut off, shortly", "follower cut off", "leader's link slow", "all links slow",
	"leader misses compacted", "follower misses compacted"}

// TestStorm proves that nothing that was acknowledged is lost, that nothing is made twice, and
// that reads and writes look as if they were made one after the other, while replicas and etcd
// are disturbed in every way for the length of -storm, or once in each.
func TestStorm(t *testing.T) {
	s := newTempest(t)
	h := newHistory(t, s.all, s.chance)
	only := regexp.MustCompile(*kinds)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(disturbances)), func(name string) bool { return !only.MatchString(name) })
	if len(names) == 0 {
		t.Fatalf("no disturbance has a name like %q", *kinds)
	}
	if s.net == nil {
		t.Logf("NOT TESTED: %s need root", strings.Join(needWires, ", "))
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(needWires, name) })
		if len(names) == 0 {
			t.Skip("nothing else is to be played")
		}
	}
	did, begun, count := make(map[string]int), time.Now(), 0
	for next := names[:0:0]; !t.Failed() && (count < len(names) || time.Since(begun) < *storm); {
		h.round(func() {
			for range 3 {
				if len(next) == 0 {
					next = slices.Clone(names)
					s.chance.Shuffle(len(next), func(a, b int) { next[a], next[b] = next[b], next[a] })
				}
				if count >= len(names) && time.Since(begun) >= *storm {
					break
				}
				s.disturb(next[0])
				did[next[0]]++
				next, count = next[1:], count+1
				s.pause(400)
			}
		})
		if h.rounds%20 == 0 {
			t.Logf("%s: %d disturbances, %d calls of texts", time.Since(begun).Round(time.Second), count, h.calls)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(did)) {
		t.Logf("%4d times %s", did[name], name)
	}
	h.check(count)
}

func newTempest(t *testing.T) *tempest {
	s := &tempest{t: t, chance: chances(t)}
	if _, err := exec.LookPath("tc"); err != nil || os.Getuid() != 0 {
		s.members = startEtcd(t, 3)
		s.all = fleet(t, s.members)
	} else {
		s.net = newNetwork(t)
		s.members = startEtcdAt(t, s.net.address, 3)
		s.all = fleetOn(t, s.net.hosts(3), s.members)
	}
	s.client = etcdClient(t, s.members)
	return s
}

// disturb waits until all is well again.
func (s *tempest) disturb(name string) {
	s.t.Helper()
	s.t.Logf("%s %s", time.Now().Format("15:04:05.000"), name)
	disturbances[name](s)
	for _, m := range s.members {
		m.await()
	}
	for _, r := range s.all {
		eventually(s.t, r.name+" is ready after: "+name, func() error {
			select {
			case <-r.running.Done():
				said, listened := r.began()
				if listened || !strings.Contains(said, "etcd did not answer") {
					s.t.Fatalf("%s ended after: %s\n%s", r.name, name, r.running.Tail(5))
				}
				r.start() // as a supervisor does: on a busy machine etcd may be away for long at its start
			default:
			}
			return r.control.Ready(s.t.Context())
		})
	}
}

func (s *tempest) leader() *replica {
	s.t.Helper()
	leader, _ := leaderOf(s.t, s.all)
	return leader
}

func (s *tempest) follower() *replica {
	s.t.Helper()
	_, others := leaderOf(s.t, s.all)
	return others[s.chance.IntN(len(others))]
}

func (s *tempest) often(do func()) {
	for range 3 {
		do()
		s.pause(300)
	}
}

func (s *tempest) restart(all ...*replica) {
	for _, r := range all {
		r.running.Kill()
	}
	for _, r := range all {
		r.start()
	}
}

func (s *tempest) away(r *replica) {
	r.running.Kill()
	s.pause(5000)
	r.start()
}

func (s *tempest) end(r *replica) {
	if err := r.running.Stop(); err != nil {
		s.t.Error(err)
	}
	r.start()
}

// pause waits for a random time of at most so many milliseconds.
func (s *tempest) pause(most int) { s.wait(s.chance.IntN(most)) }

// wait lasts so many milliseconds, or until the test ends.
func (s *tempest) wait(length int) {
	select {
	case <-time.After(time.Duration(length) * time.Millisecond): // it decides nothing
	case <-s.t.Context().Done():
	}
}

// stop lets a process stand still for some milliseconds.
func (s *tempest) stop(signal func(syscall.Signal), least, most int) {
	signal(syscall.SIGSTOP)
	s.wait(least)
	s.pause(most - least)
	signal(syscall.SIGCONT)
}

// wake lets a leader stand still until another leads, which is killed as the first wakes and may
// yet write.
func (s *tempest) wake() {
	first := s.leader()
	first.signal(syscall.SIGSTOP)
	others := slices.DeleteFunc(slices.Clone(s.all), func(r *replica) bool { return r == first })
	var next *replica
	eventually(s.t, "another replica leads", func() error {
		for _, r := range others {
			if r.replicas().Leads {
				next = r
				return nil
			}
		}
		return errors.New("none leads")
	})
	s.pause(1500) // in which it answers
	first.signal(syscall.SIGCONT)
	s.pause(30)
	s.restart(next)
}

func (s *tempest) cut(r *replica, most int) {
	n := slices.Index(s.all, r)
	s.net.cut(n)
	s.pause(most)
	s.net.heal(n)
}

// slow lets hardly anything through to replicas for a while.
func (s *tempest) slow(all ...*replica) {
	for _, r := range all {
		s.net.slow(slices.Index(s.all, r))
	}
	s.pause(5000)
	for _, r := range all {
		s.net.fast(slices.Index(s.all, r))
	}
}

func (s *tempest) restartEtcd(members ...*member) {
	for _, m := range members {
		m.running.Kill()
	}
	for _, m := range members {
		m.start()
	}
}

// stutter lets members of etcd answer late, one after the other or together.
func (s *tempest) stutter() {
	for range 10 {
		var waiting sync.WaitGroup
		for _, m := range s.members[:1+s.chance.IntN(len(s.members))] {
			length := s.chance.IntN(600)
			waiting.Go(func() {
				m.signal(syscall.SIGSTOP)
				s.wait(length)
				m.signal(syscall.SIGCONT)
			})
		}
		waiting.Wait()
	}
}

// etcdLeader returns the member of etcd that leads.
func (s *tempest) etcdLeader() (leader *member) {
	s.t.Helper()
	s.ask("etcd names its leader", func(ctx context.Context) error {
		for _, m := range s.members {
			status, err := s.client.Status(ctx, m.url)
			if err != nil {
				return err
			}
			if status.Leader == status.Header.MemberId {
				leader = m
				return nil
			}
		}
		return errors.New("no member leads")
	})
	return leader
}

// ask tries a call of etcd until it is answered.
func (s *tempest) ask(what string, call func(context.Context) error) {
	s.t.Helper()
	eventually(s.t, what, func() error {
		ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second) // it asks again
		defer cancel()
		return call(ctx)
	})
}

// fill raises the alarm of an etcd that has no room for a while.
func (s *tempest) fill() {
	full := func(action etcdserverpb.AlarmRequest_AlarmAction) func(context.Context) error {
		return func(ctx context.Context) error {
			status, err := s.client.Status(ctx, s.members[0].url)
			if err != nil {
				return err
			}
			_, err = etcdserverpb.NewMaintenanceClient(s.client.ActiveConnection()).Alarm(ctx,
				&etcdserverpb.AlarmRequest{Action: action, MemberID: status.Header.MemberId, Alarm: etcdserverpb.AlarmType_NOSPACE})
			return err
		}
	}
	s.ask("etcd is full", full(etcdserverpb.AlarmRequest_ACTIVATE))
	s.pause(5000)
	s.ask("etcd has room", full(etcdserverpb.AlarmRequest_DEACTIVATE))
}

func (s *tempest) compact() {
	s.ask("etcd is compacted", func(ctx context.Context) error {
		now, err := s.client.Get(ctx, "x")
		if err != nil {
			return err
		}
		_, err = s.client.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical())
		return err
	})
}

// missCompacted cuts a replica off for so long that its connections end, and compacts etcd meanwhile.
func (s *tempest) missCompacted(r *replica) {
	n := slices.Index(s.all, r)
	s.net.cut(n)
	s.wait(5000)
	s.pause(3000)
	s.compact()
	s.net.heal(n)
}

// move lets another member of etcd lead.
func (s *tempest) move() {
	from := s.etcdLeader()
	s.ask("another member of etcd leads", func(ctx context.Context) error {
		status, err := s.client.Status(ctx, from.url)
		if err != nil || status.Leader != status.Header.MemberId {
			return err // or it leads no more
		}
		list, err := s.client.MemberList(ctx)
		if err != nil {
			return err
		}
		for _, m := range list.Members {
			if m.ID != status.Leader {
				at, err := clientv3.New(clientv3.Config{Endpoints: []string{from.url}})
				if err != nil {
					return err
				}
				defer at.Close()
				_, err = at.MoveLeader(ctx, m.ID)
				return err
			}
		}
		return fmt.Errorf("etcd has the members %v", list.Members)
	})
}

// depose takes the lead from a replica, by its lease or by its key.
func (s *tempest) depose(byLease bool) {
	s.ask("the leader is deposed", func(ctx context.Context) error {
		first, err := s.client.Get(ctx, "/clbemu/leader/", clientv3.WithFirstCreate()...)
		if err != nil || len(first.Kvs) == 0 {
			return err // none leads
		}
		if byLease {
			_, err = s.client.Revoke(ctx, clientv3.LeaseID(first.Kvs[0].Lease))
		} else {
			_, err = s.client.Delete(ctx, string(first.Kvs[0].Key))
		}
		return err
	})
}
