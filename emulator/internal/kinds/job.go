package kinds

import (
	"time"

	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// The states of a job.
const (
	JobProcessing = "Processing"
	JobSucceeded  = "Succeeded"
	JobFailed     = "Failed"
)

// Job is the asynchronous part of a call. What it does is done when the call is
// answered, and not at all by a job that fails.
type Job struct {
	state.Owner
	ID           string
	Action       string
	ResourceType string
	ResourceID   string
	Status       string
	CreateTime   time.Time
}

// Jobs are a product's jobs by id, which is also the order in which they began.
type Jobs struct {
	*state.Table[Job]
	// The stages of a job. Failing replaces Working while the world has a delay for it.
	Working, Failing state.Stage
}

// NewJobs declares the jobs of a product as a kind of a schema, with the names of its stages:
// CLB-0500.
func NewJobs(schema *state.Schema, product string, kind state.Kind, stage state.Stage) *Jobs {
	table := state.NewTable(schema, kind, func(j *Job) string { return j.ID }, state.Setting(),
		state.Life(func(j *Job) *string { return &j.Status }))
	table.With(state.Shows(func(_ *state.View, j *Job) (topology.Job, bool) {
		return topology.Job{Owner: j.Owner, Product: product, ID: j.ID, Status: j.Status, Action: j.Action, ResourceType: j.ResourceType, ResourceID: j.ResourceID, CreateTime: j.CreateTime}, true
	}), state.Checks(func(c *state.Checker, j *Job) {
		state.Among(c, table, j, "status", j.Status, JobProcessing, JobSucceeded, JobFailed)
	}))
	return &Jobs{
		Table:   table,
		Working: table.Stage(stage, JobProcessing, JobSucceeded, time.Second),
		Failing: table.Stage(stage+".failing", JobProcessing, JobFailed, 0),
	}
}

// How long the cloud remembers an ended job, and of how many: NLB-0013.
const (
	jobLifetime = 24 * time.Hour
	maxJobs     = 100_000
)

// Begin starts a job, gives it an id, and reports whether it will fail.
func (jobs *Jobs) Begin(tx *state.Tx, j *Job) (fails bool) {
	jobs.forget(tx)
	j.ID = state.NextUUID(tx, jobs.Table)
	j.Owner, j.Status, j.CreateTime = tx.Scope(), JobSucceeded, tx.Now() // unless a stage takes time
	jobs.Put(tx, j)
	switch fails = tx.Delay(jobs.Failing) > 0; {
	case fails:
		state.Enter(tx, jobs.Failing, j.ID)
	case tx.Delay(jobs.Working) > 0:
		state.Enter(tx, jobs.Working, j.ID)
	}
	return fails
}

// forgetting bounds how many jobs a transaction looks at.
const forgetting = 16

// forget removes the oldest jobs, whosever they are, if their time is over or there
// are too many.
func (jobs *Jobs) forget(tx *state.Tx) {
	tx = tx.In(state.Owner{})
	looked := 0
	for j := range jobs.All(tx.View) {
		looked++
		young := tx.Now().Before(j.CreateTime.Add(jobLifetime)) && jobs.Len(tx.View) < maxJobs
		if young || looked > forgetting {
			return
		}
		if j.Status != JobProcessing {
			jobs.Delete(tx, j.ID)
		}
	}
}
