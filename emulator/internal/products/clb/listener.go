package clb

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var listenerActions = []gateway.Action{
	change("CreateLoadBalancerTCPListener", createListener[*createTCPListenerRequest]).Refusing(errListenerPortInvalid, errHealthCheckIllegal),
	change("CreateLoadBalancerUDPListener", createListener[*createUDPListenerRequest]).Refusing(errListenerPortInvalid, errHealthCheckReqLength, errHealthCheckExpLength, errHealthCheckIllegal),
	change("CreateLoadBalancerHTTPListener", createListener[*createHTTPListenerRequest]).Refusing(errListenerPortInvalid, errIdleTimeoutTooLong, errRequestTimeoutTooLong),
	change("CreateLoadBalancerHTTPSListener", createListener[*createHTTPSListenerRequest]).Refusing(errListenerPortInvalid, errIdleTimeoutTooLong, errRequestTimeoutTooLong),
	change("SetLoadBalancerTCPListenerAttribute", setListener[*setTCPListenerRequest]).Refusing(errListenerPortInvalid, errHealthCheckIllegal),
	change("SetLoadBalancerUDPListenerAttribute", setListener[*setUDPListenerRequest]).Refusing(errListenerPortInvalid, errHealthCheckReqLength, errHealthCheckExpLength, errHealthCheckIllegal),
	change("SetLoadBalancerHTTPListenerAttribute", setListener[*setHTTPListenerRequest]).Refusing(errListenerPortInvalid, errIdleTimeoutTooLong, errRequestTimeoutTooLong),
	change("SetLoadBalancerHTTPSListenerAttribute", setListener[*setHTTPSListenerRequest]).Refusing(errListenerPortInvalid, errIdleTimeoutTooLong, errRequestTimeoutTooLong),
	change("StartLoadBalancerListener", startLoadBalancerListener),
	change("StopLoadBalancerListener", stopLoadBalancerListener),
	change("DeleteLoadBalancerListener", deleteLoadBalancerListener),
}

// The refusals of this file.
var (
	errListenerExists = refusals.New("ListenerExists", 400, "ListenerAlreadyExists",
		"A listener with the specified port already exists", "CLB-0201")
	errListenerPortConflict = refusals.New("ListenerPortConflict", 400, "InvalidParameter.ListenerPortConflict",
		"There is conflict listener port exists.", "CLB-0200")
	errPortReserved = refusals.New("PortReserved", 400, "OperationDenied.SpecialListenerPortNotAllowed",
		"The operation is not allowed because port 4789 is reserved by the system.", "CLB-0599")
	errBackendMissing = refusals.New("BackendMissing", 400, "MissingParameter",
		"The BackendServerPort or VServerGroupId is required at lease one.", "CLB-0200")
	errServerGroupsMismatch = refusals.New("ServerGroupsMismatch", 400, "Abs.VServerGroupIdAndMasterSlaveServerGroupId.MissMatch",
		"The parameters VServerGroupId or MasterSlaveServerGroupId miss match.", "CLB-0200").
		In(400, "Abs.VServerGroupIdAndMasterSlaveServerGroupId.MissMatch", "Virtual service group ID or master slave server group ID is missing. Please check the input parameters.", "CLB-0200",
			"SetLoadBalancerTCPListenerAttribute", "SetLoadBalancerUDPListenerAttribute")
	errMasterSlaveGroupForeign = refusals.New("MasterSlaveGroupForeign", 400, "InvalidParameter",
		"The specified MasterSlaveGroupId does not exist.", "CLB-0201")
	errVServerGroupForeign = refusals.New("VServerGroupForeign", 400, "InvalidParam.VServerGroupId",
		"The specified VServerGroupId is invalid.", "CLB-0200")
	errForwardPortInvalid = refusals.New("ForwardPortInvalid", 400, "InvalidParameter",
		"The specified ListenerPort or ForwardPort is invalid.", "CLB-0200")
	errRedirectingListener = refusals.New("RedirectingListener", 400, "Operation.NotAllowed",
		"Operation Denied. The HTTP listener does not support this action.", "CLB-0200")
	errRedirectedTo = refusals.New("RedirectedTo", 400, "ListenerForwardExist",
		"The specified listener is forwarded by the other listener, the ListenerForward relationship should be deleted firstly.", "CLB-0200")
	errTooManyListeners = refusals.New("TooManyListeners", 400, "TooManyListeners",
		"More than 1 listener is found, please be more specified.", "CLB-0200").
		In(400, "TooManyListeners", "More than 1 listener is found, please be more specified", "CLB-0200",
			"AddListenerWhiteListItem", "RemoveListenerWhiteListItem", "SetListenerAccessControlStatus", "DescribeListenerAccessControlAttribute")
	errListenerBandwidthExceeded = refusals.New("ListenerBandwidthExceeded", 400, "InvalidParameter",
		"The specified Bandwidth is invalid. It exceeds the maximum bandwidth available to the instance.", "CLB-0201")
	errIPVersionConflict = refusals.New("IPVersionConflict", 400, "IpVersionConflict",
		"The ip version of this LoadBalancer and the Acl is conflict.", "CLB-0200")
	errListenerACLEntries = refusals.New("ListenerACLEntries", 400, "QuotaLimitExceeds.TotalAclEntry",
		"The total number of acl entries of the listener %s exceeds the quota.", "CLB-0200").
		In(400, "AclEntryExceedLimit", "The maximum number of ACL entries is exceeded.", "CLB-0203", "AddAccessControlListEntry")
	errAclEntryInTwoLists = refusals.New("AclEntryInTwoLists", 400, "Duplicated.AclEntry",
		"The entry of the acl %s is duplicated.", "CLB-0200").
		In(400, "InvalidParam.AclEntryExists", "The specified aclEntry already exists in the acl.", "CLB-0203", "AddAccessControlListEntry")
	errIdleTimeoutTooLong = refusals.New("IdleTimeoutTooLong", 400, "InvalidParameter.IdleTimeout",
		"The specified IdleTimeout exceeds the limit.", "CLB-0200")
	errRequestTimeoutTooLong = refusals.New("RequestTimeoutTooLong", 400, "InvalidParameter.RequestTimeout",
		"The specified RequestTimeout exceeds the limit.", "CLB-0200")
	errServerCertificateMissing = refusals.New("ServerCertificateMissing", 400, "MissingParam.ServerCertificates",
		"Server certificates are required.", "CLB-0200")
	errListenerCertificateUnknown = refusals.New("ListenerCertificateUnknown", 400, "CertificateNotExist",
		"The specified CertificateId does not exist.", "CLB-0200")
	errListenersSoldOut = refusals.New("ListenersSoldOut", 400, "ResourceNotAvailible.HttpListener", // the cloud's spelling
		"The specified Zone did not have enough resource.", "CLB-0200").
		In(400, "ResourceNotAvailible.HttpsListener", "The specified Zone did not have enough resource.", "CLB-0200", "CreateLoadBalancerHTTPSListener")
	errSharedLacksScheduler = refusals.New("SharedLacksScheduler", 400, "InvalidParameterValue.SpecNotSupport",
		"The loadBalancer of shared spec does not support the parameter value, %s.", "CLB-0581")
	errSharedLacksPolicy = refusals.New("SharedLacksPolicy", 400, "InvalidParameter.SpecNotSupport",
		"The loadBalancer of shared spec does not support the parameter: %s.", "CLB-0582")
	errSharedLacksFullNAT = refusals.New("SharedLacksFullNAT", 400, "SpecNotSupportParameter",
		"The instance with share spec does not support FullNatEnabled parameter.", "CLB-0589")
	errIPv6LacksFullNAT = refusals.New("IPv6LacksFullNAT", 400, "OperationDenied.OnlyIpv4SlbSupport",
		"The operation is not allowed because of OnlyIpv4SlbSupport.", "CLB-0589")
	errListenerInTransit = refusals.New("ListenerInTransit", 400, "OperationFailed.ListenerStatusNotSupport",
		"The status of the listener does not support this operation. Please try again later.", "CLB-0201").
		In(400, "ServiceIsConfiguring", "A previous configuration is pending; please try again later.", "CLB-0201",
			"StartLoadBalancerListener", "StopLoadBalancerListener", "DeleteLoadBalancerListener")
)

// createListener makes a listener of any protocol. It begins stopped, and can be
// started at once. The order of the checks is evidence CLB-0140.
func createListener[R listenerCreation](tx *state.Tx, req R) (*gateway.Empty, error) {
	want := req.listener()
	lb, err := kinds.LoadBalancers.Get(tx.View, want.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	if err := tx.Use(kinds.QuotaListeners, lb.ID, 1); err != nil {
		return nil, err
	}
	if err := checkPort(tx.View, want); err != nil {
		return nil, err
	}
	if region, ok := kinds.Regions.Find(tx.View, lb.RegionID); ok && !region.HasListeners(lb.MasterZoneID, want.Protocol) {
		return nil, errListenersSoldOut
	}
	l := &kinds.Listener{
		Owner:          tx.Scope(),
		LoadBalancerID: lb.ID,
		Port:           want.Port,
		Protocol:       want.Protocol,
		Status:         kinds.ListenerStopped,
		Scheduler:      "wrr",
		Bandwidth:      -1,
		AclStatus:      kinds.Off,
		CreateTime:     tx.Now(),
	}
	setDefaults(l)
	req.apply(l)
	if err := settleForwarding(tx.View, l, want); err != nil {
		return nil, err
	}
	if err := settleListener(tx.View, lb, l); err != nil {
		return nil, err
	}
	kinds.Listeners.Put(tx, l)
	tagging.Set(tx, kinds.TagListener, l.ID(), want.Tags)
	if lb.Idle {
		serving := *lb
		serving.Status, serving.Idle = kinds.LoadBalancerActive, false
		kinds.LoadBalancers.Put(tx, &serving)
	}
	return &gateway.Empty{}, nil
}

// listenerCreation is a request of one of the four Create actions.
type listenerCreation interface {
	listener() wantedListener
	apply(*kinds.Listener)
}

// wantedListener holds what a creation asks for in addition to the settings.
type wantedListener struct {
	LoadBalancerID           string
	Port                     int
	Protocol                 kinds.Protocol
	BackendServerPort        int
	VServerGroupID           string
	MasterSlaveServerGroupID string
	Tags                     []tagging.Tag
}

// The longest timeouts in seconds: the gateway lets more through than the
// service takes.
const (
	maxIdleTimeout    = 60
	maxRequestTimeout = 180
)

// setListener changes a listener of any protocol. It keeps settings that are not given.
func setListener[R listenerChange](tx *state.Tx, req R) (*gateway.Empty, error) {
	ref, protocol := req.target()
	lb, err := kinds.LoadBalancers.Get(tx.View, ref.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	id := kinds.ListenerID(lb.ID, protocol, ref.ListenerPort)
	settled := kinds.ListenerStopped
	err = kinds.Listeners.Edit(tx, id, func(l *kinds.Listener) error {
		switch {
		case l.ListenerForward == kinds.On:
			return errRedirectingListener
		case inTransit(l):
			return errListenerInTransit
		}
		settled = l.Status
		req.apply(l)
		if err := req.switchServerGroup(l); err != nil {
			return err
		}
		return settleListener(tx.View, lb, l)
	})
	if err != nil {
		return nil, err
	}
	state.Enter(tx, kinds.StageListenerConfiguring, id, string(settled))
	return &gateway.Empty{}, nil
}

// inTransit reports whether a listener is on its way to another status, and takes no
// change meanwhile.
func inTransit(l *kinds.Listener) bool {
	return l.Status != kinds.ListenerRunning && l.Status != kinds.ListenerStopped
}

// listenerChange is a request of one of the four Set actions.
type listenerChange interface {
	target() (listenerRef, kinds.Protocol)
	apply(*kinds.Listener)
	switchServerGroup(*kinds.Listener) error
}

type listenerRequest struct {
	RegionID         string         `rpc:"RegionId"`
	LoadBalancerID   string         `rpc:"LoadBalancerId,required"`
	ListenerPort     int            `rpc:"ListenerPort,required,min=1,max=65535"`
	ListenerProtocol kinds.Protocol `rpc:"ListenerProtocol,enum=tcp|udp|http|https"`
}

func (req *listenerRequest) LoadBalancerOf(*state.View) (string, error) {
	return req.LoadBalancerID, nil
}

// findListener finds the listener on a port; the caller may omit the protocol where
// the port has one listener only.
func findListener(v *state.View, loadBalancerID string, port int, protocol kinds.Protocol) (*kinds.Listener, error) {
	if _, err := kinds.LoadBalancers.Get(v, loadBalancerID); err != nil {
		return nil, err
	}
	var found []*kinds.Listener
	for l := range kinds.ListenersByLoadBalancer.List(v, loadBalancerID, kinds.PortKey(port)) {
		if protocol == "" || l.Protocol == protocol {
			found = append(found, l)
		}
	}
	switch len(found) {
	case 0:
		return nil, &state.Error{Fact: state.NotFound, Kind: kinds.Listeners.Kind(), ID: kinds.ListenerID(loadBalancerID, protocol, port)}
	case 1:
		return found[0], nil
	}
	return nil, errTooManyListeners
}

// startLoadBalancerListener starts a stopped listener; for a running one there
// is nothing to do: CLB-0142.
func startLoadBalancerListener(tx *state.Tx, req *listenerRequest) (*gateway.Empty, error) {
	return moveListener(tx, req, kinds.ListenerRunning, kinds.StageListenerStarting)
}

func stopLoadBalancerListener(tx *state.Tx, req *listenerRequest) (*gateway.Empty, error) {
	return moveListener(tx, req, kinds.ListenerStopped, kinds.StageListenerStopping)
}

func moveListener(tx *state.Tx, req *listenerRequest, to kinds.ListenerStatus, by state.Stage) (*gateway.Empty, error) {
	l, err := settledListener(tx.View, req)
	if err != nil {
		return nil, err
	}
	if l.Status != to {
		state.Enter(tx, by, l.ID())
	}
	return &gateway.Empty{}, nil
}

// settledListener finds a listener that may change its status now.
func settledListener(v *state.View, req *listenerRequest) (*kinds.Listener, error) {
	l, err := findListener(v, req.LoadBalancerID, req.ListenerPort, req.ListenerProtocol)
	if err == nil && inTransit(l) {
		return nil, errListenerInTransit
	}
	return l, err
}

func deleteLoadBalancerListener(tx *state.Tx, req *listenerRequest) (*gateway.Empty, error) {
	l, err := settledListener(tx.View, req)
	if err != nil {
		return nil, err
	}
	for other := range kinds.ListenersByLoadBalancer.List(tx.View, l.LoadBalancerID) {
		if l.Protocol == kinds.HTTPS && other.ListenerForward == kinds.On && other.ForwardPort == l.Port {
			return nil, errRedirectedTo
		}
	}
	kinds.Listeners.Remove(tx, l.ID())
	return &gateway.Empty{}, restWithoutListeners(tx, l.LoadBalancerID)
}

// restWithoutListeners makes a load balancer inactive whose last listener went. Page
// SetLoadBalancerStatus; CLB-0196.
func restWithoutListeners(tx *state.Tx, id string) error {
	for range kinds.ListenersByLoadBalancer.List(tx.View, id) {
		return nil
	}
	return kinds.LoadBalancers.Edit(tx, id, func(lb *kinds.LoadBalancer) error {
		if lb.Status == kinds.LoadBalancerActive {
			lb.Status, lb.Idle = kinds.LoadBalancerInactive, true
		}
		return nil
	})
}
