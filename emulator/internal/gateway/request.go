package gateway

import (
	"net/http"
	"time"

	"github.com/clbemu/clbemu/state"
)

// Region is the region that a call may name; the gateway reads it. A repetition that
// names what the first call left out is the same request.
type Region struct {
	RegionID string `rpc:"RegionId" json:"-"`
}

// Trial is the part of a request that may only ask whether it would succeed. The
// gateway refuses such a call with DryRunPassed when its handler is content, and thereby
// undoes what the handler did.
type Trial struct {
	DryRun bool `rpc:"DryRun"`
}

// AboutLoadBalancer is a request about a load balancer or a part of one.
type AboutLoadBalancer interface {
	// LoadBalancerOf returns the load balancer's id, or "" for a call that concerns none after all.
	// It fails if the part does not exist.
	LoadBalancerOf(v *state.View) (string, error)
}

// DryRunPassed is the fact that a dry run found nothing to refuse.
const DryRunPassed state.Fact = "DryRunPassed"

// Passed returns DryRunPassed for a dry run, or nil for any other call.
func (t Trial) Passed() error {
	if t.DryRun {
		return state.Refuse(DryRunPassed)
	}
	return nil
}

const dryRunCode = "DryRunOperation"

// DryRunRow returns the row with which all products answer DryRunPassed; each has its
// own evidence.
func DryRunRow(evidence string) ErrorRow {
	return ErrorRow{Fact: DryRunPassed, Status: http.StatusBadRequest, Code: dryRunCode,
		Message: "Request validation has been passed with DryRun flag set.", Evidence: evidence}
}

// dryRunner is a request that may be a dry run.
type dryRunner interface{ Passed() error }

// passed returns DryRunPassed where a request is a dry run.
func passed(request any) error {
	if t, ok := request.(dryRunner); ok {
		return t.Passed()
	}
	return nil
}

// Second writes a time as most APIs do: UTC, to the second.
func Second(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// MinuteForm is the form of times to the minute.
const MinuteForm = "2006-01-02T15:04Z"

// Minute writes a time in UTC, to the minute.
func Minute(t time.Time) string { return t.UTC().Format(MinuteForm) }
