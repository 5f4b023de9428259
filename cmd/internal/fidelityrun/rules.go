package fidelityrun

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// kind is something that a run makes and deletes again. Only such things are made: each can
// have a tag from its creation, which finds it again without the answer.
type kind struct {
	product, create string
	id              string // the field of the answer that has the id
	tagged          string // the ResourceType of ListTagResources
	remove          string
	parameter       string // of remove, the id
	gone            string // the code by which remove says that there is no such thing
	// unprotect is the call that takes deletion protection off, if there is any.
	unprotect       string
	unprotectParams map[string]string
	// slow is true if a deletion goes on after its answer.
	slow bool
	// look is the call that answers the id of a thing that exists, and lookFor its parameter.
	look, lookFor string
}

var kinds = []kind{
	{product: "Slb", create: "CreateLoadBalancer", id: "LoadBalancerId", tagged: "instance", remove: "DeleteLoadBalancer", parameter: "LoadBalancerId",
		gone: "InvalidLoadBalancerId.NotFound", unprotect: "SetLoadBalancerDeleteProtection", unprotectParams: map[string]string{"DeleteProtection": "off"}, look: "DescribeLoadBalancers", lookFor: "LoadBalancerId"},
	{product: "Slb", create: "CreateAccessControlList", id: "AclId", tagged: "acl", remove: "DeleteAccessControlList", parameter: "AclId", gone: "AclNotExist", look: "DescribeAccessControlListAttribute", lookFor: "AclId"},
	{product: "Slb", create: "UploadServerCertificate", id: "ServerCertificateId", tagged: "certificate", remove: "DeleteServerCertificate", parameter: "ServerCertificateId", gone: "ServerCertificateId.NotFound", look: "DescribeServerCertificates", lookFor: "ServerCertificateId"},
	{product: "Slb", create: "UploadCACertificate", id: "CACertificateId", tagged: "certificate", remove: "DeleteCACertificate", parameter: "CACertificateId", gone: "CACertificateId.NotFound", look: "DescribeCACertificates", lookFor: "CACertificateId"},
	{product: "Nlb", create: "CreateLoadBalancer", id: "LoadbalancerId", tagged: "loadbalancer", remove: "DeleteLoadBalancer", parameter: "LoadBalancerId",
		gone: "ResourceNotFound.loadBalancer", unprotect: "UpdateLoadBalancerProtection", unprotectParams: map[string]string{"DeletionProtectionEnabled": "false"}, slow: true, look: "ListLoadBalancers", lookFor: "LoadBalancerIds.1"},
	{product: "Nlb", create: "CreateServerGroup", id: "ServerGroupId", tagged: "servergroup", remove: "DeleteServerGroup", parameter: "ServerGroupId", gone: "ResourceNotFound.serverGroup", slow: true, look: "ListServerGroups", lookFor: "ServerGroupIds.1"},
	{product: "Nlb", create: "CreateSecurityPolicy", id: "SecurityPolicyId", tagged: "securitypolicy", remove: "DeleteSecurityPolicy", parameter: "SecurityPolicyId", gone: "ResourceNotFound.SecurityPolicy", look: "ListSecurityPolicy", lookFor: "SecurityPolicyIds.1"},
}

// kindOf returns what a creation makes, or nil if it makes nothing deleted on its own.
func kindOf(product, create string) *kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.product == product && k.create == create })
	if i < 0 {
		return nil
	}
	return &kinds[i]
}

// changes lists the other changes that a run makes, by product and by the parameter that
// names what they change. That must be something which the run made. An action that is not
// here is never sent: it orders something, changes the account, or leaves something behind.
var changes = map[string]map[string][]string{
	"Slb": {
		"LoadBalancerId": {"CreateLoadBalancerTCPListener", "CreateLoadBalancerUDPListener", "CreateLoadBalancerHTTPListener", "CreateLoadBalancerHTTPSListener",
			"SetLoadBalancerTCPListenerAttribute", "SetLoadBalancerUDPListenerAttribute", "SetLoadBalancerHTTPListenerAttribute", "SetLoadBalancerHTTPSListenerAttribute",
			"StartLoadBalancerListener", "StopLoadBalancerListener", "DeleteLoadBalancerListener", "SetListenerAccessControlStatus", "AddListenerWhiteListItem", "RemoveListenerWhiteListItem",
			"CreateVServerGroup", "CreateMasterSlaveServerGroup", "CreateRules", "CreateDomainExtension", "AddBackendServers", "SetBackendServers", "RemoveBackendServers",
			"SetLoadBalancerName", "SetLoadBalancerStatus", "SetLoadBalancerDeleteProtection", "SetLoadBalancerModificationProtection", "ModifyLoadBalancerInstanceSpec", "ModifyLoadBalancerInternetSpec",
			"AddTags", "RemoveTags", "DeleteLoadBalancer"},
		"VServerGroupId":           {"DeleteVServerGroup", "SetVServerGroupAttribute", "AddVServerGroupBackendServers", "RemoveVServerGroupBackendServers", "ModifyVServerGroupBackendServers"},
		"MasterSlaveServerGroupId": {"DeleteMasterSlaveServerGroup"},
		"RuleId":                   {"SetRule"},
		"RuleIds":                  {"DeleteRules"},
		"DomainExtensionId":        {"DeleteDomainExtension", "SetDomainExtensionAttribute"},
		"AclId":                    {"DeleteAccessControlList", "SetAccessControlListAttribute", "AddAccessControlListEntry", "RemoveAccessControlListEntry"},
		"ServerCertificateId":      {"DeleteServerCertificate", "SetServerCertificateName"},
		"CACertificateId":          {"DeleteCACertificate", "SetCACertificateName"},
		"ResourceId":               {"TagResources", "UntagResources"},
	},
	"Nlb": {
		"LoadBalancerId":   {"CreateListener", "DeleteLoadBalancer", "UpdateLoadBalancerAttribute", "UpdateLoadBalancerProtection", "UpdateLoadBalancerZones", "StartShiftLoadBalancerZones", "CancelShiftLoadBalancerZones"},
		"ListenerId":       {"DeleteListener", "StartListener", "StopListener", "UpdateListenerAttribute"},
		"ServerGroupId":    {"DeleteServerGroup", "UpdateServerGroupAttribute", "AddServersToServerGroup", "RemoveServersFromServerGroup", "UpdateServerGroupServersAttribute"},
		"SecurityPolicyId": {"DeleteSecurityPolicy", "UpdateSecurityPolicyAttribute"},
		"ResourceId":       {"TagResources", "UntagResources"},
	},
}

// parts lists the fields of the answers of changes that have ids of parts of something which
// the run made. The parts go with it.
var parts = []string{"VServerGroupId", "MasterSlaveServerGroupId", "RuleId", "DomainExtensionId", "ListenerId"}

// targetOf returns the parameter that names what an action changes, or "" for one that is never
// sent.
func targetOf(product, action string) string {
	for parameter, actions := range changes[product] {
		if slices.Contains(actions, action) {
			return parameter
		}
	}
	return ""
}

// targets lists what a call changes: the values of a parameter, of a list or of a list in JSON.
func targets(parameter string, params map[string]string) (list []string) {
	for name, value := range params {
		if name != parameter && !strings.HasPrefix(name, parameter+".") {
			continue
		}
		var several []string
		if json.Unmarshal([]byte(value), &several) == nil {
			list = append(list, several...)
			continue
		}
		list = append(list, strings.Split(value, ",")...)
	}
	return list
}

// ordering finds parameters that order something which can't be given back.
var (
	orderingName  = pattern(`^(AutoPay|Duration|PricingCycle|Period|PeriodUnit|AutoRenew)$`)
	orderingValue = pattern(`(?i)^(prepay|prepaid)$`)
)

// allowed refuses a change that a run must not send. Mine reports whether the run made what
// an id names.
func allowed(product, action, region string, params map[string]string, mine func(id string) bool) error {
	for name, value := range params {
		if orderingName().MatchString(name) || orderingValue().MatchString(value) {
			return fmt.Errorf("%s with %s orders a subscription, which can't be undone", action, name)
		}
	}
	if other, given := params["RegionId"]; given && other != region {
		return fmt.Errorf("%s would change another region", action)
	}
	if kindOf(product, action) != nil {
		if len(listed(params, "Tag")) > mostTags {
			return fmt.Errorf("%s has so many tags that there is no room for the one by which the run finds what it made", action)
		}
		return nil
	}
	parameter := targetOf(product, action)
	if parameter == "" {
		return fmt.Errorf("%s %s can't be undone, or changes more than what the run makes", product, action)
	}
	of := targets(parameter, params)
	if len(of) == 0 {
		return fmt.Errorf("%s names nothing that the run made: there is no %s", action, parameter)
	}
	for _, id := range of {
		if !mine(id) {
			return fmt.Errorf("%s names something that the run did not make in %s", action, parameter)
		}
	}
	return nil
}

// mostTags leaves room for one more.
const mostTags = 10

// listed returns the numbers of a list's elements, as texts.
func listed(params map[string]string, list string) map[string]bool {
	numbers := make(map[string]bool)
	for name := range params {
		if rest, is := strings.CutPrefix(name, list+"."); is {
			number, _, _ := strings.Cut(rest, ".")
			numbers[number] = true
		}
	}
	return numbers
}
