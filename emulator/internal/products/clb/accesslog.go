package clb

import (
	"regexp"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// accessLogActions are about where access logs and fine-grained metrics go. The
// log service is not here: clbemu keeps and shows the setting, and writes nothing
// to it. CLB-0184.
var accessLogActions = []gateway.Action{
	change("SetAccessLogsDownloadAttribute", setAccessLogsDownloadAttribute),
	change("DeleteAccessLogsDownloadAttribute", deleteAccessLogsDownloadAttribute),
	gateway.Read("DescribeAccessLogsDownloadAttribute", describeAccessLogsDownloadAttribute),
	gateway.Write("EnableHighDefinationMonitor", enableHighDefinationMonitor), // the cloud's spelling
	gateway.Write("ModifyHighDefinationMonitor", modifyHighDefinationMonitor),
	gateway.Read("DescribeHighDefinationMonitor", describeHighDefinationMonitor),
}

// The refusals of this file.
var (
	errAccessLogExists = refusals.New("AccessLogExists", 400, "Operation.NotAllowed",
		"The AccessLogDownloadAttribute already exists.", "CLB-0200")
	errAccessLogMissing = refusals.New("AccessLogMissing", 400, "Operation.NotAllowed",
		"The AccessLogDownloadAttribute not exists.", "CLB-0200")
	errLogProjectUnknown = refusals.New("LogProjectUnknown", 400, "InvalidProject.NotExist",
		"The specified project does not exist.", "CLB-0584")
	errMonitorEnabled = refusals.New("MonitorEnabled", 400, "OperationNotAllowed.HighDefinitionMonitorEnabled",
		"The operation is not allowed because HighDefinitionMonitor is already enabled in this region.", "CLB-0200")
	errMonitorNotEnabled = refusals.New("MonitorNotEnabled", 400, "OperationNotAllowed.HighDefinitionMonitorNotEnabled",
		"The operation is not allowed because HighDefinitionMonitor is not enabled in this region.", "CLB-0200")
)

type accessLogRequest struct {
	gateway.Caller
	RegionID       string           `rpc:"RegionId,required"`
	TagsJSON       []jsonTag        `rpc:"Tags,json,invalid=TagsMalformed"`
	LoadBalancerID string           `rpc:"LoadBalancerId"`
	Attributes     []accessLogParam `rpc:"LogsDownloadAttributes,json,required"`
}

// accessLogParam is an element of the JSON text LogsDownloadAttributes.
type accessLogParam struct {
	LogProject     string
	LogStore       string
	LoadBalancerID string `json:"LoadBalancerId"`
}

// Validate requires the rule of one load balancer: it has no more than one.
func (req *accessLogRequest) Validate() error {
	if len(req.Attributes) != 1 {
		return gateway.Invalid("LogsDownloadAttributes")
	}
	rule := &req.Attributes[0]
	if rule.LoadBalancerID == "" {
		rule.LoadBalancerID = req.LoadBalancerID
	}
	switch {
	case rule.LoadBalancerID == "":
		return gateway.Missing("LoadBalancerId")
	case req.LoadBalancerID != "" && req.LoadBalancerID != rule.LoadBalancerID:
		return gateway.Invalid("LoadBalancerId")
	}
	return nil
}

func (req *accessLogRequest) LoadBalancerOf(*state.View) (string, error) {
	return req.Attributes[0].LoadBalancerID, nil
}

// logProject matches the names that a project of the log service can have. No project has another:
// CLB-0584.
var logProject = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`) })

func setAccessLogsDownloadAttribute(tx *state.Tx, req *accessLogRequest) (*gateway.Empty, error) {
	rule := req.Attributes[0]
	if rule.LogProject == "" || rule.LogStore == "" {
		return nil, gateway.Invalid("LogsDownloadAttributes")
	}
	if !logProject().MatchString(rule.LogProject) {
		return nil, errLogProjectUnknown
	}
	if err := needRole(tx, req.Caller, kinds.RoleForLogs, errNoRoleForLogs); err != nil {
		return nil, err
	}
	return editLoadBalancer(tx, rule.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		if lb.AccessLog != nil {
			return errAccessLogExists
		}
		lb.AccessLog = &kinds.AccessLog{LogProject: rule.LogProject, LogStore: rule.LogStore}
		return nil
	})
}

func deleteAccessLogsDownloadAttribute(tx *state.Tx, req *accessLogRequest) (*gateway.Empty, error) {
	return editLoadBalancer(tx, req.Attributes[0].LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		if lb.AccessLog == nil {
			return errAccessLogMissing
		}
		lb.AccessLog = nil
		return nil
	})
}

type describeAccessLogsDownloadAttributeRequest struct {
	RegionID       string    `rpc:"RegionId,required"`
	TagsJSON       []jsonTag `rpc:"Tags,json,invalid=TagsMalformed"`
	LoadBalancerID string    `rpc:"LoadBalancerId"`
	LogType        string    `rpc:"LogType,enum=layer7,default=layer7"`
	PageNumber     int       `rpc:"PageNumber,min=1,default=1"`
	PageSize       int       `rpc:"PageSize,min=1,max=50,default=10"`
}

type describeAccessLogsDownloadAttributeResponse struct {
	PageNumber             int             `rpc:"PageNumber"`
	PageSize               int             `rpc:"PageSize"`
	TotalCount             int             `rpc:"TotalCount"`
	Count                  int             `rpc:"Count"`
	LogsDownloadAttributes []accessLogItem `rpc:"LogsDownloadAttributes>LogsDownloadAttribute"`
}

type accessLogItem struct {
	LoadBalancerID string `rpc:"LoadBalancerId"`
	LogProject     string `rpc:"LogProject"`
	LogStore       string `rpc:"LogStore"`
	LogType        string `rpc:"LogType"`
	Region         string `rpc:"Region"`
}

func describeAccessLogsDownloadAttribute(v *state.View, req *describeAccessLogsDownloadAttributeRequest) (*describeAccessLogsDownloadAttributeResponse, error) {
	filters := make([]state.TagFilter, len(req.TagsJSON))
	for i, t := range req.TagsJSON {
		filters[i] = t.filter()
	}
	var list []accessLogItem
	for lb := range kinds.LoadBalancersByRegion.InScope(v) {
		if lb.AccessLog != nil && (req.LoadBalancerID == "" || lb.ID == req.LoadBalancerID) &&
			state.HasTags(v, kinds.TagLoadBalancer, lb.ID, filters) {
			list = append(list, accessLogItem{lb.ID, lb.AccessLog.LogProject, lb.AccessLog.LogStore, req.LogType, lb.RegionID})
		}
	}
	part := listing.Page(list, req.PageNumber, req.PageSize)
	return &describeAccessLogsDownloadAttributeResponse{req.PageNumber, req.PageSize, len(list), len(part), part}, nil
}

type monitorRequest struct {
	gateway.Caller
	RegionID   string `rpc:"RegionId,required"`
	LogProject string `rpc:"LogProject,required,len=4..63"`
	LogStore   string `rpc:"LogStore,required,len=2..64"`
}

type enableMonitorRequest struct {
	monitorRequest
	Tags string `rpc:"Tags"`
}

// success reports success in these answers.
type success struct {
	Success string `rpc:"Success"`
}

func enableHighDefinationMonitor(tx *state.Tx, req *enableMonitorRequest) (*success, error) {
	if _, enabled := kinds.HighDefinitionMonitors.Find(tx.View, kinds.HighDefinitionMonitorID(tx.Scope())); enabled {
		return nil, errMonitorEnabled
	}
	return putMonitor(tx, &req.monitorRequest)
}

func modifyHighDefinationMonitor(tx *state.Tx, req *monitorRequest) (*success, error) {
	if _, enabled := kinds.HighDefinitionMonitors.Find(tx.View, kinds.HighDefinitionMonitorID(tx.Scope())); !enabled {
		return nil, errMonitorNotEnabled
	}
	return putMonitor(tx, req)
}

func putMonitor(tx *state.Tx, req *monitorRequest) (*success, error) {
	if err := needRole(tx, req.Caller, kinds.RoleForLogs, errNoRoleForLogs); err != nil {
		return nil, err
	}
	kinds.HighDefinitionMonitors.Put(tx, &kinds.HighDefinitionMonitor{Owner: tx.Scope(), LogProject: req.LogProject, LogStore: req.LogStore})
	return &success{"true"}, nil
}

type describeMonitorRequest struct {
	RegionID string `rpc:"RegionId,required"`
	Tags     string `rpc:"Tags"`
}

type describeMonitorResponse struct {
	success
	LogProject string `rpc:"LogProject"`
	LogStore   string `rpc:"LogStore"`
}

// describeHighDefinationMonitor answers empty names where the monitor is off.
func describeHighDefinationMonitor(v *state.View, _ *describeMonitorRequest) (*describeMonitorResponse, error) {
	resp := &describeMonitorResponse{success: success{"true"}}
	if m, ok := kinds.HighDefinitionMonitors.Find(v, kinds.HighDefinitionMonitorID(v.Scope())); ok {
		resp.LogProject, resp.LogStore = m.LogProject, m.LogStore
	}
	return resp, nil
}
