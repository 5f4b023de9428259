package nlb

import (
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errFinancialLocked = refusals.New("FinancialLocked", 400, "OperationDenied.FinancialLocked",
		"The operation is not allowed because of FinancialLocked.", "CLB-0203")
	errOtherLocked = refusals.New("OtherLocked", 400, "OperationDenied.LoadBalancerLocked",
		"The operation is not allowed because of %s.", "CLB-0203")
	errLockConflict = refusals.New("LockConflict", 400, "Conflict.Lock",
		"The Lock [%s] is conflict.", "NLB-0001")
	errCreating = refusals.New("Creating", 400, "ResourceInCreating.loadbalancer",
		"The specified resource of loadbalancer is creating, please try again later.", "NLB-0001").
		In(400, "IncorrectStatus.loadbalancer", "The status of loadbalancer [%s] is incorrect.", "NLB-0001", "CreateListener")
	errConfiguring = refusals.New("Configuring", 400, "ResourceInConfiguring.loadbalancer",
		"The specified resource of loadbalancer is being configured, please try again later.", "NLB-0001")
)

// changing holds the API's rules for changes.
var changing = &changes.Rules{Jobs: kinds.NLBJobs, Locks: kinds.NLBLocks, Locked: errLockConflict, Open: checkOpen}

// checkLock refuses a change of a load balancer that is locked.
func checkLock(lb *kinds.NLBLoadBalancer) error {
	switch lock := lb.LockedBy(); lock {
	case "":
		return nil
	case kinds.NLBFinancialLocked:
		return errFinancialLocked
	default:
		return errOtherLocked.Of(string(lock))
	}
}

// checkOpen refuses a change of a load balancer that takes none now.
func checkOpen(v *state.View, id string) error {
	lb, err := kinds.NLBLoadBalancers.Get(v, id)
	if err != nil {
		return err
	}
	if err := checkLock(lb); err != nil {
		return err
	}
	switch {
	case lb.Status == kinds.NLBProvisioning:
		return errCreating.Of(lb.ID)
	case lb.Status == kinds.NLBConfiguring:
		return errConfiguring
	}
	return nil
}
