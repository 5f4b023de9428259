package nlb

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/state"
)

var jobActions = []gateway.Action{
	gateway.Read("GetJobStatus", getJobStatus),
	gateway.Read("ListAsynJobs", listAsynJobs),
}

// jobResponse is the answer of a call whose work a job does.
type jobResponse struct {
	JobID string `rpc:"JobId"`
}

func (r *jobResponse) tell(job *cloud.NLBJob) { r.JobID = job.ID }

// begin begins a job, and does its work unless it is to fail.
func begin(tx *state.Tx, action string, w *work) (id string, err error) {
	job := &cloud.NLBJob{Action: action, ResourceType: w.resourceType, ResourceID: w.resourceID}
	if fails := cloud.BeginNLBJob(tx, job); !fails {
		err = w.do()
	}
	return job.ID, err
}

type getJobStatusRequest struct {
	region
	JobID       string `rpc:"JobId,required"`
	ClientToken string `rpc:"ClientToken,len=1..64"`
}

type getJobStatusResponse struct {
	Status string `rpc:"Status"`
}

func getJobStatus(v *state.View, req *getJobStatusRequest) (*getJobStatusResponse, error) {
	job, err := cloud.NLBJobs.Get(v, req.JobID)
	if err != nil {
		return nil, err
	}
	return &getJobStatusResponse{job.Status}, nil
}

type listAsynJobsRequest struct {
	region
	JobIDs       []string `rpc:"JobIds,max=20,invalid=Illegal"`
	APIName      string   `rpc:"ApiName"`
	ResourceIDs  []string `rpc:"ResourceIds,max=20,invalid=Illegal"`
	ResourceType string   `rpc:"ResourceType"`
	Status       string   `rpc:"Status"`
	MaxResults   int      `rpc:"MaxResults,min=1,max=100,default=20"`
	NextToken    string   `rpc:"NextToken"`
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
func listAsynJobs(v *state.View, req *listAsynJobsRequest) (*listAsynJobsResponse, error) {
	var list []asynJob
	for job := range cloud.NLBJobs.All(v) {
		if asked(req.JobIDs, job.ID) && matches(req.APIName, job.Action) && asked(req.ResourceIDs, job.ResourceID) &&
			matches(req.ResourceType, job.ResourceType) && matches(req.Status, job.Status) {
			list = append(list, newAsynJob(job))
		}
	}
	part, next, err := listing.After(list, req.NextToken, req.MaxResults, func(j asynJob) string { return j.ID })
	if err != nil {
		return nil, errIllegal.Of("NextToken")
	}
	return &listAsynJobsResponse{Jobs: part, NextToken: next, MaxResults: req.MaxResults, TotalCount: strconv.Itoa(len(list))}, nil
}

func newAsynJob(job *cloud.NLBJob) asynJob {
	j := asynJob{
		ID: job.ID, APIName: job.Action, ResourceType: job.ResourceType, ResourceID: job.ResourceID, OperateType: operateType(job.Action),
		Status: job.Status, CreateTime: job.CreateTime.UnixMilli(), ModifyTime: job.CreateTime.UnixMilli(),
	}
	if job.Status == cloud.NLBJobFailed {
		j.ErrorCode, j.ErrorMessage = "SystemBusy", "System is busy, please try again later."
	}
	return j
}

// operateType is what kind of work an action is.
func operateType(action string) string {
	for prefix, kind := range map[string]string{"Create": "Create", "Delete": "Delete"} {
		if len(action) > len(prefix) && action[:len(prefix)] == prefix {
			return kind
		}
	}
	return "Update"
}
