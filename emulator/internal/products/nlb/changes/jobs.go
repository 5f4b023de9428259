package changes

import (
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// JobActions returns the actions that report a product's jobs. Their requests name the product's
// refusal Illegal.
func (rules *Rules) JobActions() []gateway.Action {
	return []gateway.Action{
		gateway.Read("GetJobStatus", rules.getJobStatus),
		gateway.Read("ListAsynJobs", rules.listAsynJobs),
	}
}

type getJobStatusRequest struct {
	gateway.Region
	JobID       string `rpc:"JobId,required"`
	ClientToken string `rpc:"ClientToken,len=1..64"`
}

type getJobStatusResponse struct {
	Status string `rpc:"Status"`
}

func (rules *Rules) getJobStatus(v *state.View, req *getJobStatusRequest) (*getJobStatusResponse, error) {
	job, err := rules.Jobs.Get(v, req.JobID)
	if err != nil {
		return nil, err
	}
	return &getJobStatusResponse{job.Status}, nil
}

type listAsynJobsRequest struct {
	gateway.Region
	JobIDs       []string `rpc:"JobIds,max=20,invalid=Illegal"`
	APIName      string   `rpc:"ApiName"`
	ResourceIDs  []string `rpc:"ResourceIds,max=20,invalid=Illegal"`
	ResourceType string   `rpc:"ResourceType"`
	Status       string   `rpc:"Status"`
	listing.ByToken
}

// asks reports whether the call asks for a job.
func (req *listAsynJobsRequest) asks(job *kinds.Job) bool {
	return listing.Among(req.JobIDs, job.ID) && listing.Among(req.ResourceIDs, job.ResourceID) && listing.Matches(req.APIName, job.Action) &&
		listing.Matches(req.ResourceType, job.ResourceType) && listing.Matches(req.Status, job.Status)
}

// listAsynJobsResponse has its count as a text, as in the cloud.
type listAsynJobsResponse struct {
	Jobs       []asynJob `rpc:"Jobs"`
	NextToken  string    `rpc:"NextToken,omitempty"`
	MaxResults int       `rpc:"MaxResults"`
	TotalCount string    `rpc:"TotalCount"`
}

type asynJob struct {
	ID           string `rpc:"Id"`
	APIName      string `rpc:"ApiName"`
	ResourceType string `rpc:"ResourceType"`
	ResourceID   string `rpc:"ResourceId"`
	OperateType  string `rpc:"OperateType"`
	Status       string `rpc:"Status"`
	CreateTime   int64  `rpc:"CreateTime"`
	ModifyTime   int64  `rpc:"ModifyTime"`
	ErrorCode    string `rpc:"ErrorCode,omitempty"`
	ErrorMessage string `rpc:"ErrorMessage,omitempty"`
}

// listAsynJobs leaves out unknown jobs.
func (rules *Rules) listAsynJobs(v *state.View, req *listAsynJobsRequest) (*listAsynJobsResponse, error) {
	var list []asynJob
	for job := range rules.Jobs.All(v) {
		if req.asks(job) {
			list = append(list, newAsynJob(job))
		}
	}
	part, next, err := listing.After(list, req.NextToken, req.MaxResults, func(j asynJob) string { return j.ID })
	if err != nil {
		return nil, err
	}
	return &listAsynJobsResponse{Jobs: part, NextToken: next, MaxResults: req.MaxResults, TotalCount: strconv.Itoa(len(list))}, nil
}

func newAsynJob(job *kinds.Job) asynJob {
	j := asynJob{
		ID: job.ID, APIName: job.Action, ResourceType: job.ResourceType, ResourceID: job.ResourceID, OperateType: operateType(job.Action),
		Status: job.Status, CreateTime: job.CreateTime.UnixMilli(), ModifyTime: job.CreateTime.UnixMilli(),
	}
	if job.Status == kinds.JobFailed {
		j.ErrorCode, j.ErrorMessage = "SystemBusy", "System is busy, please try again later."
	}
	return j
}

// operateType returns the kind of work that an action is.
func operateType(action string) string {
	for _, kind := range []string{"Create", "Delete"} {
		if strings.HasPrefix(action, kind) {
			return kind
		}
	}
	return "Update"
}
