package clb

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// reservedUDPPorts are the cloud's own; 4789 is its VXLAN. CLB-0599.
var reservedUDPPorts = []int{250, 4789}

// checkPort keeps the two port spaces: TCP, HTTP and HTTPS share one, UDP has
// its own.
func checkPort(v *state.View, want wantedListener) error {
	if want.Protocol == kinds.UDP && slices.Contains(reservedUDPPorts, want.Port) {
		return errPortReserved // the only published message names one of them
	}
	for other := range kinds.ListenersByLoadBalancer.List(v, want.LoadBalancerID, kinds.PortKey(want.Port)) {
		switch {
		case other.Protocol == want.Protocol:
			return errListenerExists
		case (other.Protocol == kinds.UDP) == (want.Protocol == kinds.UDP):
			return errListenerPortConflict
		}
	}
	return nil
}

// settleForwarding settles where a new listener sends its requests: to a server
// group, to a port of the default group, or, redirecting, to another listener.
func settleForwarding(v *state.View, l *kinds.Listener, want wantedListener) error {
	if l.ListenerForward == kinds.On {
		target, ok := kinds.Listeners.Find(v, kinds.ListenerID(l.LoadBalancerID, kinds.HTTPS, l.ForwardPort))
		if l.ForwardPort == l.Port || !ok || target.Port != l.ForwardPort {
			return errForwardPortInvalid
		}
		l.VServerGroupID, l.BackendServerPort = "", 0
		return nil
	}
	switch {
	case want.VServerGroupID != "" && want.MasterSlaveServerGroupID != "":
		return errServerGroupsMismatch
	case want.VServerGroupID == "" && want.MasterSlaveServerGroupID == "" && want.BackendServerPort == 0:
		return errBackendMissing
	}
	l.VServerGroupID, l.MasterSlaveServerGroupID, l.BackendServerPort = want.VServerGroupID, want.MasterSlaveServerGroupID, want.BackendServerPort
	return nil
}

func setDefaults(l *kinds.Listener) {
	switch l.Protocol {
	case kinds.TCP:
		l.EstablishedTimeout, l.SynProxy, l.ConnectionDrain = 900, "disable", kinds.Off
		l.HealthCheck = kinds.HealthCheck{
			Switch: kinds.On, Type: "tcp", HealthyThreshold: 3, UnhealthyThreshold: 3, Timeout: 5, Interval: 2,
		}
	case kinds.UDP:
		l.ConnectionDrain = kinds.Off
		l.HealthCheck = kinds.HealthCheck{
			Switch: kinds.On, Type: "udp", HealthyThreshold: 3, UnhealthyThreshold: 3, Timeout: 5, Interval: 5,
		}
	default:
		setLayer7Defaults(l)
	}
}

const defaultTLSCipherPolicy = "tls_cipher_policy_1_0"

// setLayer7Defaults gives HTTP and HTTPS listeners theirs. The interval, path and
// method of the health check are the console's: CLB-0141.
func setLayer7Defaults(l *kinds.Listener) {
	l.StickySession, l.XForwardedFor, l.Gzip = kinds.Off, kinds.On, kinds.On
	l.XForwardedForProto, l.XForwardedForSLBIP, l.XForwardedForSLBID = kinds.Off, kinds.Off, kinds.Off
	l.XForwardedForSLBPort, l.XForwardedForClientSrcPort = kinds.Off, kinds.Off
	l.IdleTimeout, l.RequestTimeout = 15, 60
	l.HealthCheck = kinds.HealthCheck{
		Switch: kinds.Off, Type: "http", Method: "head", URI: "/", HTTPCode: "http_2xx",
		HealthyThreshold: 3, UnhealthyThreshold: 3, Timeout: 5, Interval: 2,
	}
	if l.Protocol == kinds.HTTPS {
		l.EnableHTTP2, l.TLSCipherPolicy = kinds.On, defaultTLSCipherPolicy
	} else {
		l.ListenerForward = kinds.Off
	}
}

// settleListener enforces what must be true of a listener after a creation or a
// change.
func settleListener(v *state.View, lb *kinds.LoadBalancer, l *kinds.Listener) error {
	for _, settle := range []func(*state.View, *kinds.LoadBalancer, *kinds.Listener) error{
		checkBandwidth, checkServerGroup, checkMasterSlaveGroup, settleAccessControl, checkTimeouts, settleSticky, checkCertificates, checkSpec,
	} {
		if err := settle(v, lb, l); err != nil {
			return err
		}
	}
	return nil
}

// checkBandwidth keeps the sum of the listeners' bandwidths within the instance's, if the
// instance pays by bandwidth; -1 shares what is left.
func checkBandwidth(v *state.View, lb *kinds.LoadBalancer, l *kinds.Listener) error {
	if l.Bandwidth == 0 {
		return gateway.Invalid("Bandwidth")
	}
	if lb.InternetChargeType != kinds.PayByBandwidth {
		return nil
	}
	sum := max(l.Bandwidth, 0)
	for other := range kinds.ListenersByLoadBalancer.List(v, lb.ID) {
		if other.ID() != l.ID() {
			sum += max(other.Bandwidth, 0)
		}
	}
	if sum > lb.Bandwidth {
		return errListenerBandwidthExceeded
	}
	return nil
}

func checkServerGroup(v *state.View, lb *kinds.LoadBalancer, l *kinds.Listener) error {
	if l.VServerGroupID == "" {
		return nil
	}
	g, err := kinds.VServerGroups.Get(v, l.VServerGroupID)
	if err != nil {
		return err
	}
	if g.LoadBalancerID != lb.ID {
		return errVServerGroupForeign
	}
	return nil
}

func checkMasterSlaveGroup(v *state.View, lb *kinds.LoadBalancer, l *kinds.Listener) error {
	if l.MasterSlaveServerGroupID == "" {
		return nil
	}
	g, err := kinds.MasterSlaveServerGroups.Get(v, l.MasterSlaveServerGroupID)
	if err == nil && g.LoadBalancerID != lb.ID {
		return errMasterSlaveGroupForeign
	}
	return err
}

func settleAccessControl(v *state.View, lb *kinds.LoadBalancer, l *kinds.Listener) error {
	if l.AclStatus != kinds.On {
		l.AclIDs, l.AclType = nil, ""
		return nil
	}
	switch {
	case len(l.AclIDs) == 0:
		return gateway.Missing("AclId")
	case l.AclType == "":
		return gateway.Missing("AclType")
	}
	bound := boundACLs(v, l.ID())
	if more := len(l.AclIDs) - len(bound); more > 0 {
		if err := v.Use(kinds.QuotaListenerACLs, l.ID(), more); err != nil {
			return err
		}
	}
	for _, id := range l.AclIDs {
		acl, err := kinds.AccessControlLists.Get(v, id)
		if err != nil {
			return err
		}
		if acl.AddressIPVersion != lb.AddressIPVersion {
			return errIPVersionConflict
		}
		if !slices.Contains(bound, id) {
			if err := v.Use(kinds.QuotaACLAttached, id, 1); err != nil {
				return err
			}
		}
	}
	return checkACLEntries(v, l)
}

// checkACLEntries refuses lists of a listener that have an entry in common, or too many
// together.
func checkACLEntries(v *state.View, l *kinds.Listener) error {
	all := make(map[netip.Prefix]bool)
	for _, id := range l.AclIDs {
		acl, err := kinds.AccessControlLists.Get(v, id)
		if err != nil {
			return err
		}
		for _, e := range acl.Entries {
			block, _ := parseEntry(e.Entry) // addAccessControlListEntry has parsed it
			if all[block.Masked()] {
				return errAclEntryInTwoLists.Of(id)
			}
			all[block.Masked()] = true
		}
	}
	if len(all) > maxListenerACLEntries {
		return errListenerACLEntries.Of(l.ID())
	}
	return nil
}

// maxListenerACLEntries limits the entries of all lists of a listener. Page "Access
// control", 2025-07; CLB-0170.
const maxListenerACLEntries = 1000

// boundACLs returns the access control lists that a listener has now, or none for a new listener.
func boundACLs(v *state.View, listenerID string) []string {
	if l, ok := kinds.Listeners.Find(v, listenerID); ok {
		return l.AclIDs
	}
	return nil
}

func checkTimeouts(_ *state.View, _ *kinds.LoadBalancer, l *kinds.Listener) error {
	switch {
	case l.IdleTimeout > maxIdleTimeout:
		return errIdleTimeoutTooLong
	case l.RequestTimeout > maxRequestTimeout:
		return errRequestTimeoutTooLong
	}
	return nil
}

// settleSticky wants what the kind of stickiness needs, and clears what it does
// not use.
func settleSticky(_ *state.View, _ *kinds.LoadBalancer, l *kinds.Listener) error {
	if l.StickySession != kinds.On {
		l.StickySessionType, l.Cookie, l.CookieTimeout = "", "", 0
		return nil
	}
	switch l.StickySessionType {
	case "":
		return gateway.Missing("StickySessionType")
	case "insert":
		l.Cookie = ""
		if l.CookieTimeout == 0 {
			return gateway.Missing("CookieTimeout")
		}
	case "server":
		l.CookieTimeout = 0
		if l.Cookie == "" {
			return gateway.Missing("Cookie")
		}
	}
	return nil
}

func checkCertificates(v *state.View, _ *kinds.LoadBalancer, l *kinds.Listener) error {
	if l.Protocol != kinds.HTTPS {
		return nil
	}
	if l.ServerCertificateID == "" {
		return errServerCertificateMissing
	}
	if _, err := kinds.ServerCertificates.Get(v, l.ServerCertificateID); err != nil {
		return err
	}
	if _, ok := kinds.CACertificates.Find(v, l.CACertificateID); l.CACertificateID != "" && !ok {
		return errListenerCertificateUnknown.Of(l.CACertificateID)
	}
	return checkTLSCipherPolicy(v, l)
}

// hashing are the schedulers that need a spec. CLB-0581.
var hashing = []string{"sch", "tch", "qch"}

// checkSpec refuses settings that a shared or an IPv6 instance does not have, unless the listener
// has them already.
func checkSpec(v *state.View, lb *kinds.LoadBalancer, l *kinds.Listener) error {
	before, ok := kinds.Listeners.Find(v, l.ID())
	if !ok {
		before = &kinds.Listener{TLSCipherPolicy: defaultTLSCipherPolicy}
	}
	fullNAT := l.FullNATEnabled && !before.FullNATEnabled
	switch {
	case fullNAT && lb.AddressIPVersion == ipv6:
		return errIPv6LacksFullNAT
	case !isShared(lb):
		return nil
	case fullNAT:
		return errSharedLacksFullNAT
	case l.Scheduler != before.Scheduler && slices.Contains(hashing, l.Scheduler):
		return errSharedLacksScheduler.Of(l.Scheduler)
	case l.Protocol == kinds.HTTPS && l.TLSCipherPolicy != before.TLSCipherPolicy:
		return errSharedLacksPolicy.Of("TLSCipherPolicy")
	}
	return nil
}

// checkTLSCipherPolicy wants one of the cloud's own policies or of the account's,
// which takes listeners except during a change.
func checkTLSCipherPolicy(v *state.View, l *kinds.Listener) error {
	if slices.Contains(kinds.BuiltInTLSCipherPolicies, l.TLSCipherPolicy) {
		return nil
	}
	p, err := kinds.TLSCipherPolicies.Get(v, l.TLSCipherPolicy)
	if err != nil {
		return err
	}
	if before, ok := kinds.Listeners.Find(v, l.ID()); ok && before.TLSCipherPolicy == p.ID {
		return nil
	}
	if p.Activity == state.Busy {
		return errPolicyBusy
	}
	return v.Use(kinds.QuotaTLSCipherPolicyListeners, p.ID, 1)
}

// splitAclIDs reads the comma list that AclId takes.
func splitAclIDs(text string) []string {
	var ids []string
	for id := range strings.SplitSeq(text, ",") {
		if id = strings.TrimSpace(id); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
