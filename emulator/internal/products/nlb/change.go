package nlb

import (
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

// What is refused here.
var (
	errFinancialLocked = refusals.New("FinancialLocked", 400, "OperationDenied.FinancialLocked",
		"The operation is not allowed because of FinancialLocked.", "NLB-0003")
	errLockConflict = refusals.New("LockConflict", 400, "Conflict.Lock",
		"The Lock [%s] is conflict.", "NLB-0001")
	errCreating = refusals.New("Creating", 400, "ResourceInCreating.loadbalancer",
		"The specified resource of loadbalancer is creating, please try again later.", "NLB-0001").
		In(400, "IncorrectStatus.loadbalancer", "The status of loadbalancer [%s] is incorrect.", "NLB-0001", "CreateListener")
	errConfiguring = refusals.New("Configuring", 400, "ResourceInConfiguring.loadbalancer",
		"The specified resource of loadbalancer is being configured, please try again later.", "NLB-0001")
)

// request is what changes something.
type request[T any] interface {
	*T
	ordered() *order
}

// part is a request about a load balancer or a part of one.
type part interface {
	// loadBalancerOf is the load balancer's id; it fails when the part is not there.
	loadBalancerOf(v *state.View) (string, error)
}

// work is what a call will do to a resource.
type work struct {
	resourceType, resourceID string
	do                       func() error
}

// asynchronous declares an action whose work is a job's. The plan checks
// everything and changes nothing, so that a job which fails leaves no trace. With
// the ClientToken of an earlier call there is no second job.
func asynchronous[Res, Req any, PReq request[Req], PRes interface {
	*Res
	tell(*cloud.NLBJob)
}](name string, plan func(*state.Tx, *Req) (*work, error)) gateway.Action {
	return gateway.Write(name, func(tx *state.Tx, req *Req) (*Res, error) {
		o := PReq(req).ordered()
		about := func(job *cloud.NLBJob) string { return job.ResourceID }
		id, err := state.OnceFor(tx, name, o.ClientToken, req, cloud.NLBJobs, about, func() (string, error) {
			w, err := prepare(tx, o, req, plan)
			if err != nil {
				return "", err
			}
			return begin(tx, name, w)
		})
		if err != nil {
			return nil, err
		}
		job, err := cloud.NLBJobs.Get(tx.View, id)
		if err != nil {
			return nil, err
		}
		response := new(Res)
		PRes(response).tell(job)
		return response, nil
	})
}

// immediate declares an action whose work is done when it is answered.
func immediate[Req any, PReq request[Req]](name string, plan func(*state.Tx, *Req) (*work, error)) gateway.Action {
	return gateway.Write(name, func(tx *state.Tx, req *Req) (*gateway.Empty, error) {
		w, err := prepare(tx, PReq(req).ordered(), req, plan)
		if err != nil {
			return nil, err
		}
		return &gateway.Empty{}, w.do()
	})
}

// prepare checks what a call would do, and that nothing stands in its way.
func prepare[Req any](tx *state.Tx, o *order, req *Req, plan func(*state.Tx, *Req) (*work, error)) (*work, error) {
	if p, ok := any(req).(part); ok {
		if err := enter(tx, p); err != nil {
			return nil, err
		}
	}
	w, err := plan(tx, req)
	if err == nil && o.DryRun {
		err = errDryRunPassed
	}
	return w, err
}

// enter refuses a change of a load balancer that takes none now, and keeps others
// out for a while.
func enter(tx *state.Tx, p part) error {
	id, err := p.loadBalancerOf(tx.View)
	if err != nil {
		return err
	}
	lb, err := cloud.NLBLoadBalancers.Get(tx.View, id)
	if err != nil {
		return err
	}
	switch {
	case lb.FinancialLocked:
		return errFinancialLocked
	case lb.Status == cloud.NLBProvisioning:
		return errCreating.Of(lb.ID)
	case lb.Status == cloud.NLBConfiguring:
		return errConfiguring
	case !cloud.LockNLB(tx, lb.ID):
		return errLockConflict.Of(lb.ID)
	}
	return nil
}
