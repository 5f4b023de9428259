package nlb

import (
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/state"
)

var listenerActions = []gateway.Action{
	changes.ByJob(changing, "CreateListener", createListener, ofListenerJob),
	changes.ByJob(changing, "UpdateListenerAttribute", updateListenerAttribute, changes.OfJob),
	changes.ByJob(changing, "StartListener", startListener, changes.OfJob),
	changes.ByJob(changing, "StopListener", stopListener, changes.OfJob),
	changes.ByJob(changing, "DeleteListener", deleteListener, changes.OfJob),
	gateway.Read("GetListenerAttribute", getListenerAttribute),
	gateway.Read("ListListeners", listListeners),
}

// The refusals of this file.
var (
	errPortConflict = refusals.New("PortConflict", 400, "Conflict.Port",
		"The Port [%s] is conflict.", "NLB-0001")
	errPortIllegal = refusals.New("PortIllegal", 400, "IllegalParam.Port",
		"The param of Port is illegal.", "NLB-0001")
	errRangeNeedsAnyPort = refusals.New("RangeNeedsAnyPort", 400, "IllegalParam.AnyPortListenerConflictWithNonAnyPortServerGroup",
		"The param of AnyPortListenerConflictWithNonAnyPortServerGroup is illegal.", "NLB-0001")
	errAnyPortNeedsRange = refusals.New("AnyPortNeedsRange", 400, "IllegalParam.NonAnyPortListenerConflictWithAnyPortServerGroup",
		"The param of NonAnyPortListenerConflictWithAnyPortServerGroup is illegal.", "NLB-0001")
	errProtocolMismatch = refusals.New("ProtocolMismatch", 400, "Mismatch.Protocol",
		"The Protocol is mismatched for %s.", "NLB-0001")
	errIdleTimeoutIllegal = refusals.New("IdleTimeoutIllegal", 400, "IllegalParam.IdleTimeout",
		"The param of IdleTimeout is illegal.", "NLB-0001")
	errListenerDescriptionIllegal = refusals.New("ListenerDescriptionIllegal", 400, "IllegalParam.ListenerDescription",
		"The parameter ListenerDescription of listener is illegal.", "NLB-0001")
	errListenerBusy = refusals.New("ListenerBusy", 400, "OperationFailed.ResourceIsConfiguring",
		"The operation failed because of ResourceIsConfiguring.", "NLB-0002").
		In(400, "IncorrectStatus.listener", "The status of listener is incorrect.", "NLB-0001", "StopListener", "DeleteListener")
	errListenerStatus = refusals.New("ListenerStatus", 400, "IncorrectStatus.listener",
		"The status of listener [%s] is incorrect.", "CLB-0203")
	errMSSIllegal = refusals.New("MSSIllegal", 400, "IllegalParam.MssConflictWithUdpAndGeneve",
		"The param of MssConflictWithUdpAndGeneve is illegal.", "NLB-0001")
	errServerGroupIDMissing = refusals.New("ServerGroupIdMissing", 400, "MissingParam.ServerGroupId",
		"The param of ServerGroupId is missing.", "NLB-0001")
)

type listenerJob struct {
	JobID      string `rpc:"JobId"`
	ListenerID string `rpc:"ListenerId"`
}

// ofListenerJob answers with a job and the listener that it is about.
func ofListenerJob(job *kinds.Job) *listenerJob { return &listenerJob{job.ID, job.ResourceID} }

// listenerSettings holds a listener's changeable settings.
type listenerSettings struct {
	Description          *string             `rpc:"ListenerDescription"`
	ServerGroupID        string              `rpc:"ServerGroupId"`
	IdleTimeout          *int                `rpc:"IdleTimeout,min=10,max=900,invalid=IdleTimeoutIllegal"`
	Cps                  *int                `rpc:"Cps,min=0,max=1000000,invalid=Illegal"`
	Mss                  *int                `rpc:"Mss,min=0,max=1500,invalid=Illegal"`
	ProxyProtocolEnabled *bool               `rpc:"ProxyProtocolEnabled"`
	ProxyProtocolV2      *proxyProtocolParam `rpc:"ProxyProtocolV2Config,json,invalid=Illegal"`
	PPV2VPCID            *bool               `rpc:"ProxyProtocolV2Config.Ppv2VpcIdEnabled"`
	PPV2EPID             *bool               `rpc:"ProxyProtocolV2Config.Ppv2PrivateLinkEpIdEnabled"`
	PPV2EPSID            *bool               `rpc:"ProxyProtocolV2Config.Ppv2PrivateLinkEpsIdEnabled"`
	SecSensorEnabled     *bool               `rpc:"SecSensorEnabled"`
	tlsSettings
}

// proxyProtocolParam is the only parameter that is JSON text; clients also send its fields one by
// one.
type proxyProtocolParam struct {
	VPCID            *bool `json:"Ppv2VpcIdEnabled"`
	PrivateLinkEPID  *bool `json:"Ppv2PrivateLinkEpIdEnabled"`
	PrivateLinkEPSID *bool `json:"Ppv2PrivateLinkEpsIdEnabled"`
}

// maxListenerDescription is longer than documented, as a CCM puts the name of the
// cluster behind the Service's: NLB-0022.
const maxListenerDescription = 512

// apply puts the given settings into a listener, which must then be as listeners can be.
func (s *listenerSettings) apply(v *state.View, lb *kinds.NLBLoadBalancer, l *kinds.NLBListener) error {
	if s.Description != nil {
		if n := utf8.RuneCountInString(*s.Description); n == 1 || n > maxListenerDescription {
			return errListenerDescriptionIllegal
		}
	}
	set(&l.Description, s.Description)
	joins := s.ServerGroupID != "" && s.ServerGroupID != l.ServerGroupID
	l.ServerGroupID = cmp.Or(s.ServerGroupID, l.ServerGroupID)
	set(&l.IdleTimeout, s.IdleTimeout)
	set(&l.Cps, s.Cps)
	set(&l.Mss, s.Mss)
	set(&l.ProxyProtocolEnabled, s.ProxyProtocolEnabled)
	if p := s.ProxyProtocolV2; p != nil {
		set(&l.ProxyProtocolV2.VPCID, p.VPCID)
		set(&l.ProxyProtocolV2.PrivateLinkEPID, p.PrivateLinkEPID)
		set(&l.ProxyProtocolV2.PrivateLinkEPSID, p.PrivateLinkEPSID)
	}
	set(&l.ProxyProtocolV2.VPCID, s.PPV2VPCID)
	set(&l.ProxyProtocolV2.PrivateLinkEPID, s.PPV2EPID)
	set(&l.ProxyProtocolV2.PrivateLinkEPSID, s.PPV2EPSID)
	set(&l.SecSensorEnabled, s.SecSensorEnabled)
	if err := checkTimeouts(l); err != nil {
		return err
	}
	if err := checkGroup(v, lb, l); err != nil {
		return err
	}
	if joins {
		if err := v.Use(kinds.QuotaNLBGroupListeners, l.ServerGroupID, 1); err != nil {
			return err
		}
	}
	return s.tlsSettings.apply(v, l)
}

func checkTimeouts(l *kinds.NLBListener) error {
	least, most := 10, 900
	if l.Protocol == kinds.NLBUDP {
		most = 20
	}
	switch {
	case l.IdleTimeout < least || l.IdleTimeout > most:
		return errIdleTimeoutIllegal
	case l.Mss != 0 && l.Protocol == kinds.NLBUDP:
		return errMSSIllegal
	}
	return nil
}

// forwardsTo are the protocols of the groups to which a listener may forward.
var forwardsTo = map[string][]string{
	kinds.NLBTCP:    {kinds.NLBTCP, kinds.NLBTCPUDP},
	kinds.NLBUDP:    {kinds.NLBUDP, kinds.NLBTCPUDP},
	kinds.NLBTCPSSL: {kinds.NLBTCPSSL, kinds.NLBTCP},
}

// checkGroup holds what a group must be like for a listener.
func checkGroup(v *state.View, lb *kinds.NLBLoadBalancer, l *kinds.NLBListener) error {
	g, err := kinds.NLBServerGroups.Get(v, l.ServerGroupID)
	switch {
	case err != nil:
		return err
	case g.VPCID != lb.VPCID:
		return errVPCMismatch.Of(lb.ID + " and " + g.ID)
	case !listing.Among(forwardsTo[l.Protocol], g.Protocol):
		return errProtocolMismatch.Of(l.Protocol + " and " + g.Protocol)
	case l.Port == 0 && !g.AnyPortEnabled:
		return errRangeNeedsAnyPort
	case l.Port != 0 && g.AnyPortEnabled:
		return errAnyPortNeedsRange
	case l.Protocol == kinds.NLBTCPSSL && g.PreserveClientIPEnabled:
		return errPreserveClientIP
	}
	groups := kinds.NLBGroupsBehind(v, lb.ID, l.ID)
	groups[g.ID] = g
	return groups.Fit(v, lb.ID)
}

type createListenerRequest struct {
	changes.Order
	tagged
	listenerSettings
	LoadBalancerID   string `rpc:"LoadBalancerId,required"`
	ListenerProtocol string `rpc:"ListenerProtocol,required,words=TCP|UDP|TCPSSL,invalid=Illegal"`
	ListenerPort     *int   `rpc:"ListenerPort,required,min=0,max=65535,invalid=Illegal"`
	StartPort        int    `rpc:"StartPort,min=0,max=65535,invalid=Illegal"`
	EndPort          int    `rpc:"EndPort,min=0,max=65535,invalid=Illegal"`
}

func (req *createListenerRequest) LoadBalancerOf(*state.View) (string, error) {
	return req.LoadBalancerID, nil
}

// Validate enforces the rules of shape.
func (req *createListenerRequest) Validate() error {
	switch {
	case req.ServerGroupID == "":
		return errServerGroupIDMissing
	case *req.ListenerPort == 0 && (req.StartPort == 0 || req.StartPort >= req.EndPort):
		return errPortIllegal
	}
	return req.check()
}

func createListener(tx *state.Tx, req *createListenerRequest) (*changes.Work, error) {
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	l := newListener(tx, req)
	for other := range kinds.NLBListenersByLoadBalancer.List(tx.View, lb.ID) {
		if l.Overlaps(other) {
			return nil, errPortConflict.Of(portText(l))
		}
	}
	if err := req.apply(tx.View, lb, l); err != nil {
		return nil, err
	}
	if err := tx.Use(kinds.QuotaNLBListeners, lb.ID, 1); err != nil {
		return nil, err
	}
	return &changes.Work{ResourceType: "listener", ResourceID: l.ID, Do: func() error {
		kinds.NLBListeners.Put(tx, l)
		req.set(tx, kinds.TagNLBListener, l.ID)
		state.Enter(tx, kinds.StageNLBListenerProvisioning, l.ID)
		return nil
	}}, nil
}

func newListener(tx *state.Tx, req *createListenerRequest) *kinds.NLBListener {
	l := &kinds.NLBListener{
		CreateTime: tx.Now(),
		Owner:      tx.Scope(), LoadBalancerID: req.LoadBalancerID, Protocol: req.ListenerProtocol, Port: *req.ListenerPort,
		Status: kinds.NLBListenerProvisioning, IdleTimeout: 900,
	}
	if l.Protocol == kinds.NLBUDP {
		l.IdleTimeout = 20
	}
	if l.Port == 0 {
		l.StartPort, l.EndPort = req.StartPort, req.EndPort
	}
	l.ID = tx.NewID(kinds.NLBListeners.Kind()) + "@" + portText(l)
	return l
}

// portText writes a listener's port, or its range as 80_400.
func portText(l *kinds.NLBListener) string {
	if l.Port == 0 {
		return fmt.Sprintf("%d_%d", l.StartPort, l.EndPort)
	}
	return strconv.Itoa(l.Port)
}

// listenerRequest changes a listener.
type listenerRequest struct {
	changes.Order
	ListenerID string `rpc:"ListenerId,required"`
}

func (req *listenerRequest) LoadBalancerOf(v *state.View) (string, error) {
	l, err := kinds.NLBListeners.Get(v, req.ListenerID)
	if err != nil {
		return "", err
	}
	return l.LoadBalancerID, nil
}

// settledListener returns a listener that takes a change now.
func settledListener(v *state.View, id string) (*kinds.NLBListener, error) {
	l, err := kinds.NLBListeners.Get(v, id)
	if err == nil && l.Status != kinds.NLBListenerRunning && l.Status != kinds.NLBListenerStopped {
		err = errListenerBusy
	}
	return l, err
}

type updateListenerAttributeRequest struct {
	listenerRequest
	listenerSettings
}

func updateListenerAttribute(tx *state.Tx, req *updateListenerAttributeRequest) (*changes.Work, error) {
	l, err := settledListener(tx.View, req.ListenerID)
	if err != nil {
		return nil, err
	}
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, l.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	changed := *l
	if err := req.apply(tx.View, lb, &changed); err != nil {
		return nil, err
	}
	return relisten(tx, &changed), nil
}

// relisten returns the work that stores a changed listener.
func relisten(tx *state.Tx, l *kinds.NLBListener) *changes.Work {
	return &changes.Work{ResourceType: "listener", ResourceID: l.ID, Do: func() error {
		kinds.NLBListeners.Put(tx, l)
		state.Enter(tx, kinds.StageNLBListenerConfiguring, l.ID, l.Status)
		return nil
	}}
}

func startListener(tx *state.Tx, req *listenerRequest) (*changes.Work, error) {
	return enterStage(tx, req.ListenerID, kinds.StageNLBListenerStarting, kinds.NLBListenerStopped)
}

func stopListener(tx *state.Tx, req *listenerRequest) (*changes.Work, error) {
	return enterStage(tx, req.ListenerID, kinds.StageNLBListenerStopping, kinds.NLBListenerRunning)
}

func deleteListener(tx *state.Tx, req *listenerRequest) (*changes.Work, error) {
	return enterStage(tx, req.ListenerID, kinds.StageNLBListenerDeleting, "")
}

// enterStage returns work that brings a listener into a stage. If from is not "", the listener must
// have that status.
func enterStage(tx *state.Tx, id string, stage state.Stage, from string) (*changes.Work, error) {
	l, err := settledListener(tx.View, id)
	if err == nil && !listing.Matches(from, l.Status) {
		err = errListenerStatus.Of(id)
	}
	if err != nil {
		return nil, err
	}
	return &changes.Work{ResourceType: "listener", ResourceID: id, Do: func() error {
		state.Enter(tx, stage, id)
		return nil
	}}, nil
}

// listener shows a listener in answers. Its ports of a range are texts.
type listener struct {
	ListenerID           string        `rpc:"ListenerId"`
	LoadBalancerID       string        `rpc:"LoadBalancerId"`
	RegionID             string        `rpc:"RegionId"`
	ListenerProtocol     string        `rpc:"ListenerProtocol"`
	ListenerPort         int           `rpc:"ListenerPort"`
	StartPort            string        `rpc:"StartPort,omitempty"`
	EndPort              string        `rpc:"EndPort,omitempty"`
	ListenerStatus       string        `rpc:"ListenerStatus"`
	ListenerDescription  string        `rpc:"ListenerDescription"`
	ServerGroupID        string        `rpc:"ServerGroupId"`
	IdleTimeout          int           `rpc:"IdleTimeout"`
	Cps                  int           `rpc:"Cps"` // 0 appears: NLB-0032
	Mss                  int           `rpc:"Mss"`
	ProxyProtocolEnabled bool          `rpc:"ProxyProtocolEnabled"`
	ProxyProtocolV2      proxyProtocol `rpc:"ProxyProtocolV2Config"`
	SecSensorEnabled     bool          `rpc:"SecSensorEnabled"`
	SecurityPolicyID     string        `rpc:"SecurityPolicyId,omitempty"`
	CertificateIDs       []string      `rpc:"CertificateIds"`
	CAEnabled            bool          `rpc:"CaEnabled"`
	CACertificateIDs     []string      `rpc:"CaCertificateIds"`
	AlpnEnabled          bool          `rpc:"AlpnEnabled"`
	AlpnPolicy           string        `rpc:"AlpnPolicy,omitempty"`
}

type proxyProtocol struct {
	VPCID            bool `rpc:"Ppv2VpcIdEnabled"`
	PrivateLinkEPID  bool `rpc:"Ppv2PrivateLinkEpIdEnabled"`
	PrivateLinkEPSID bool `rpc:"Ppv2PrivateLinkEpsIdEnabled"`
}

func newListenerView(l *kinds.NLBListener) listener {
	show := listener{
		ListenerID: l.ID, LoadBalancerID: l.LoadBalancerID, RegionID: l.RegionID, ListenerProtocol: l.Protocol, ListenerPort: l.Port,
		ListenerStatus: l.Status, ListenerDescription: l.Description, ServerGroupID: l.ServerGroupID, IdleTimeout: l.IdleTimeout, Cps: l.Cps,
		Mss: l.Mss, ProxyProtocolEnabled: l.ProxyProtocolEnabled, ProxyProtocolV2: proxyProtocol(l.ProxyProtocolV2),
		SecSensorEnabled: l.SecSensorEnabled, SecurityPolicyID: l.SecurityPolicyID, CertificateIDs: l.CertificateIDs, CAEnabled: l.CAEnabled,
		CACertificateIDs: l.CACertificateIDs, AlpnEnabled: l.AlpnEnabled, AlpnPolicy: l.AlpnPolicy,
	}
	if l.Port == 0 {
		show.StartPort, show.EndPort = strconv.Itoa(l.StartPort), strconv.Itoa(l.EndPort)
	}
	return show
}

type getListenerAttributeRequest struct {
	changes.Order
	ListenerID string `rpc:"ListenerId,required"`
}

type getListenerAttributeResponse struct {
	listener
	Tags []tagging.Shown `rpc:"Tags"`
}

func getListenerAttribute(v *state.View, req *getListenerAttributeRequest) (*getListenerAttributeResponse, error) {
	l, err := kinds.NLBListeners.Get(v, req.ListenerID)
	if err != nil {
		return nil, err
	}
	return &getListenerAttributeResponse{newListenerView(l), tagging.ShownOf(v, kinds.TagNLBListener, l.ID)}, nil
}

type listListenersRequest struct {
	listRequest
	LoadBalancerIDs  []string `rpc:"LoadBalancerIds,max=20,invalid=Illegal"`
	ListenerIDs      []string `rpc:"ListenerIds,max=20,invalid=Illegal"`
	ListenerProtocol string   `rpc:"ListenerProtocol"`
	SecSensorEnabled *bool    `rpc:"SecSensorEnabled"`
}

type listListenersResponse struct {
	Listeners []listedListener `rpc:"Listeners"`
	listing.Paging
}

type listedListener struct {
	listener
	Tags []tagging.Tag `rpc:"Tags"`
}

func listListeners(v *state.View, req *listListenersRequest) (*listListenersResponse, error) {
	hasTags := tagging.Filter(v, kinds.TagNLBListener, req.Tags)
	var found []*kinds.NLBListener
	for l := range req.candidates(v) {
		if listing.Among(req.ListenerIDs, l.ID) && listing.Matches(req.ListenerProtocol, l.Protocol) && hasTags(l.ID) &&
			(req.SecSensorEnabled == nil || *req.SecSensorEnabled == l.SecSensorEnabled) {
			found = append(found, l)
		}
	}
	part, page, err := listing.Cut(found, req.ByToken, func(l *kinds.NLBListener) string { return kinds.Newest(l.CreateTime) + "/" + l.ID })
	if err != nil {
		return nil, err
	}
	resp := &listListenersResponse{Paging: page}
	for _, l := range part {
		resp.Listeners = append(resp.Listeners, listedListener{newListenerView(l), tagging.Of(v, kinds.TagNLBListener, l.ID)})
	}
	return resp, nil
}

// candidates yields those that an index finds for the request, each once.
func (req *listListenersRequest) candidates(v *state.View) func(func(*kinds.NLBListener) bool) {
	return func(yield func(*kinds.NLBListener) bool) {
		if len(req.LoadBalancerIDs) == 0 {
			kinds.NLBListenersByRegion.InScope(v)(yield)
			return
		}
		for _, id := range listing.Unique(req.LoadBalancerIDs) {
			for l := range kinds.NLBListenersByLoadBalancer.List(v, id) {
				if !yield(l) {
					return
				}
			}
		}
	}
}
