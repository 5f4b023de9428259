// Package changes declares NLB's actions that change load balancers: each
// checks everything first and changes nothing by that, ends there on a dry run, takes
// the lock of the load balancer, and does its work at once or by a job. It must not
// know what an action changes.
package changes

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// Rules are a product's for its changes.
type Rules struct {
	Jobs  *kinds.Jobs
	Locks *kinds.Locks
	// Locked refuses a change of a load balancer while another holds its lock.
	Locked gateway.Refusal
	// Open refuses a change of a load balancer that can't change now.
	Open func(v *state.View, loadBalancerID string) error
}

// Order holds the parameters that every call which changes something may have.
type Order struct {
	gateway.Region
	gateway.Trial
	ClientToken string `rpc:"ClientToken,len=1..64"`
}

func (o *Order) order() *Order { return o }

type request[T any] interface {
	*T
	order() *Order
}

// Work describes what a call will do to a resource.
type Work struct {
	ResourceType, ResourceID string
	Do                       func() error
}

// JobID is the answer of a call whose work a job does.
type JobID struct {
	JobID string `rpc:"JobId"`
}

// OfJob answers with the id of a job.
func OfJob(job *kinds.Job) *JobID { return &JobID{job.ID} }

// ByJob declares an action whose work is a job's. The plan checks everything and
// changes nothing, so that a job which fails leaves no trace. With the ClientToken of
// an earlier call there is no second job.
func ByJob[Req, Res any, PReq request[Req]](rules *Rules, name string, plan func(*state.Tx, *Req) (*Work, error), answer func(*kinds.Job) *Res) gateway.Action {
	return gateway.Write(name, func(tx *state.Tx, req *Req) (*Res, error) {
		o := PReq(req).order()
		id, err := state.OnceFor(tx, name, o.ClientToken, req, rules.Jobs.Table, resourceOf, func() (string, error) {
			w, err := prepare(tx, rules, o, req, plan)
			if err != nil {
				return "", err
			}
			return rules.begin(tx, name, w)
		})
		if err != nil {
			return nil, err
		}
		job, err := rules.Jobs.Get(tx.View, id)
		if err != nil {
			return nil, err
		}
		return answer(job), nil
	})
}

// AtOnce declares an action that does its work before it answers, and does it once for calls
// with one ClientToken.
func AtOnce[Req any, PReq request[Req]](rules *Rules, name string, plan func(*state.Tx, *Req) (*Work, error)) gateway.Action {
	return Answered[Req, gateway.Empty, PReq](rules, name, plan, func(*Req) *gateway.Empty { return &gateway.Empty{} })
}

// Answered declares an action like AtOnce, whose answer says more.
func Answered[Req, Res any, PReq request[Req]](rules *Rules, name string, plan func(*state.Tx, *Req) (*Work, error), answer func(*Req) *Res) gateway.Action {
	return gateway.Write(name, func(tx *state.Tx, req *Req) (*Res, error) {
		o := PReq(req).order()
		_, err := state.OnceFor(tx, name, o.ClientToken, req, (*state.Table[kinds.Job])(nil), nil, func() (string, error) {
			w, err := prepare(tx, rules, o, req, plan)
			if err != nil {
				return "", err
			}
			return "", w.Do()
		})
		if err != nil {
			return nil, err
		}
		return answer(req), nil
	})
}

func resourceOf(job *kinds.Job) string { return job.ResourceID }

// prepare checks what a call would do, and that nothing stands in its way.
func prepare[Req any](tx *state.Tx, rules *Rules, o *Order, req *Req, plan func(*state.Tx, *Req) (*Work, error)) (*Work, error) {
	if p, ok := any(req).(gateway.AboutLoadBalancer); ok {
		id, err := p.LoadBalancerOf(tx.View)
		if err == nil {
			err = rules.Enter(tx, id)
		}
		if err != nil {
			return nil, err
		}
	}
	w, err := plan(tx, req)
	if err == nil {
		err = o.Trial.Passed()
	}
	return w, err
}

// Enter refuses a change of a load balancer that takes none now, and keeps others out
// for a while.
func (rules *Rules) Enter(tx *state.Tx, loadBalancerID string) error {
	if err := rules.Open(tx.View, loadBalancerID); err != nil {
		return err
	}
	if !rules.Locks.Take(tx, loadBalancerID) {
		return rules.Locked.Of(loadBalancerID)
	}
	return nil
}

// begin begins a job, and does its work unless it is to fail.
func (rules *Rules) begin(tx *state.Tx, action string, w *Work) (id string, err error) {
	job := &kinds.Job{Action: action, ResourceType: w.ResourceType, ResourceID: w.ResourceID}
	if fails := rules.Jobs.Begin(tx, job); !fails {
		err = w.Do()
	}
	return job.ID, err
}
