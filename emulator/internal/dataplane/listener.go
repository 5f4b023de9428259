package dataplane

import (
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/internal/topology"
)

// listener answers for one frontend. The plane's worker alone changes it.
type listener struct {
	id, loadBalancer string
	network          string // tcp or udp
	protocol         string
	config           forward.Config
	service          listen.Service
	serving          sync.WaitGroup
	plan             *planned                        // what the server follows
	bound            map[netip.AddrPort]*boundSocket // by place
	omitted          bool                            // any port will do where its own is in use
	failing          bool                            // something went wrong that may go well later
	followed         atomic.Pointer[planned]         // plan, for others than the worker
	faultCounts      faultCounts

	mu      sync.RWMutex
	server  *forward.Server // nil while it rests
	at      []netip.AddrPort
	problem string // why it does not answer, or not everywhere
}

func newListener(f *topology.Frontend, config forward.Config) *listener {
	l := &listener{id: f.ID, loadBalancer: f.LoadBalancerID, network: "tcp", protocol: f.Protocol, config: config, bound: make(map[netip.AddrPort]*boundSocket)}
	if f.Protocol == string(forward.UDP) {
		l.network = "udp"
	}
	l.service = listen.Service{Name: "listener " + l.id, Members: l.members}
	l.config.Check = l.service.Check
	return l
}

// members returns the addresses that the listener connects to.
func (l *listener) members() (list []netip.AddrPort) {
	if plan := l.followed.Load(); plan != nil {
		for _, m := range plan.Group.Members {
			list = append(list, m.Addr)
		}
		for _, r := range plan.Rules {
			for _, m := range r.Group.Members {
				list = append(list, m.Addr)
			}
		}
	}
	return list
}

// show keeps what the listener does, for readers.
func (l *listener) show(server *forward.Server, at []netip.AddrPort, problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server, l.at, l.problem = server, at, problem
}

// shown returns what the listener does.
func (l *listener) shown() (server *forward.Server, at []netip.AddrPort, problem string) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.server, l.at, l.problem
}

// follow lets the listener do as a plan says at some places; it starts one that rests.
// What is omitted has no place, and the trouble keeps it from others for now.
func (l *listener) follow(plan *planned, places []netip.AddrPort, omitted string, trouble error) {
	server, _, before := l.shown()
	if server == nil {
		server = forward.New(l.config)
	}
	if !reflect.DeepEqual(l.plan, plan) {
		if err := server.Apply(plan.forward()); err != nil {
			l.end(server, err)
			return
		}
		l.plan = plan
		l.followed.Store(plan)
	}
	trouble = errors.Join(trouble, l.bind(server, places))
	if len(l.bound) == 0 {
		l.end(server, trouble)
		return
	}
	problem := omitted
	if l.failing = trouble != nil; l.failing {
		problem = strings.Trim(omitted+"; "+oneLine(trouble), "; ")
	}
	l.show(server, l.answersAt(), problem)
	if l.failing && problem != before {
		l.config.Log(trouble)
	}
}

// end ends the server, after something that may go well later.
func (l *listener) end(server *forward.Server, trouble error) {
	_, _, before := l.shown()
	why := oneLine(trouble)
	l.show(server, nil, why)
	if err := l.stop(why); err != nil || why != before {
		l.config.Log(errors.Join(trouble, err))
	}
	l.failing = true
}

// oneLine joins the errors of several addresses.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// stop ends the server and keeps the reason. The listener can start again.
func (l *listener) stop(why string) error {
	server, _, _ := l.shown()
	l.plan, l.failing = nil, false
	l.show(nil, nil, why)
	if server == nil {
		return nil
	}
	err := server.Close()
	l.serving.Wait()
	for _, socket := range l.bound {
		socket.forget()
	}
	clear(l.bound)
	return err
}
