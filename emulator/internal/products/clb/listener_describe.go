package clb

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The answers have no MaxConnection: CLB-0414.
var listenerReadActions = []gateway.Action{
	gateway.Read("DescribeLoadBalancerListeners", describeLoadBalancerListeners).Refusing(errListenerProtocolIllegal, errMaxResultsIllegal),
	gateway.Read("DescribeLoadBalancerTCPListenerAttribute", describeTCPListener),
	gateway.Read("DescribeLoadBalancerUDPListenerAttribute", describeUDPListener),
	gateway.Read("DescribeLoadBalancerHTTPListenerAttribute", describeHTTPListener),
	gateway.Read("DescribeLoadBalancerHTTPSListenerAttribute", describeHTTPSListener),
}

// The refusals of this file.
var (
	errMaxResultsIllegal = refusals.New("MaxResultsIllegal", 400, "IllegalParam.MaxResults",
		"The param of MaxResults is illegal.", "CLB-0200")
	errListenerProtocolIllegal = refusals.New("ListenerProtocolIllegal", 400, "IllegalParam.ListenerProtocol",
		"The param of ListenerProtocol is illegal.", "CLB-0200")
	errTooManyLoadBalancerIDs = refusals.New("TooManyLoadBalancerIDs", 400, "IllegalParamSize.LoadBalancerId",
		"The param size of LoadBalancerId is illegal.", "CLB-0200")
)

type describeLoadBalancerListenersRequest struct {
	RegionID         string           `rpc:"RegionId"`
	NextToken        string           `rpc:"NextToken"`
	MaxResults       int              `rpc:"MaxResults,min=1,max=100,default=20,invalid=MaxResultsIllegal"`
	ListenerProtocol string           `rpc:"ListenerProtocol,enum=tcp|udp|http|https,invalid=ListenerProtocolIllegal"`
	LoadBalancerIDs  []string         `rpc:"LoadBalancerId"`
	Tags             []tagFilterParam `rpc:"Tag,max=20"`
	ListenerPort     int              `rpc:"ListenerPort,min=0,max=65535"`
	Description      string           `rpc:"Description"`
}

// Validate enforces the rules of shape.
func (req *describeLoadBalancerListenersRequest) Validate() error {
	if len(req.LoadBalancerIDs) > maxListed {
		return errTooManyLoadBalancerIDs
	}
	return nil
}

type describeLoadBalancerListenersResponse struct {
	NextToken  string         `rpc:"NextToken,omitempty"`
	MaxResults int            `rpc:"MaxResults"`
	TotalCount int            `rpc:"TotalCount"`
	Listeners  []listenerItem `rpc:"Listeners"`
}

// listenerSummary holds the fields of every answer about a listener. Where access
// control is off, the answer omits its list and type: CLB-0190.
type listenerSummary struct {
	LoadBalancerID     string `rpc:"LoadBalancerId"`
	ListenerPort       int    `rpc:"ListenerPort"`
	Status             string `rpc:"Status"`
	Description        string `rpc:"Description"`
	Scheduler          string `rpc:"Scheduler"`
	Bandwidth          int    `rpc:"Bandwidth,omitempty"`
	BackendServerPort  int    `rpc:"BackendServerPort,omitempty"`
	VServerGroupID     string `rpc:"VServerGroupId"`
	AclID              string `rpc:"AclId,omitempty"`
	AclType            string `rpc:"AclType,omitempty"`
	AclStatus          string `rpc:"AclStatus"`
	ServiceManagedMode string `rpc:"ServiceManagedMode"`
}

func summarizeListener(l *kinds.Listener) listenerSummary {
	summary := listenerSummary{
		LoadBalancerID:     l.LoadBalancerID,
		ListenerPort:       l.Port,
		Status:             string(l.Status),
		Description:        l.Description,
		Scheduler:          l.Scheduler,
		Bandwidth:          l.Bandwidth,
		BackendServerPort:  l.BackendServerPort,
		VServerGroupID:     l.VServerGroupID,
		AclID:              strings.Join(l.AclIDs, ","),
		AclType:            l.AclType,
		AclStatus:          l.AclStatus,
		ServiceManagedMode: unmanaged,
	}
	if l.ListenerForward == kinds.On {
		summary.Bandwidth = 0 // see viewHTTP
	}
	return summary
}

// listenerItem is an element of the list. Its tags and ACLs are bare lists;
// the attribute answers wrap them.
type listenerItem struct {
	listenerSummary
	ListenerProtocol    string          `rpc:"ListenerProtocol"`
	AclIDs              []string        `rpc:"AclIds"`
	Tags                []tagging.Shown `rpc:"Tags"`
	TCPListenerConfig   *tcpConfig      `rpc:"TCPListenerConfig"`
	UDPListenerConfig   *udpConfig      `rpc:"UDPListenerConfig"`
	HTTPListenerConfig  *httpConfig     `rpc:"HTTPListenerConfig"`
	HTTPSListenerConfig *httpsConfig    `rpc:"HTTPSListenerConfig"`
}

// healthCheckView shows a health check, and nothing while it is off. The texts of a
// request are empty where a check of TCP sends none: CLB-0188. It shows a connect port
// only where the client set one: it comes back from clients, and no other value is a valid
// port. CLB-0145.
type healthCheckView struct {
	HealthCheck            string  `rpc:"HealthCheck,omitempty"`
	HealthCheckType        string  `rpc:"HealthCheckType,omitempty"`
	HealthCheckDomain      *string `rpc:"HealthCheckDomain"`
	HealthCheckURI         *string `rpc:"HealthCheckURI"`
	HealthCheckMethod      string  `rpc:"HealthCheckMethod,omitempty"`
	HealthCheckHTTPCode    *string `rpc:"HealthCheckHttpCode"`
	HealthyThreshold       int     `rpc:"HealthyThreshold,omitempty"`
	UnhealthyThreshold     int     `rpc:"UnhealthyThreshold,omitempty"`
	HealthCheckInterval    int     `rpc:"HealthCheckInterval,omitempty"`
	HealthCheckConnectPort int     `rpc:"HealthCheckConnectPort,omitempty"`
}

func viewHealthCheck(h kinds.HealthCheck) healthCheckView {
	if h.Switch != kinds.On {
		return healthCheckView{HealthCheck: h.Switch}
	}
	view := healthCheckView{
		HealthCheck:            h.Switch,
		HealthCheckType:        h.Type,
		HealthyThreshold:       h.HealthyThreshold,
		UnhealthyThreshold:     h.UnhealthyThreshold,
		HealthCheckInterval:    h.Interval,
		HealthCheckConnectPort: h.ConnectPort,
	}
	switch none := ""; h.Type {
	case "http":
		view.HealthCheckDomain, view.HealthCheckURI, view.HealthCheckHTTPCode = &h.Domain, &h.URI, &h.HTTPCode
		view.HealthCheckMethod = cmp.Or(h.Method, "head")
	case "tcp":
		view.HealthCheckDomain, view.HealthCheckURI, view.HealthCheckHTTPCode = &none, &none, &none
	}
	return view
}

// checkTimeout returns the timeout of the health check, or 0 if the check is off.
func checkTimeout(h kinds.HealthCheck) int {
	if h.Switch != kinds.On {
		return 0
	}
	return h.Timeout
}

// layer4View holds the fields of TCP and UDP. The switch of the check has two names,
// and clients read either: CLB-0146.
type layer4View struct {
	healthCheckView
	HealthCheckSwitch         string `rpc:"HealthCheckSwitch"`
	HealthCheckConnectTimeout int    `rpc:"HealthCheckConnectTimeout,omitempty"`
	ConnectionDrain           string `rpc:"ConnectionDrain"`
	ConnectionDrainTimeout    int    `rpc:"ConnectionDrainTimeout,omitempty"`
	PersistenceTimeout        int    `rpc:"PersistenceTimeout"`
	MasterSlaveServerGroupID  string `rpc:"MasterSlaveServerGroupId"`
	FullNATEnabled            bool   `rpc:"FullNatEnabled,omitempty"`
}

func viewLayer4(l *kinds.Listener) layer4View {
	return layer4View{
		healthCheckView:           viewHealthCheck(l.HealthCheck),
		HealthCheckSwitch:         l.HealthCheck.Switch,
		HealthCheckConnectTimeout: checkTimeout(l.HealthCheck),
		ConnectionDrain:           l.ConnectionDrain,
		ConnectionDrainTimeout:    l.ConnectionDrainTimeout,
		PersistenceTimeout:        l.PersistenceTimeout,
		MasterSlaveServerGroupID:  l.MasterSlaveServerGroupID,
		FullNATEnabled:            l.FullNATEnabled,
	}
}

// portRange holds the ports of a listener for many ports. No action creates one, so the
// lists are empty.
type portRange struct {
	StartPort int `rpc:"StartPort"`
	EndPort   int `rpc:"EndPort"`
}

// tcpConfig is the part of the list that only TCP has. ProxyProtocolV2Enabled is
// a text here and a boolean in the attribute answers: CLB-0147.
type tcpConfig struct {
	layer4View
	EstablishedTimeout     int         `rpc:"EstablishedTimeout"`
	ProxyProtocolV2Enabled string      `rpc:"ProxyProtocolV2Enabled"`
	PortRanges             []portRange `rpc:"PortRanges"`
}

type udpConfig struct {
	layer4View
	HealthCheckReq         string      `rpc:"HealthCheckReq,omitempty"`
	HealthCheckExp         string      `rpc:"HealthCheckExp,omitempty"`
	ProxyProtocolV2Enabled string      `rpc:"ProxyProtocolV2Enabled"`
	PortRanges             []portRange `rpc:"PortRanges"`
}

// layer7View holds the fields of HTTP and HTTPS.
type layer7View struct {
	healthCheckView
	HealthCheckTimeout         int    `rpc:"HealthCheckTimeout,omitempty"`
	StickySession              string `rpc:"StickySession,omitempty"`
	StickySessionType          string `rpc:"StickySessionType,omitempty"`
	CookieTimeout              int    `rpc:"CookieTimeout,omitempty"`
	Cookie                     string `rpc:"Cookie,omitempty"`
	XForwardedFor              string `rpc:"XForwardedFor"`
	XForwardedForProto         string `rpc:"XForwardedFor_proto"`
	XForwardedForSLBIP         string `rpc:"XForwardedFor_SLBIP"`
	XForwardedForSLBID         string `rpc:"XForwardedFor_SLBID"`
	XForwardedForSLBPort       string `rpc:"XForwardedFor_SLBPORT"`
	XForwardedForClientSrcPort string `rpc:"XForwardedFor_ClientSrcPort"`
	Gzip                       string `rpc:"Gzip,omitempty"`
	IdleTimeout                int    `rpc:"IdleTimeout,omitempty"`
	RequestTimeout             int    `rpc:"RequestTimeout,omitempty"`
}

func viewLayer7(l *kinds.Listener) layer7View {
	return layer7View{
		healthCheckView:            viewHealthCheck(l.HealthCheck),
		HealthCheckTimeout:         checkTimeout(l.HealthCheck),
		StickySession:              l.StickySession,
		StickySessionType:          l.StickySessionType,
		CookieTimeout:              l.CookieTimeout,
		Cookie:                     l.Cookie,
		XForwardedFor:              l.XForwardedFor,
		XForwardedForProto:         l.XForwardedForProto,
		XForwardedForSLBIP:         l.XForwardedForSLBIP,
		XForwardedForSLBID:         l.XForwardedForSLBID,
		XForwardedForSLBPort:       l.XForwardedForSLBPort,
		XForwardedForClientSrcPort: l.XForwardedForClientSrcPort,
		Gzip:                       l.Gzip,
		IdleTimeout:                l.IdleTimeout,
		RequestTimeout:             l.RequestTimeout,
	}
}

// httpConfig: ListenerForward is never empty. A CCM compares it with off, and
// would create the listener again each time. CLB-0148.
type httpConfig struct {
	layer7View
	ListenerForward string `rpc:"ListenerForward"`
	ForwardPort     int    `rpc:"ForwardPort,omitempty"`
}

// viewHTTP leaves out of a redirecting listener what only a forwarding one has:
// CLB-0189.
func viewHTTP(l *kinds.Listener) httpConfig {
	config := httpConfig{viewLayer7(l), l.ListenerForward, l.ForwardPort}
	if l.ListenerForward == kinds.On {
		config.healthCheckView, config.HealthCheckTimeout = healthCheckView{}, 0
		config.StickySession, config.Gzip, config.IdleTimeout, config.RequestTimeout = "", "", 0, 0
	}
	return config
}

// httpsConfig has four switches about the certificate of a client that no parameter turns on.
type httpsConfig struct {
	layer7View
	clientCertificateView
	ServerCertificateID string `rpc:"ServerCertificateId"`
	CACertificateID     string `rpc:"CACertificateId"`
	EnableHTTP2         string `rpc:"EnableHttp2"`
	TLSCipherPolicy     string `rpc:"TLSCipherPolicy"`
}

type clientCertificateView struct {
	Verify      string `rpc:"XForwardedFor_ClientCertClientVerify"`
	Fingerprint string `rpc:"XForwardedFor_ClientCertFingerprint"`
	IssuerDN    string `rpc:"XForwardedFor_ClientCertIssuerDN"`
	SubjectDN   string `rpc:"XForwardedFor_ClientCertSubjectDN"`
}

func viewHTTPS(l *kinds.Listener) httpsConfig {
	return httpsConfig{viewLayer7(l), clientCertificateView{kinds.Off, kinds.Off, kinds.Off, kinds.Off}, l.ServerCertificateID, l.CACertificateID, l.EnableHTTP2, l.TLSCipherPolicy}
}

func newListenerItem(v *state.View, l *kinds.Listener) listenerItem {
	item := listenerItem{
		listenerSummary:  summarizeListener(l),
		ListenerProtocol: string(l.Protocol),
		AclIDs:           l.AclIDs,
		Tags:             tagging.ShownOf(v, kinds.TagListener, l.ID()),
	}
	proxyProtocol := strconv.FormatBool(l.ProxyProtocolV2Enabled)
	switch l.Protocol {
	case kinds.TCP:
		item.TCPListenerConfig = &tcpConfig{viewLayer4(l), l.EstablishedTimeout, proxyProtocol, nil}
	case kinds.UDP:
		item.UDPListenerConfig = &udpConfig{viewLayer4(l), l.HealthCheck.Request, l.HealthCheck.Expect, proxyProtocol, nil}
	case kinds.HTTP:
		config := viewHTTP(l)
		item.HTTPListenerConfig = &config
	case kinds.HTTPS:
		config := viewHTTPS(l)
		item.HTTPSListenerConfig = &config
	}
	return item
}

// describeLoadBalancerListeners lists the listeners of the load balancers that
// are named, of all without a name.
func describeLoadBalancerListeners(v *state.View, req *describeLoadBalancerListenersRequest) (*describeLoadBalancerListenersResponse, error) {
	ids := listing.Unique(req.LoadBalancerIDs)
	if len(ids) == 0 {
		for lb := range kinds.LoadBalancersByRegion.InScope(v) {
			ids = append(ids, lb.ID)
		}
	}
	var found []*kinds.Listener
	for _, id := range ids {
		if _, err := kinds.LoadBalancers.Get(v, id); err != nil {
			return nil, err
		}
		for l := range kinds.ListenersByLoadBalancer.List(v, id) {
			if req.matches(v, l) {
				found = append(found, l)
			}
		}
	}
	resp := &describeLoadBalancerListenersResponse{MaxResults: req.MaxResults, TotalCount: len(found)}
	part, next, err := listing.After(found, req.NextToken, req.MaxResults, func(l *kinds.Listener) string {
		return l.LoadBalancerID + "/" + kinds.PortKey(l.Port) + "/" + string(l.Protocol)
	})
	if err != nil {
		return nil, err
	}
	resp.NextToken = next
	for _, l := range part {
		resp.Listeners = append(resp.Listeners, newListenerItem(v, l))
	}
	return resp, nil
}

func (req *describeLoadBalancerListenersRequest) matches(v *state.View, l *kinds.Listener) bool {
	return (req.ListenerProtocol == "" || req.ListenerProtocol == string(l.Protocol)) &&
		(req.ListenerPort == 0 || req.ListenerPort == l.Port) &&
		strings.Contains(l.Description, req.Description) &&
		state.HasTags(v, kinds.TagListener, l.ID(), tagFilters(req.Tags))
}

type listenerAttributeRequest struct {
	RegionID       string `rpc:"RegionId"`
	LoadBalancerID string `rpc:"LoadBalancerId,required"`
	ListenerPort   int    `rpc:"ListenerPort,required,min=1,max=65535"`
}

// listenerAttribute holds the fields that the four attribute answers share.
type listenerAttribute struct {
	listenerSummary
	AclIDs []string        `rpc:"AclIds>AclId"`
	Tags   []tagging.Shown `rpc:"Tags>Tag"`
}

// attribute finds a listener for one of the four.
func (req *listenerAttributeRequest) attribute(v *state.View, protocol kinds.Protocol) (*kinds.Listener, listenerAttribute, error) {
	l, err := findListener(v, req.LoadBalancerID, req.ListenerPort, protocol)
	if err != nil {
		return nil, listenerAttribute{}, err
	}
	return l, listenerAttribute{summarizeListener(l), l.AclIDs, tagging.ShownOf(v, kinds.TagListener, l.ID())}, nil
}

type describeTCPListenerResponse struct {
	listenerAttribute
	layer4View
	EstablishedTimeout     int         `rpc:"EstablishedTimeout"`
	SynProxy               string      `rpc:"SynProxy"`
	ProxyProtocolV2Enabled bool        `rpc:"ProxyProtocolV2Enabled"`
	PortRanges             []portRange `rpc:"PortRanges>PortRange"`
}

func describeTCPListener(v *state.View, req *listenerAttributeRequest) (*describeTCPListenerResponse, error) {
	l, attribute, err := req.attribute(v, kinds.TCP)
	if err != nil {
		return nil, err
	}
	return &describeTCPListenerResponse{attribute, viewLayer4(l), l.EstablishedTimeout, l.SynProxy, l.ProxyProtocolV2Enabled, nil}, nil
}

type describeUDPListenerResponse struct {
	listenerAttribute
	layer4View
	HealthCheckReq         string      `rpc:"HealthCheckReq"`
	HealthCheckExp         string      `rpc:"HealthCheckExp"`
	ProxyProtocolV2Enabled bool        `rpc:"ProxyProtocolV2Enabled"`
	PortRanges             []portRange `rpc:"PortRanges>PortRange"`
}

func describeUDPListener(v *state.View, req *listenerAttributeRequest) (*describeUDPListenerResponse, error) {
	l, attribute, err := req.attribute(v, kinds.UDP)
	if err != nil {
		return nil, err
	}
	return &describeUDPListenerResponse{
		attribute, viewLayer4(l), l.HealthCheck.Request, l.HealthCheck.Expect, l.ProxyProtocolV2Enabled, nil,
	}, nil
}

type describeHTTPListenerResponse struct {
	listenerAttribute
	httpConfig
	SecurityStatus string     `rpc:"SecurityStatus"`
	Rules          []ruleView `rpc:"Rules>Rule"`
}

func describeHTTPListener(v *state.View, req *listenerAttributeRequest) (*describeHTTPListenerResponse, error) {
	l, attribute, err := req.attribute(v, kinds.HTTP)
	if err != nil {
		return nil, err
	}
	return &describeHTTPListenerResponse{attribute, viewHTTP(l), kinds.Off, rulesOf(v, l)}, nil
}

type describeHTTPSListenerResponse struct {
	listenerAttribute
	httpsConfig
	SecurityStatus   string                `rpc:"SecurityStatus"`
	Rules            []ruleView            `rpc:"Rules>Rule"`
	DomainExtensions []domainExtensionItem `rpc:"DomainExtensions>DomainExtension"`
}

func describeHTTPSListener(v *state.View, req *listenerAttributeRequest) (*describeHTTPSListenerResponse, error) {
	l, attribute, err := req.attribute(v, kinds.HTTPS)
	if err != nil {
		return nil, err
	}
	return &describeHTTPSListenerResponse{
		attribute, viewHTTPS(l), kinds.Off, rulesOf(v, l), domainExtensionsOf(v, l.LoadBalancerID, l.Port),
	}, nil
}
