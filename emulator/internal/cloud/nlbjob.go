package cloud

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// The states of a job.
const (
	NLBJobProcessing = "Processing"
	NLBJobSucceeded  = "Succeeded"
	NLBJobFailed     = "Failed"
)

// NLBJob is the asynchronous part of a call of NLB. What it does is done when the
// call is answered, and not at all by a job that fails.
type NLBJob struct {
	state.Owner
	ID           string
	Action       string
	ResourceType string
	ResourceID   string
	Status       string
	CreateTime   time.Time
}

// NLBJobs by id, which is also the order in which they began.
var NLBJobs = state.NewTable(Schema, "NLBJob", func(j *NLBJob) string { return j.ID }, state.Setting(),
	state.Life(func(j *NLBJob) *string { return &j.Status }))

var _ = NLBJobs.With(state.Checks(func(c *state.Checker, j *NLBJob) {
	state.Among(c, NLBJobs, j, "status", j.Status, NLBJobProcessing, NLBJobSucceeded, NLBJobFailed)
}))

// The stages of a job: NLB-0010. StageNLBJobFailing replaces the other one while the
// world has a delay for it.
var (
	StageNLBJob        = NLBJobs.Stage("nlb.job", NLBJobProcessing, NLBJobSucceeded, time.Second)
	StageNLBJobFailing = NLBJobs.Stage("nlb.job.failing", NLBJobProcessing, NLBJobFailed, 0)
)

// How long a job that has ended is remembered, and of how many: NLB-0013.
const (
	nlbJobLifetime = 24 * time.Hour
	maxNLBJobs     = 100_000
)

// BeginNLBJob starts a job, gives it an id, and reports whether it will fail.
func BeginNLBJob(tx *state.Tx, j *NLBJob) (fails bool) {
	forgetNLBJobs(tx)
	j.ID = state.NextUUID(tx, NLBJobs)
	j.Owner, j.Status, j.CreateTime = tx.Scope(), NLBJobSucceeded, tx.Now() // unless a stage takes time
	NLBJobs.Put(tx, j)
	switch fails = tx.Delay(StageNLBJobFailing) > 0; {
	case fails:
		state.Enter(tx, StageNLBJobFailing, j.ID)
	case tx.Delay(StageNLBJob) > 0:
		state.Enter(tx, StageNLBJob, j.ID)
	}
	return fails
}

// forgetting bounds how many jobs a transaction looks at.
const forgetting = 16

// forgetNLBJobs forgets the oldest jobs, whosever they are, if their time is over or
// there are too many.
func forgetNLBJobs(tx *state.Tx) {
	tx = tx.In(state.Owner{})
	looked := 0
	for j := range NLBJobs.All(tx.View) {
		looked++
		young := tx.Now().Before(j.CreateTime.Add(nlbJobLifetime)) && NLBJobs.Len(tx.View) < maxNLBJobs
		if young || looked > forgetting {
			return
		}
		if j.Status != NLBJobProcessing {
			NLBJobs.Delete(tx, j.ID)
		}
	}
}
