package clb

import (
	"regexp"
	"strconv"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var ruleActions = []gateway.Action{
	change("CreateRules", createRules),
	change("DeleteRules", deleteRules),
	change("SetRule", setRule),
	gateway.Read("DescribeRules", describeRules),
	gateway.Read("DescribeRuleAttribute", describeRuleAttribute),
}

// The refusals of this file.
var (
	errRuleListMalformed = refusals.New("RuleListMalformed", 400, "RuleListMalformed",
		"the specified parameter RuleList is unavailable.", "CLB-0201")
	errTooManyRules = refusals.New("TooManyRules", 400, "TooManyRules",
		"the number of rules under specified vip is beyond maximum limit.", "CLB-0201")
	errRuleNameMissing = refusals.New("RuleNameMissing", 400, "MissingParameter.RuleName",
		"The parameter RuleName is required.", "CLB-0200")
	errRuleDomainInvalid = refusals.New("RuleDomainInvalid", 400, "DomainMalformed",
		"the specified domain in RuleList parameter is unavailable.", "CLB-0201")
	errRuleURLInvalid = refusals.New("RuleURLInvalid", 400, "UrlMalformed",
		"the specified url in RuleList parameter is unavailable.", "CLB-0201")
	errRuleOnLayer4 = refusals.New("RuleOnLayer4", 400, "RuleNotSupport",
		"Rule is not support in the tcp type listener.", "CLB-0201")
	errRuleExists = refusals.New("RuleExists", 400, "DomainExist",
		"rule with same domain and url already exists in specified vip", "CLB-0200")
	errRuleNameExists = refusals.New("RuleNameExists", 400, "RuleNameExist",
		"rule with same name already exists in specified vip", "CLB-0207")
	errRuleGroupForeign = refusals.New("RuleGroupForeign", 400, "InvalidParameter",
		"The specified VServerGroupId does not belong to the LoadBalancerId of the rule.", "CLB-0200")
	errRulesOfTwoListeners = refusals.New("RulesOfTwoListeners", 400, "Operation.NotAllowed",
		"The specified rules must be in the same listener.", "CLB-0200")
)

// maxRulesPerCall limits how many rules a call creates or deletes.
const maxRulesPerCall = 10

type createRulesRequest struct {
	RegionID         string         `rpc:"RegionId,required"`
	LoadBalancerID   string         `rpc:"LoadBalancerId,required"`
	ListenerPort     int            `rpc:"ListenerPort,required,min=1,max=65535"`
	ListenerProtocol kinds.Protocol `rpc:"ListenerProtocol,enum=http|https"`
	RuleList         []ruleParam    `rpc:"RuleList,json,required,invalid=RuleListMalformed"`
}

func (req *createRulesRequest) LoadBalancerOf(*state.View) (string, error) {
	return req.LoadBalancerID, nil
}

// ruleParam is an element of the JSON text RuleList.
type ruleParam struct {
	RuleName       string
	Domain         string
	URL            string `json:"Url"`
	VServerGroupID string `json:"VServerGroupId"`
}

// ruleURL starts with a slash, and is more than that.
var ruleURL = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/[0-9A-Za-z\-./%?#&=_~]{1,79}$`) })

// Validate enforces the rules of shape.
func (req *createRulesRequest) Validate() error {
	switch n := len(req.RuleList); {
	case n == 0:
		return errRuleListMalformed
	case n > maxRulesPerCall:
		return errTooManyRules
	}
	for _, r := range req.RuleList {
		switch {
		case r.RuleName == "":
			return errRuleNameMissing
		case len(r.RuleName) > 40, r.Domain == "" && r.URL == "", r.VServerGroupID == "":
			return errRuleListMalformed
		case r.Domain != "" && !domainName().MatchString(r.Domain):
			return errRuleDomainInvalid
		case r.URL != "" && !ruleURL().MatchString(r.URL):
			return errRuleURLInvalid
		}
	}
	return nil
}

type rulesResponse struct {
	Rules []ruleView `rpc:"Rules>Rule"`
}

// ruleView shows a rule in answers. Values of its listener appear as the
// listener has them.
type ruleView struct {
	RuleID             string `rpc:"RuleId"`
	RuleName           string `rpc:"RuleName"`
	Domain             string `rpc:"Domain"`
	URL                string `rpc:"Url"`
	VServerGroupID     string `rpc:"VServerGroupId"`
	ListenerSync       string `rpc:"ListenerSync"`
	Scheduler          string `rpc:"Scheduler"`
	StickySession      string `rpc:"StickySession"`
	StickySessionType  string `rpc:"StickySessionType,omitempty"`
	CookieTimeout      int    `rpc:"CookieTimeout,omitempty"`
	Cookie             string `rpc:"Cookie,omitempty"`
	ServiceManagedMode string `rpc:"ServiceManagedMode"`
	ruleHealthCheck
}

type ruleHealthCheck struct {
	HealthCheck            string  `rpc:"HealthCheck"`
	HealthCheckDomain      *string `rpc:"HealthCheckDomain"`
	HealthCheckURI         *string `rpc:"HealthCheckURI"`
	HealthCheckHTTPCode    *string `rpc:"HealthCheckHttpCode"`
	HealthyThreshold       int     `rpc:"HealthyThreshold,omitempty"`
	UnhealthyThreshold     int     `rpc:"UnhealthyThreshold,omitempty"`
	HealthCheckTimeout     int     `rpc:"HealthCheckTimeout,omitempty"`
	HealthCheckInterval    int     `rpc:"HealthCheckInterval,omitempty"`
	HealthCheckConnectPort int     `rpc:"HealthCheckConnectPort,omitempty"`
}

func viewRule(v *state.View, r *kinds.Rule) ruleView {
	shown := *r
	if l, ok := kinds.Listeners.Find(v, r.ListenerID); ok && r.ListenerSync == kinds.On {
		shown.Scheduler, shown.HealthCheck = l.Scheduler, l.HealthCheck
		shown.StickySession, shown.StickySessionType = l.StickySession, l.StickySessionType
		shown.Cookie, shown.CookieTimeout = l.Cookie, l.CookieTimeout
	}
	check := viewHealthCheck(shown.HealthCheck)
	return ruleView{
		RuleID: r.ID, RuleName: r.Name, Domain: r.Domain, URL: r.URL, VServerGroupID: r.VServerGroupID,
		ListenerSync: r.ListenerSync, Scheduler: shown.Scheduler, StickySession: shown.StickySession,
		StickySessionType: shown.StickySessionType, CookieTimeout: shown.CookieTimeout, Cookie: shown.Cookie,
		ServiceManagedMode: unmanaged,
		ruleHealthCheck: ruleHealthCheck{
			HealthCheck: check.HealthCheck, HealthCheckDomain: check.HealthCheckDomain, HealthCheckURI: check.HealthCheckURI,
			HealthCheckHTTPCode: check.HealthCheckHTTPCode, HealthyThreshold: check.HealthyThreshold,
			UnhealthyThreshold: check.UnhealthyThreshold, HealthCheckTimeout: checkTimeout(shown.HealthCheck),
			HealthCheckInterval: check.HealthCheckInterval, HealthCheckConnectPort: check.HealthCheckConnectPort,
		},
	}
}

func createRules(tx *state.Tx, req *createRulesRequest) (*rulesResponse, error) {
	l, err := settledListener(tx.View, &listenerRequest{
		LoadBalancerID: req.LoadBalancerID, ListenerPort: req.ListenerPort, ListenerProtocol: req.ListenerProtocol,
	})
	if err != nil {
		return nil, err
	}
	if l.Protocol != kinds.HTTP && l.Protocol != kinds.HTTPS {
		return nil, errRuleOnLayer4
	}
	if err := tx.Use(kinds.QuotaRules, l.ID(), len(req.RuleList)); err != nil {
		return nil, err
	}
	resp := &rulesResponse{}
	for _, p := range req.RuleList {
		r, err := createRule(tx, l, p)
		if err != nil {
			return nil, err
		}
		resp.Rules = append(resp.Rules, viewRule(tx.View, r))
	}
	configure(tx, l)
	return resp, nil
}

// configure makes a listener busy whose rules changed. CLB-0198.
func configure(tx *state.Tx, l *kinds.Listener) {
	state.Enter(tx, kinds.StageListenerConfiguring, l.ID(), string(l.Status))
}

func createRule(tx *state.Tx, l *kinds.Listener, p ruleParam) (*kinds.Rule, error) {
	if _, taken := kinds.RulesByListener.First(tx.View, l.ID(), p.Domain, p.URL); taken {
		return nil, errRuleExists
	}
	if err := checkRuleName(tx.View, l.ID(), "", p.RuleName); err != nil {
		return nil, err
	}
	if err := checkRuleGroup(tx.View, l.LoadBalancerID, p.VServerGroupID); err != nil {
		return nil, err
	}
	r := &kinds.Rule{
		Owner:          tx.Scope(),
		ID:             tx.NewID(kinds.Rules.Kind()),
		Name:           p.RuleName,
		LoadBalancerID: l.LoadBalancerID,
		ListenerID:     l.ID(),
		Domain:         p.Domain,
		URL:            p.URL,
		VServerGroupID: p.VServerGroupID,
		ListenerSync:   kinds.On,
		CreateTime:     tx.Now(),
	}
	kinds.Rules.Put(tx, r)
	return r, nil
}

// checkRuleName wants a rule's name to be its own among the rules of the listener.
func checkRuleName(v *state.View, listenerID, ruleID, name string) error {
	for r := range kinds.RulesByListener.List(v, listenerID) {
		if r.ID != ruleID && r.Name == name {
			return errRuleNameExists
		}
	}
	return nil
}

func checkRuleGroup(v *state.View, loadBalancerID, groupID string) error {
	g, err := kinds.VServerGroups.Get(v, groupID)
	if err == nil && g.LoadBalancerID != loadBalancerID {
		return errRuleGroupForeign
	}
	return err
}

type deleteRulesRequest struct {
	RegionID string   `rpc:"RegionId,required"`
	RuleIDs  []string `rpc:"RuleIds,json,required"`
}

func (req *deleteRulesRequest) LoadBalancerOf(v *state.View) (string, error) {
	// All belong to one listener, which a later check ensures.
	return owner(v, kinds.Rules, req.RuleIDs[0], func(r *kinds.Rule) string { return r.LoadBalancerID })
}

// Validate enforces the rules of shape.
func (req *deleteRulesRequest) Validate() error {
	switch n := len(req.RuleIDs); {
	case n == 0:
		return gateway.Invalid("RuleIds")
	case n > maxRulesPerCall:
		return errTooManyRules
	}
	return nil
}

func deleteRules(tx *state.Tx, req *deleteRulesRequest) (*gateway.Empty, error) {
	listener := ""
	for _, id := range listing.Unique(req.RuleIDs) {
		r, err := kinds.Rules.Get(tx.View, id)
		if err != nil {
			return nil, err
		}
		if listener != "" && r.ListenerID != listener {
			return nil, errRulesOfTwoListeners
		}
		listener = r.ListenerID
		if err := checkRuleListener(tx.View, r); err != nil {
			return nil, err
		}
		kinds.Rules.Remove(tx, id)
	}
	if l, ok := kinds.Listeners.Find(tx.View, listener); ok {
		configure(tx, l)
	}
	return &gateway.Empty{}, nil
}

// checkRuleListener wants the listener of a rule to take changes.
func checkRuleListener(v *state.View, r *kinds.Rule) error {
	l, err := kinds.Listeners.Get(v, r.ListenerID)
	if err == nil && inTransit(l) {
		return errListenerInTransit
	}
	return err
}

type setRuleRequest struct {
	RegionID       string  `rpc:"RegionId,required"`
	RuleID         string  `rpc:"RuleId,required"`
	RuleName       *string `rpc:"RuleName,len=1..40"`
	VServerGroupID *string `rpc:"VServerGroupId"`
	ListenerSync   *string `rpc:"ListenerSync,enum=on|off"`
	Scheduler      *string `rpc:"Scheduler,enum=wrr|rr|wlc"`
	StickySession  *string `rpc:"StickySession,enum=on|off"`
	StickyType     *string `rpc:"StickySessionType,enum=insert|server"`
	CookieTimeout  *int    `rpc:"CookieTimeout,min=1,max=86400"`
	Cookie         *string `rpc:"Cookie,len=1..200,form=cookieName"`
	HealthCheck    *string `rpc:"HealthCheck,enum=on|off"`
	Timeout        *int    `rpc:"HealthCheckTimeout,min=1,max=300"`
	Interval       *int    `rpc:"HealthCheckInterval,min=1,max=50"`
	healthCheckSettings
	httpCheckSettings
}

func (req *setRuleRequest) LoadBalancerOf(v *state.View) (string, error) {
	return owner(v, kinds.Rules, req.RuleID, func(r *kinds.Rule) string { return r.LoadBalancerID })
}

// setRule changes a rule. Its own settings need ListenerSync off. A rule that stops following
// its listener needs the three that have no default, and starts from what the listener has:
// SDK of 2025-12.
func setRule(tx *state.Tx, req *setRuleRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.Rules.Edit(tx, req.RuleID, func(r *kinds.Rule) error {
		if err := checkRuleListener(tx.View, r); err != nil {
			return err
		}
		if req.VServerGroupID != nil {
			if err := checkRuleGroup(tx.View, r.LoadBalancerID, *req.VServerGroupID); err != nil {
				return err
			}
		}
		if req.RuleName != nil {
			if err := checkRuleName(tx.View, r.ListenerID, r.ID, *req.RuleName); err != nil {
				return err
			}
		}
		assign(&r.Name, req.RuleName)
		assign(&r.VServerGroupID, req.VServerGroupID)
		if l, ok := kinds.Listeners.Find(tx.View, r.ListenerID); ok {
			configure(tx, l)
		}
		return req.settings(tx.View, r)
	})
}

// checkOwn wants the settings that a rule needs that stops following its listener.
func (req *setRuleRequest) checkOwn() error {
	if req.ListenerSync == nil || *req.ListenerSync != kinds.Off {
		return nil
	}
	switch {
	case req.Scheduler == nil:
		return gateway.Missing("Scheduler")
	case req.StickySession == nil:
		return gateway.Missing("StickySession")
	case req.HealthCheck == nil:
		return gateway.Missing("HealthCheck")
	}
	return nil
}

func (req *setRuleRequest) settings(v *state.View, r *kinds.Rule) error {
	l, err := kinds.Listeners.Get(v, r.ListenerID)
	if err != nil {
		return err
	}
	own := *l // a listener's settings are a superset of a rule's
	if r.ListenerSync == kinds.Off {
		own.Scheduler, own.HealthCheck = r.Scheduler, r.HealthCheck
		own.StickySession, own.StickySessionType, own.Cookie, own.CookieTimeout = r.StickySession, r.StickySessionType, r.Cookie, r.CookieTimeout
	}
	if r.ListenerSync == kinds.On {
		if err := req.checkOwn(); err != nil {
			return err
		}
	}
	assign(&r.ListenerSync, req.ListenerSync)
	if r.ListenerSync == kinds.On {
		return nil
	}
	assign(&own.Scheduler, req.Scheduler)
	assign(&own.StickySession, req.StickySession)
	assign(&own.StickySessionType, req.StickyType)
	assign(&own.CookieTimeout, req.CookieTimeout)
	assign(&own.Cookie, req.Cookie)
	assign(&own.HealthCheck.Switch, req.HealthCheck)
	assign(&own.HealthCheck.Timeout, req.Timeout)
	assign(&own.HealthCheck.Interval, req.Interval)
	req.healthCheckSettings.apply(&own)
	req.httpCheckSettings.apply(&own)
	if err := settleSticky(v, nil, &own); err != nil {
		return err
	}
	r.Scheduler, r.HealthCheck = own.Scheduler, own.HealthCheck
	r.StickySession, r.StickySessionType, r.Cookie, r.CookieTimeout = own.StickySession, own.StickySessionType, own.Cookie, own.CookieTimeout
	return nil
}

type describeRulesRequest struct {
	RegionID         string         `rpc:"RegionId,required"`
	LoadBalancerID   string         `rpc:"LoadBalancerId,required"`
	ListenerPort     int            `rpc:"ListenerPort,required,min=1,max=65535"`
	ListenerProtocol kinds.Protocol `rpc:"ListenerProtocol,enum=http|https"`
}

func describeRules(v *state.View, req *describeRulesRequest) (*rulesResponse, error) {
	l, err := findListener(v, req.LoadBalancerID, req.ListenerPort, req.ListenerProtocol)
	if err != nil {
		return nil, err
	}
	return &rulesResponse{rulesOf(v, l)}, nil
}

func rulesOf(v *state.View, l *kinds.Listener) []ruleView {
	var list []ruleView
	for r := range kinds.RulesByListener.List(v, l.ID()) {
		list = append(list, viewRule(v, r))
	}
	return list
}

type describeRuleAttributeRequest struct {
	RegionID string `rpc:"RegionId,required"`
	RuleID   string `rpc:"RuleId,required"`
}

type describeRuleAttributeResponse struct {
	ruleView
	LoadBalancerID string `rpc:"LoadBalancerId"`
	ListenerPort   string `rpc:"ListenerPort"` // a text here, a number everywhere else
}

func describeRuleAttribute(v *state.View, req *describeRuleAttributeRequest) (*describeRuleAttributeResponse, error) {
	r, err := kinds.Rules.Get(v, req.RuleID)
	if err != nil {
		return nil, err
	}
	l, err := kinds.Listeners.Get(v, r.ListenerID)
	if err != nil {
		return nil, err
	}
	return &describeRuleAttributeResponse{viewRule(v, r), r.LoadBalancerID, strconv.Itoa(l.Port)}, nil
}
