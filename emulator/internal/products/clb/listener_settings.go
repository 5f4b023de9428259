package clb

import (
	"slices"
	"strings"
	"unicode"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errListenerPortInvalid = refusals.New("ListenerPortInvalid", 400, "InvalidListenerPort",
		"Specified parameter ListenerPort is not valid.", "CLB-0200").
		In(400, "InvalidParam.ListenerPort", "The specified ListenerPort is invalid.", "CLB-0200",
			"CreateLoadBalancerTCPListener", "CreateLoadBalancerUDPListener", "SetLoadBalancerTCPListenerAttribute", "SetLoadBalancerUDPListenerAttribute")
	errHealthCheckReqInvalid = refusals.New("HealthCheckReqInvalid", 400, "InvalidParam.HealthCheckReq",
		"The param HealthCheckReq is invalid.", "CLB-0200")
	errHealthCheckExpInvalid = refusals.New("HealthCheckExpInvalid", 400, "InvalidParam.HealthCheckExp",
		"The param HealthCheckExp is invalid.", "CLB-0200")
	errHealthCheckReqLength = refusals.New("HealthCheckReqLength", 400, "InvalidParamLength.HealthCheckReq",
		"The length of the parameter HealthCheckReq is invalid.", "CLB-0200")
	errHealthCheckExpLength = refusals.New("HealthCheckExpLength", 400, "InvalidParamLength.HealthCheckExp",
		"The length of the parameter HealthCheckExp is invalid.", "CLB-0200").
		In(400, "InvalidParamLength.HealthCheckExp", "The length of the parameter HealthCheckReq is invalid.", "CLB-0200",
			"CreateLoadBalancerUDPListener")
	errHealthCheckIllegal = refusals.New("HealthCheckIllegal", 400, "IllegalParam.HealthCheck",
		"The param of HealthCheck is illegal.", "CLB-0200").
		In(400, "IllegalParam.HealthCheck", "The param of HelathCheck is illegal.", "CLB-0200", "CreateLoadBalancerTCPListener").
		In(400, "InvalidParam.HealthCheck", "The param of HealthCheck is illegal.", "CLB-0200", "SetLoadBalancerTCPListenerAttribute")
	errVServerGroupMissing = refusals.New("VServerGroupMissing", 400, "MissingParam.VServerGroupId",
		"The parameter VServerGroupId is missing.", "CLB-0200")
	errVServerGroupNeeded = refusals.New("VServerGroupNeeded", 400, "OperationFailed.ServerGroupInUse",
		"The VServerGroup or MasterSlaveServerGroup can not be close for this listener.", "CLB-0200")
)

// The eight requests that set up a listener come together here from the
// settings that protocols share. A nil field was not given.

type listenerRef struct {
	RegionID       string `rpc:"RegionId"`
	LoadBalancerID string `rpc:"LoadBalancerId,required"`
	ListenerPort   int    `rpc:"ListenerPort,required,min=1,max=65535,invalid=ListenerPortInvalid"`
}

func (req *listenerRef) LoadBalancerOf(*state.View) (string, error) { return req.LoadBalancerID, nil }

// assign stores the given values.
func assign[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// listenerSettings holds the settings of every protocol.
type listenerSettings struct {
	VServerGroupID *string `rpc:"VServerGroupId"`
	AclID          *string `rpc:"AclId"`
	AclType        *string `rpc:"AclType,enum=white|black"`
	AclStatus      *string `rpc:"AclStatus,enum=on|off"`
	Description    *string `rpc:"Description,len=1..256"`
}

func (s *listenerSettings) apply(l *kinds.Listener) {
	assign(&l.AclType, s.AclType)
	assign(&l.AclStatus, s.AclStatus)
	assign(&l.Description, s.Description)
	if s.AclID != nil {
		l.AclIDs = splitAclIDs(*s.AclID)
	}
}

// healthCheckSettings holds the health check settings of every protocol. By the connect port
// -520 older controllers, and old answers, mean the backend's own port: CLB-0205.
type healthCheckSettings struct {
	HealthyThreshold       *int `rpc:"HealthyThreshold,min=2,max=10"`
	UnhealthyThreshold     *int `rpc:"UnhealthyThreshold,min=2,max=10"`
	HealthCheckConnectPort *int `rpc:"HealthCheckConnectPort,min=1,max=65535,also=-520"`
}

func (s *healthCheckSettings) apply(l *kinds.Listener) {
	assign(&l.HealthCheck.HealthyThreshold, s.HealthyThreshold)
	assign(&l.HealthCheck.UnhealthyThreshold, s.UnhealthyThreshold)
	if s.HealthCheckConnectPort != nil {
		l.HealthCheck.ConnectPort = max(*s.HealthCheckConnectPort, 0)
	}
}

// httpCheckSettings holds the settings of checks that send an HTTP request.
type httpCheckSettings struct {
	HealthCheckDomain   *string `rpc:"HealthCheckDomain,len=1..80,form=checkedDomain"`
	HealthCheckURI      *string `rpc:"HealthCheckURI,len=1..80,form=slashFirst"`
	HealthCheckHTTPCode *string `rpc:"HealthCheckHttpCode"`
}

func (s *httpCheckSettings) apply(l *kinds.Listener) {
	assign(&l.HealthCheck.Domain, s.HealthCheckDomain)
	assign(&l.HealthCheck.URI, s.HealthCheckURI)
	assign(&l.HealthCheck.HTTPCode, s.HealthCheckHTTPCode)
}

var httpCodes = []string{"http_2xx", "http_3xx", "http_4xx", "http_5xx"}

// Validate checks the comma list of codes.
func (s *httpCheckSettings) Validate() error {
	if s.HealthCheckHTTPCode == nil {
		return nil
	}
	for code := range strings.SplitSeq(*s.HealthCheckHTTPCode, ",") {
		if !slices.Contains(httpCodes, code) {
			return gateway.Invalid("HealthCheckHttpCode")
		}
	}
	return nil
}

// layer4Settings holds the settings of TCP and UDP. For UDP some are known from clients
// alone: CLB-0187.
type layer4Settings struct {
	listenerSettings
	healthCheckSettings
	MasterSlaveServerGroupID  *string `rpc:"MasterSlaveServerGroupId"`
	HealthCheckSwitch         *string `rpc:"HealthCheckSwitch,enum=on|off,invalid=HealthCheckIllegal"`
	HealthCheckConnectTimeout *int    `rpc:"HealthCheckConnectTimeout,min=1,max=300"`
	ProxyProtocolV2Enabled    *bool   `rpc:"ProxyProtocolV2Enabled"`
	FullNATEnabled            *bool   `rpc:"FullNatEnabled"`
	PersistenceTimeout        *int    `rpc:"PersistenceTimeout,min=0,max=3600"`
	ConnectionDrain           *string `rpc:"ConnectionDrain,enum=on|off"`
	ConnectionDrainTimeout    *int    `rpc:"ConnectionDrainTimeout,min=10,max=900"`
}

func (s *layer4Settings) apply(l *kinds.Listener) {
	s.listenerSettings.apply(l)
	s.healthCheckSettings.apply(l)
	assign(&l.HealthCheck.Switch, s.HealthCheckSwitch)
	assign(&l.HealthCheck.Timeout, s.HealthCheckConnectTimeout)
	assign(&l.ProxyProtocolV2Enabled, s.ProxyProtocolV2Enabled)
	assign(&l.FullNATEnabled, s.FullNATEnabled)
	assign(&l.PersistenceTimeout, s.PersistenceTimeout)
	assign(&l.ConnectionDrain, s.ConnectionDrain)
	assign(&l.ConnectionDrainTimeout, s.ConnectionDrainTimeout)
}

// tcpSettings: wlc is not documented any more, but still used. CLB-0143.
type tcpSettings struct {
	layer4Settings
	httpCheckSettings
	Scheduler          *string `rpc:"Scheduler,enum=wrr|rr|sch|tch|wlc"`
	EstablishedTimeout *int    `rpc:"EstablishedTimeout,min=10,max=900"`
	HealthCheckType    *string `rpc:"HealthCheckType,enum=tcp|http"`
}

func (s *tcpSettings) apply(l *kinds.Listener) {
	s.layer4Settings.apply(l)
	s.httpCheckSettings.apply(l)
	assign(&l.Scheduler, s.Scheduler)
	assign(&l.EstablishedTimeout, s.EstablishedTimeout)
	assign(&l.HealthCheck.Type, s.HealthCheckType)
	if l.HealthCheck.Type == "http" && l.HealthCheck.HTTPCode == "" {
		l.HealthCheck.HTTPCode = "http_2xx"
	}
}

type udpSettings struct {
	layer4Settings
	Scheduler      *string `rpc:"Scheduler,enum=wrr|rr|sch|tch|qch|wlc"`
	HealthCheckReq *string `rpc:"healthCheckReq,len=1..64,invalid=HealthCheckReqLength"`
	HealthCheckExp *string `rpc:"healthCheckExp,len=1..64,invalid=HealthCheckExpLength"`
}

// lettersAndDigits reports whether a text of a UDP health check has letters and digits alone: pages
// CreateLoadBalancerUDPListener and SetLoadBalancerUDPListenerAttribute.
func lettersAndDigits(text *string) bool {
	return text == nil || !strings.ContainsFunc(*text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Validate enforces the rules of shape.
func (s *udpSettings) Validate() error {
	switch {
	case !lettersAndDigits(s.HealthCheckReq):
		return errHealthCheckReqInvalid
	case !lettersAndDigits(s.HealthCheckExp):
		return errHealthCheckExpInvalid
	}
	return nil
}

func (s *udpSettings) apply(l *kinds.Listener) {
	s.layer4Settings.apply(l)
	assign(&l.Scheduler, s.Scheduler)
	assign(&l.HealthCheck.Request, s.HealthCheckReq)
	assign(&l.HealthCheck.Expect, s.HealthCheckExp)
}

// layer7Settings holds the settings of HTTP and HTTPS.
type layer7Settings struct {
	listenerSettings
	healthCheckSettings
	httpCheckSettings
	Scheduler                  *string `rpc:"Scheduler,enum=wrr|rr|wlc"`
	StickySessionType          *string `rpc:"StickySessionType,enum=insert|server"`
	CookieTimeout              *int    `rpc:"CookieTimeout,min=1,max=86400"`
	Cookie                     *string `rpc:"Cookie,len=1..200,form=cookieName"`
	HealthCheckMethod          *string `rpc:"HealthCheckMethod,enum=head|get"`
	HealthCheckTimeout         *int    `rpc:"HealthCheckTimeout,min=1,max=300"`
	HealthCheckInterval        *int    `rpc:"HealthCheckInterval,min=1,max=50"`
	XForwardedFor              *string `rpc:"XForwardedFor,enum=on|off"`
	XForwardedForSLBIP         *string `rpc:"XForwardedFor_SLBIP,enum=on|off"`
	XForwardedForSLBID         *string `rpc:"XForwardedFor_SLBID,enum=on|off"`
	XForwardedForProto         *string `rpc:"XForwardedFor_proto,enum=on|off"`
	XForwardedForSLBPort       *string `rpc:"XForwardedFor_SLBPORT,enum=on|off"`
	XForwardedForClientSrcPort *string `rpc:"XForwardedFor_ClientSrcPort,enum=on|off"`
	Gzip                       *string `rpc:"Gzip,enum=on|off"`
	IdleTimeout                *int    `rpc:"IdleTimeout,min=1,max=9999,invalid=IdleTimeoutTooLong"`
	RequestTimeout             *int    `rpc:"RequestTimeout,min=1,max=9999,invalid=RequestTimeoutTooLong"`
}

func (s *layer7Settings) apply(l *kinds.Listener) {
	s.listenerSettings.apply(l)
	s.healthCheckSettings.apply(l)
	s.httpCheckSettings.apply(l)
	assign(&l.Scheduler, s.Scheduler)
	assign(&l.StickySessionType, s.StickySessionType)
	assign(&l.CookieTimeout, s.CookieTimeout)
	assign(&l.Cookie, s.Cookie)
	assign(&l.HealthCheck.Method, s.HealthCheckMethod)
	assign(&l.HealthCheck.Timeout, s.HealthCheckTimeout)
	assign(&l.HealthCheck.Interval, s.HealthCheckInterval)
	assign(&l.XForwardedFor, s.XForwardedFor)
	assign(&l.XForwardedForSLBIP, s.XForwardedForSLBIP)
	assign(&l.XForwardedForSLBID, s.XForwardedForSLBID)
	assign(&l.XForwardedForProto, s.XForwardedForProto)
	assign(&l.XForwardedForSLBPort, s.XForwardedForSLBPort)
	assign(&l.XForwardedForClientSrcPort, s.XForwardedForClientSrcPort)
	assign(&l.Gzip, s.Gzip)
	assign(&l.IdleTimeout, s.IdleTimeout)
	assign(&l.RequestTimeout, s.RequestTimeout)
}

type httpsSettings struct {
	ServerCertificateID *string `rpc:"ServerCertificateId"`
	CACertificateID     *string `rpc:"CACertificateId"`
	EnableHTTP2         *string `rpc:"EnableHttp2,enum=on|off"`
	TLSCipherPolicy     *string `rpc:"TLSCipherPolicy"`
}

func (s *httpsSettings) apply(l *kinds.Listener) {
	assign(&l.ServerCertificateID, s.ServerCertificateID)
	assign(&l.CACertificateID, s.CACertificateID)
	assign(&l.EnableHTTP2, s.EnableHTTP2)
	assign(&l.TLSCipherPolicy, s.TLSCipherPolicy)
}

// creation holds the parameters that every Create action takes in addition to settings.
type creation struct {
	listenerRef
	BackendServerPort int           `rpc:"BackendServerPort,min=1,max=65535"`
	Tags              []tagging.Tag `rpc:"Tag"`
}

func (c *creation) wanted(protocol kinds.Protocol, s *listenerSettings) wantedListener {
	want := wantedListener{
		LoadBalancerID: c.LoadBalancerID, Port: c.ListenerPort, Protocol: protocol,
		BackendServerPort: c.BackendServerPort, Tags: c.Tags,
	}
	assign(&want.VServerGroupID, s.VServerGroupID)
	return want
}

func (c *creation) wantedLayer4(protocol kinds.Protocol, s *layer4Settings) wantedListener {
	want := c.wanted(protocol, &s.listenerSettings)
	assign(&want.MasterSlaveServerGroupID, s.MasterSlaveServerGroupID)
	return want
}

type createTCPListenerRequest struct {
	creation
	Bandwidth           *int `rpc:"Bandwidth,required,min=-1,max=5120,except=0"`
	HealthCheckInterval *int `rpc:"healthCheckInterval,min=1,max=50"`
	tcpSettings
}

// Validate enforces the rules of shape.
func (req *createTCPListenerRequest) Validate() error {
	if err := checkTags(req.Tags); err != nil {
		return err
	}
	return req.httpCheckSettings.Validate()
}

func (req *createTCPListenerRequest) listener() wantedListener {
	return req.wantedLayer4(kinds.TCP, &req.layer4Settings)
}

func (req *createTCPListenerRequest) apply(l *kinds.Listener) {
	assign(&l.Bandwidth, req.Bandwidth)
	assign(&l.HealthCheck.Interval, req.HealthCheckInterval)
	req.tcpSettings.apply(l)
}

type createUDPListenerRequest struct {
	creation
	Bandwidth           *int `rpc:"Bandwidth,required,min=-1,max=5120,except=0"`
	HealthCheckInterval *int `rpc:"healthCheckInterval,min=1,max=50"`
	udpSettings
}

// Validate enforces the rules of shape.
func (req *createUDPListenerRequest) Validate() error {
	if err := checkTags(req.Tags); err != nil {
		return err
	}
	return req.udpSettings.Validate()
}

func (req *createUDPListenerRequest) listener() wantedListener {
	return req.wantedLayer4(kinds.UDP, &req.layer4Settings)
}

func (req *createUDPListenerRequest) apply(l *kinds.Listener) {
	assign(&l.Bandwidth, req.Bandwidth)
	assign(&l.HealthCheck.Interval, req.HealthCheckInterval)
	req.udpSettings.apply(l)
}

type createHTTPListenerRequest struct {
	creation
	Bandwidth       *int    `rpc:"Bandwidth,min=-1,max=5120,except=0"`
	StickySession   string  `rpc:"StickySession,required,enum=on|off"`
	HealthCheck     string  `rpc:"HealthCheck,required,enum=on|off"`
	ListenerForward *string `rpc:"ListenerForward,enum=on|off"`
	ForwardPort     *int    `rpc:"ForwardPort,min=1,max=65535"`
	layer7Settings
}

// Validate enforces the rules of shape.
func (req *createHTTPListenerRequest) Validate() error {
	if err := checkTags(req.Tags); err != nil {
		return err
	}
	if req.ListenerForward != nil && *req.ListenerForward == kinds.On && req.ForwardPort == nil {
		return gateway.Missing("ForwardPort")
	}
	return req.httpCheckSettings.Validate()
}

func (req *createHTTPListenerRequest) listener() wantedListener {
	return req.wanted(kinds.HTTP, &req.listenerSettings)
}

func (req *createHTTPListenerRequest) apply(l *kinds.Listener) {
	assign(&l.Bandwidth, req.Bandwidth)
	l.StickySession, l.HealthCheck.Switch = req.StickySession, req.HealthCheck
	assign(&l.ListenerForward, req.ListenerForward)
	if l.ListenerForward == kinds.On {
		assign(&l.ForwardPort, req.ForwardPort)
	}
	req.layer7Settings.apply(l)
}

type createHTTPSListenerRequest struct {
	creation
	Bandwidth     *int   `rpc:"Bandwidth,required,min=-1,max=5120,except=0"`
	StickySession string `rpc:"StickySession,required,enum=on|off"`
	HealthCheck   string `rpc:"HealthCheck,required,enum=on|off"`
	layer7Settings
	httpsSettings
}

// Validate enforces the rules of shape.
func (req *createHTTPSListenerRequest) Validate() error {
	if err := checkTags(req.Tags); err != nil {
		return err
	}
	return req.httpCheckSettings.Validate()
}

func (req *createHTTPSListenerRequest) listener() wantedListener {
	return req.wanted(kinds.HTTPS, &req.listenerSettings)
}

func (req *createHTTPSListenerRequest) apply(l *kinds.Listener) {
	assign(&l.Bandwidth, req.Bandwidth)
	l.StickySession, l.HealthCheck.Switch = req.StickySession, req.HealthCheck
	req.layer7Settings.apply(l)
	req.httpsSettings.apply(l)
}
