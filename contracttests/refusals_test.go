package contracttests

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alibabacloud-go/tea/tea"
	sdkerrors "github.com/aliyun/alibaba-cloud-sdk-go/sdk/errors"

	"github.com/clbemu/clbemu/contracttests/record"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
)

// refusal is a row of the page of refusals: how to cause it, the cloud's answer, and
// how to clear it.
type refusal struct {
	about   string
	product string // Slb if empty
	action  string
	params  params
	status  int // 400 if 0
	code    string
	message string
	begin   []cause
	end     []cause
	// If the call itself is the cause: the params that replace the wrong ones in the
	// end, and how the page describes both.
	good         params
	wrong, right string
}

// cause is something that brings a refusal about or ends it.
type cause struct {
	text string // for the page
	do   func(*refusalRun) error
}

// refusalRun is a prepared cloud that the real SDK calls.
type refusalRun struct {
	*preparedSDK
	t     *testing.T
	host  string
	store *state.Store
}

// worldSet changes a condition as `clbemu world set` does.
func worldSet(name, value string) cause {
	return cause{"`clbemu world set " + name + "=" + value + "`", func(r *refusalRun) error {
		return r.store.Update(state.Owner{}, func(tx *state.Tx) error {
			return conditions.Set(tx, state.Owner{}, []conditions.Setting{{Name: name, Value: value}})
		})
	}}
}

// clockAdvance moves the clock as `clbemu clock advance` does.
func clockAdvance(by string) cause {
	return cause{"`clbemu clock advance " + by + "`", func(r *refusalRun) error {
		d, err := time.ParseDuration(by)
		if err != nil {
			return err
		}
		return r.store.AdjustClock(d, 0)
	}}
}

// takeCredentials goes on with what the metadata service gives the role of a node.
var takeCredentials = cause{"take the RAM role's credentials from the metadata service", func(r *refusalRun) error {
	r.sdkClients = newSTSClient(r.t, r.host, roleCredentials(r.t, "http://"+r.host))
	return nil
}}

// calls makes a call, with the SDK, that must succeed.
func calls(action string, p params, save ...string) cause {
	s := step{product: "Slb", action: action, params: p}
	if len(save) > 0 {
		s.save = saveAs(save[0], save[1])
	}
	return callsOf(s)
}

func callsOf(s step) cause {
	return cause{"`" + s.action + "`" + shownParams(s.params), func(r *refusalRun) error {
		r.prepare(r.t, []step{s})
		return nil
	}}
}

// saved matches the place of a value that an earlier call answered.
var saved = regexp.MustCompile(`\{[A-Za-z]+\}`)

// shownParams returns the parameters that make the difference, for the page.
func shownParams(p params) string {
	var shown []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		value := p[name]
		if strings.HasPrefix(value, "{") || saved.MatchString(value) || len(value) > 40 || name == "InstanceChargeType" && value == "PayByCLCU" {
			continue
		}
		shown = append(shown, "`"+name+"="+value+"`")
	}
	if len(shown) == 0 {
		return ""
	}
	return " with " + strings.Join(shown, ", ")
}

// inSteps makes calls without telling each on the page.
func inSteps(text string, causes ...cause) cause {
	return cause{text, func(r *refusalRun) error {
		for _, c := range causes {
			if err := c.do(r); err != nil {
				return err
			}
		}
		return nil
	}}
}

// ports returns BackendServers with n ports of a server, from a first on.
func ports(id string, first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = server(id, first+i, 100)
	}
	return servers(list...)
}

func addTo(group, list string) cause {
	return calls("AddVServerGroupBackendServers", params{"VServerGroupId": group, "BackendServers": list})
}

var (
	buyInternet = params{"AddressType": "internet", "InstanceChargeType": "PayByCLCU"}
	buyIntranet = params{"AddressType": "intranet", "VSwitchId": vsw1, "InstanceChargeType": "PayByCLCU", "ClientToken": "once"}
	newTCP      = params{"LoadBalancerId": "{lb}", "ListenerPort": "1000", "Bandwidth": "-1", "BackendServerPort": "80"}
	newHTTPS    = params{"LoadBalancerId": "{lb}", "ListenerPort": "1000", "Bandwidth": "-1", "BackendServerPort": "80",
		"StickySession": "off", "HealthCheck": "off", "ServerCertificateId": "{cert}"}
	// lateCertificate is still valid when the other one has expired.
	lateCertificate, lateKey = newCertificate(time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC))
	_, otherKey              = newCertificate(start)

	newRoute = params{"RouteTableId": vtb1, "DestinationCidrBlock": "172.20.9.0/24", "NextHopType": "Instance", "NextHopId": node2}
	denyAll  = `{"Version":"1","Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}`
	oneMore  = params{"VServerGroupId": "{spareRsp}", "BackendServers": ports(node3, 1, 1)}
)

// newCertificate makes a certificate that is valid until end, with its key.
func newCertificate(end time.Time) (certificate, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: start, NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		panic(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
}

// more returns params with others over them; "" takes one out.
func more(p params, pairs ...string) params {
	m := maps.Clone(p)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

func quotaOf(name, limit string) cause { return worldSet("quota."+name, limit) }

// overQuota returns a row that a quota causes.
func overQuota(about, action string, p params, name, limit, code, message string) refusal {
	return refusal{about: about, action: action, params: p, code: code, message: message,
		begin: []cause{quotaOf(name, limit)}, end: []cause{quotaOf(name, "default")}}
}

// tooSoon returns a row that a change in progress causes.
func tooSoon(about, action string, p params, status int, code, message string, first cause, after ...cause) refusal {
	r := refusal{about: about, action: action, params: p, status: status, code: code, message: message,
		begin: []cause{clockAdvance("0s"), worldSet("life.profile", "realistic"), first}, end: []cause{clockAdvance("10s")}}
	for _, c := range after {
		r.end = append(r.end, c, clockAdvance("10s"))
	}
	return r
}

// ofProduct returns a row of another product than Slb.
func ofProduct(product string, r refusal) refusal {
	r.product = product
	return r
}

// tagsOnLB tags the load balancer, which has one tag.
func tagsOnLB(n int) params {
	p := params{"ResourceType": "instance", "ResourceId.1": "{lb}"}
	for i := range n {
		p[fmt.Sprintf("Tag.%d.Key", i+1)] = fmt.Sprintf("key-%d", i)
	}
	return p
}

var refusals = []refusal{
	{about: "More than 200 backends on one load balancer", action: "AddVServerGroupBackendServers", params: oneMore,
		code: "InstanceBackendServerNumberOverLimit", message: "The backend server number has reached to the quota limit of this load balancers",
		begin: []cause{worldSet("quota.slb_quota_backendserver_attached_num", "1000"), inSteps("add up to 200 backends, over all groups",
			addTo("{spareRsp}", ports(node1, 1000, 40)), addTo("{spareRsp}", ports(node1, 2000, 40)), addTo("{spareRsp}", ports(node1, 3000, 40)),
			addTo("{spareRsp}", ports(node1, 4000, 40)), addTo("{spareRsp}", ports(node2, 1000, 36)))},
		end: []cause{calls("RemoveVServerGroupBackendServers", params{"VServerGroupId": "{spareRsp}", "BackendServers": ports(node1, 1000, 1)})}},
	{about: "The same with a new group, in the singular", action: "CreateVServerGroup",
		params: params{"LoadBalancerId": "{lb}", "BackendServers": ports(node1, 5000, 1)},
		code:   "InstanceBackendServerNumberOverLimit", message: "The backend server number has reached to the quota limit of this load balancer",
		begin: []cause{worldSet("quota.slb_quota_backendservers_num", "1")},
		end:   []cause{worldSet("quota.slb_quota_backendservers_num", "200")}},
	{about: "A server that is a backend more than 50 times", action: "AddVServerGroupBackendServers", params: more(oneMore, "BackendServers", ports(node2, 1, 1)),
		code: "OverQuota", message: "The Total is over the quota.",
		begin: []cause{inSteps("add one server on 49 ports more", addTo("{spareRsp}", ports(node2, 1000, 40)), addTo("{spareRsp}", ports(node2, 2000, 9)))},
		end:   []cause{calls("RemoveVServerGroupBackendServers", params{"VServerGroupId": "{spareRsp}", "BackendServers": ports(node2, 1000, 1)})}},
	{about: "ENI backend on a shared-resource instance", action: "CreateVServerGroup",
		params: params{"LoadBalancerId": "{shared}", "BackendServers": `[{"ServerId":"` + eni1 + `","Type":"eni","Port":80}]`},
		code:   "OperationFailed.ActionNotSupport", message: "The loadbalancer does not support backend servers of eni type",
		begin: []cause{worldSet("cloud.year", "2021"), calls("CreateLoadBalancer", params{"AddressType": "internet", "InternetChargeType": "paybytraffic"}, "shared", "LoadBalancerId")},
		end:   []cause{calls("ModifyLoadBalancerInstanceSpec", params{"LoadBalancerId": "{shared}", "LoadBalancerSpec": "slb.s2.small"})}},
	{about: "Shared instances are no longer sold", action: "CreateLoadBalancer", params: params{"AddressType": "internet"},
		code: "ShareSlbHaltSales", message: "The share instance has been discontinued.",
		begin: []cause{worldSet("cloud.year", "2024")}, end: []cause{worldSet("cloud.year", "today")}},
	{about: "Pay-by-specification is no longer sold", action: "CreateLoadBalancer",
		params: params{"AddressType": "internet", "InstanceChargeType": "PayBySpec", "LoadBalancerSpec": "slb.s1.small"},
		code:   "IllegalParam.InstanceChargeType", message: "The parameter InstanceChargeType is illegal.",
		begin: []cause{worldSet("cloud.year", "today")}, end: []cause{worldSet("cloud.year", "2024")}},
	{about: "Pay-by-specification without a spec", action: "CreateLoadBalancer", params: params{"AddressType": "internet", "InstanceChargeType": "PayBySpec"},
		code: "MissingParam.LoadBalancerSpec", message: "The param LoadBalancerSpec is required.",
		begin: []cause{worldSet("cloud.year", "2024")}, wrong: "", right: "the same call with a `LoadBalancerSpec`",
		good: params{"AddressType": "internet", "InstanceChargeType": "PayBySpec", "LoadBalancerSpec": "slb.s1.small"}},
	{about: "Subscriptions are no longer sold", action: "CreateLoadBalancer",
		params: params{"AddressType": "intranet", "VSwitchId": vsw1, "InstanceChargeType": "PayBySpec", "LoadBalancerSpec": "slb.s1.small", "PayType": "PrePay"},
		code:   "Operation.NotAllowed", message: "Operation Denied. Subscription instances are no longer sold.",
		begin: []cause{worldSet("cloud.year", "today")}, end: []cause{worldSet("cloud.year", "2024")}},
	{about: "The same, for an existing load balancer", action: "ModifyLoadBalancerPayType", params: params{"LoadBalancerId": "{wide}", "PayType": "PrePay"},
		code: "Operation.NotAllowed", message: "Operation Denied. Subscription instances are no longer sold.",
		begin: []cause{worldSet("cloud.year", "today")}, end: []cause{worldSet("cloud.year", "2024")}},
	{about: "vSwitch without a free address; the ClientToken is not used up", action: "CreateLoadBalancer", params: buyIntranet,
		code: "VSwitchAvailableIpNotExist", message: "The specified VSwitch has no available ip.",
		begin: []cause{worldSet("vswitch."+vsw1+".freeAddresses", "0")}, end: []cause{worldSet("vswitch."+vsw1+".freeAddresses", "all")}},
	{about: "The same, with another vSwitch and the same ClientToken", action: "CreateLoadBalancer", params: buyIntranet,
		code: "VSwitchAvailableIpNotExist", message: "The specified VSwitch has no available ip.",
		begin: []cause{worldSet("vswitch."+vsw1+".freeAddresses", "0")}, wrong: "", right: "the same call with another `VSwitchId`", good: more(buyIntranet, "VSwitchId", vsw2)},
	{about: "Account in arrears", action: "CreateLoadBalancer", params: buyInternet, code: "ORDER.ARREARAGE", message: "The account is arrearage.",
		begin: []cause{worldSet("account.arrears", "true")}, end: []cause{worldSet("account.arrears", "false")}},
	{about: "Balance under 100", action: "CreateLoadBalancer", params: buyInternet, code: "PAY.INSUFFICIENT_BALANCE", message: "Your account does not have enough balance.",
		begin: []cause{worldSet("account.balance", "99")}, end: []cause{worldSet("account.balance", "100")}},
	{about: "Load balancers locked after the days of grace", action: "SetLoadBalancerName", params: params{"LoadBalancerId": "{lb}", "LoadBalancerName": "x"},
		code: "ActionNotAllowed", message: "Locked for any Business Reason.",
		begin: []cause{worldSet("account.arrears", "true"), clockAdvance("360h")}, end: []cause{worldSet("account.arrears", "false")}},
	{about: "The same, for the removal of backends", action: "RemoveVServerGroupBackendServers",
		params: params{"VServerGroupId": "{rsp}", "BackendServers": ports(node1, 30080, 1)},
		code:   "LbStatusNotSupport", message: "The status of specified loadbalancer does not support..",
		begin: []cause{worldSet("account.arrears", "true"), clockAdvance("360h")}, end: []cause{worldSet("account.arrears", "false")}},
	{about: "Call rate of an access key", action: "DescribeRegions", code: "Throttling.User", message: "Request was denied due to user flow control.",
		begin: []cause{worldSet("throttle.key", "0.001/1"), calls("DescribeZones", nil)}, end: []cause{worldSet("throttle.key", "default")}},
	{about: "Call rate of an action", action: "DescribeRegions", code: "Throttling.Api", message: "Request was denied due to api flow control.",
		begin: []cause{worldSet("throttle.action.DescribeRegions", "0.001/1"), calls("DescribeRegions", nil)}, end: []cause{worldSet("throttle.action.DescribeRegions", "default")}},
	{about: "Call rate of an account", action: "DescribeRegions", code: "Throttling", message: "Request was denied due to request throttling.",
		begin: []cause{worldSet("throttle.account", "0.001/1"), calls("DescribeZones", nil)}, end: []cause{worldSet("throttle.account", "default")}},
	{about: "Server group used by a listener", action: "DeleteVServerGroup", params: params{"VServerGroupId": "{spareRsp}"},
		code: "RspoolVipExist", message: "there are vips associating with this vServer group.",
		begin: []cause{calls("CreateLoadBalancerTCPListener", more(newTCP, "VServerGroupId", "{spareRsp}"))},
		end:   []cause{calls("DeleteLoadBalancerListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "1000"})}},
	{about: "Server group used by a rule", action: "DeleteVServerGroup", params: params{"VServerGroupId": "{spareRsp}"},
		code: "RspoolRuleExist", message: "there are rules associating with this vServer group.",
		begin: []cause{calls("CreateRules", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080",
			"RuleList": `[{"RuleName":"r","Domain":"r.example.com","VServerGroupId":"{spareRsp}"}]`}, "r", "Rules.Rule.0.RuleId")},
		end: []cause{calls("DeleteRules", params{"RuleIds": `["{r}"]`})}},
	{about: "Backend outside the load balancer's VPC", action: "CreateVServerGroup",
		params: params{"LoadBalancerId": "{inner}", "BackendServers": ports(foreign1, 80, 1)},
		code:   "NetworkConflict", message: "there are network conflicts in specified parameter.",
		wrong: "a server of another VPC", right: "a server of the VPC", good: params{"LoadBalancerId": "{inner}", "BackendServers": ports(node1, 80, 1)}},
	{about: "Backend outside the VPC of the first backends of an internet load balancer", action: "CreateVServerGroup",
		params: params{"LoadBalancerId": "{wide}", "BackendServers": ports(foreign1, 80, 1)},
		code:   "NetworkConflict", message: "there are network conflicts in specified parameter.",
		begin: []cause{calls("AddBackendServers", params{"LoadBalancerId": "{wide}", "BackendServers": servers(server(node1, 0, 100))})},
		end:   []cause{calls("RemoveBackendServers", params{"LoadBalancerId": "{wide}", "BackendServers": servers(server(node1, 0, 100))})}},
	{about: "Port of a backend out of range", action: "AddVServerGroupBackendServers",
		params: params{"VServerGroupId": "{spareRsp}", "BackendServers": `[{"ServerId":"` + node1 + `","Port":0}]`},
		code:   "InvalidParameter", message: "The specified Port must be between 1 and 65535.", wrong: "`Port` 0 or none", right: "a `Port` from 1 to 65535", good: oneMore},
	{about: "Port of a listener out of range", action: "CreateLoadBalancerTCPListener", params: more(newTCP, "ListenerPort", "70000"),
		code: "InvalidParam.ListenerPort", message: "The specified ListenerPort is invalid.", wrong: "`ListenerPort=70000`", right: "a `ListenerPort` from 1 to 65535", good: newTCP},
	{about: "Spec of a PayByCLCU instance", action: "ModifyLoadBalancerInstanceSpec", params: params{"LoadBalancerId": "{lb}", "LoadBalancerSpec": "slb.s3.small"},
		code: "OperationDenied.PayByCLCU", message: "The operation is not allowed because the instanceChargeType of loadbalancer is PayByCLCU.",
		end: []cause{worldSet("account.lcuToSpec", "true"), calls("ModifyLoadBalancerInstanceChargeType",
			params{"LoadBalancerId": "{lb}", "InstanceChargeType": "PayBySpec", "LoadBalancerSpec": "slb.s2.small"})}},
	{about: "Bandwidth of a PayByCLCU instance", action: "ModifyLoadBalancerInternetSpec", params: params{"LoadBalancerId": "{lb}", "InternetChargeType": "paybytraffic"},
		code: "OperationDenied.PayByCLCU", message: "The operation is not allowed because the instanceChargeType of loadbalancer is PayByCLCU.",
		end: []cause{worldSet("account.lcuToSpec", "true"), calls("ModifyLoadBalancerInstanceChargeType",
			params{"LoadBalancerId": "{lb}", "InstanceChargeType": "PayBySpec", "LoadBalancerSpec": "slb.s2.small"})}},
	{about: "PayByCLCU back to PayBySpec", action: "ModifyLoadBalancerInstanceChargeType",
		params: params{"LoadBalancerId": "{lb}", "InstanceChargeType": "PayBySpec", "LoadBalancerSpec": "slb.s2.small"},
		code:   "Forbidden.LcuToSpec", message: "User does not have permission modify InstanceChargeType to spec.",
		end: []cause{worldSet("account.lcuToSpec", "true")}},
	{about: "Deletion protection", action: "DeleteLoadBalancer", params: params{"LoadBalancerId": "{kept}"},
		code: "OperationDenied.DeleteProtectionIsOn", message: "The loadbalancer can not be deleted due to DeleteProtection is enabled.",
		end: []cause{calls("SetLoadBalancerDeleteProtection", params{"LoadBalancerId": "{kept}", "DeleteProtection": "off"})}},
	{about: "RAM policy, Slb", action: "DescribeLoadBalancers", status: 403, code: "Forbidden", message: "User not authorized to operate on the specified resource.",
		begin: []cause{worldSet("policy.key.testid", denyAll)}, end: []cause{worldSet("policy.key.testid", "none")}},
	{about: "RAM policy, Vpc", product: "Vpc", action: "DescribeVpcs", status: 403, code: "Forbidden.RAM",
		message: "User not authorized to operate on the specified resource, or this API doesn't support RAM.",
		begin:   []cause{worldSet("policy.key.testid", denyAll)}, end: []cause{worldSet("policy.key.testid", "none")}},
	{about: "RAM policy, Ecs", product: "Ecs", action: "DescribeInstances", status: 403, code: "Forbidden.RAM",
		message: "User not authorized to operate on the specified resource, or this API doesn't support RAM.",
		begin:   []cause{worldSet("policy.key.testid", denyAll)}, end: []cause{worldSet("policy.key.testid", "none")}},
	{about: "Disabled access key", action: "DescribeRegions", code: "InvalidAccessKeyId.Inactive", message: "Specified access key is disabled.",
		begin: []cause{worldSet("key.testid.status", "inactive")}, end: []cause{worldSet("key.testid.status", "active")}},
	{about: "Deleted access key", action: "DescribeRegions", status: 404, code: "InvalidAccessKeyId.NotFound", message: "Specified access key is not found.",
		begin: []cause{worldSet("key.testid.status", "deleted")}, end: []cause{worldSet("key.testid.secret", "testsecret")}},
	{about: "Expired token of a RAM role", action: "DescribeRegions", code: "InvalidSecurityToken.Expired", message: "Specified SecurityToken is expired.",
		begin: []cause{takeCredentials, clockAdvance("7h")}, end: []cause{takeCredentials}},
	{about: "Zone sold out", action: "CreateLoadBalancer", params: more(buyInternet, "MasterZoneId", "cn-hangzhou-g"),
		code: "OperationFailed.ZoneResourceLimit", message: "The operation failed because of resource limit of the specified zone.",
		begin: []cause{worldSet("stock.cn-hangzhou-g.internet", "soldout")}, end: []cause{worldSet("stock.cn-hangzhou-g.internet", "available")}},
	{about: "Zones that are no pair", action: "CreateLoadBalancer", params: more(buyInternet, "MasterZoneId", "cn-hangzhou-g", "SlaveZoneId", "cn-hangzhou-k"),
		code: "PRODUCT.NOT_AVAILABLE_IZ", message: "The Instance zone id doesn t support", wrong: "a `MasterZoneId` and `SlaveZoneId` that DescribeZones does not pair", right: "two that it does", good: more(buyInternet, "MasterZoneId", "cn-hangzhou-g", "SlaveZoneId", "cn-hangzhou-h")},
	{about: "IPv6 where it is not offered", action: "CreateLoadBalancer", params: more(buyInternet, "AddressIPVersion", "ipv6"),
		code: "RegionOrZonesNotSupportIpv6", message: "The specified region or master/slave zones does not support ipv6.",
		begin: []cause{worldSet("stock.ipv6", "false")}, end: []cause{worldSet("stock.ipv6", "true")}},
	{about: "Address outside the vSwitch", action: "CreateLoadBalancer", params: more(buyIntranet, "Address", "192.168.9.9"),
		code: "InvalidParameter", message: "Illegal parameter. The IP address is not in subnet.", wrong: "an `Address` that is not in the vSwitch", right: "one that is", good: more(buyIntranet, "Address", "192.168.0.201")},
	{about: "Address that is taken", action: "CreateLoadBalancer", params: more(buyIntranet, "Address", "192.168.0.200"),
		code: "InvalidParameter", message: "The vpc Ip is exist.", end: []cause{calls("DeleteLoadBalancer", params{"LoadBalancerId": "{inner}"})}},
	{about: "ACL bound to a listener", action: "DeleteAccessControlList", params: params{"AclId": "{spareAcl}"},
		code: "OperationFailed.AclBindedWithVip", message: "The ACL has binded with vip.",
		begin: []cause{calls("CreateLoadBalancerTCPListener", more(newTCP, "AclId", "{spareAcl}", "AclType", "white", "AclStatus", "on"))},
		end:   []cause{calls("SetLoadBalancerTCPListenerAttribute", params{"LoadBalancerId": "{lb}", "ListenerPort": "1000", "AclStatus": "off"})}},
	{about: "Certificate in use", action: "DeleteServerCertificate", params: params{"ServerCertificateId": "{spareCert}"},
		code: "CertificateAndPrivateKeyIsRefered", message: "The specified certificate is bound to listeners. You cannot delete it.",
		begin: []cause{calls("CreateLoadBalancerHTTPSListener", more(newHTTPS, "ServerCertificateId", "{spareCert}"))},
		end:   []cause{calls("DeleteLoadBalancerListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "1000"})}},
	{about: "Certificate that expired", action: "UploadServerCertificate", params: params{"ServerCertificate": certificate, "PrivateKey": privateKey},
		code: "InvalidParameter", message: "The specified ServerCertificate and PrivateKey fail to validate.",
		begin: []cause{worldSet("account.refuseExpiredCertificates", "true"), clockAdvance("876000h")}, wrong: "", right: "a certificate that is still valid", good: params{"ServerCertificate": lateCertificate, "PrivateKey": lateKey}},
	{about: "Key of another certificate", action: "UploadServerCertificate", params: params{"ServerCertificate": certificate, "PrivateKey": otherKey},
		code: "CertificateNotMatchPrivateKey", message: "Certificate and key does not match.",
		wrong: "the `PrivateKey` of another certificate", right: "its own", good: params{"ServerCertificate": certificate, "PrivateKey": privateKey}},
	{about: "Unknown TLS policy", action: "CreateLoadBalancerHTTPSListener", params: more(newHTTPS, "TLSCipherPolicy", "tls-none"),
		code: "InvalidTLSPolicyId.NotExist", message: "The specified TLS cipher policy does not exist.", wrong: "`TLSCipherPolicy=tls-none`", right: "a built-in policy", good: newHTTPS},

	{about: "EIP for an account in arrears", product: "Vpc", action: "AllocateEipAddress", code: "SYSTEM.SALE_VALIDATE_UNEXPECTED_ERROR",
		message: "You have arrears and do not meet the purchase conditions.",
		begin:   []cause{worldSet("account.arrears", "true")}, end: []cause{worldSet("account.arrears", "false")}},
	{about: "More backends than a call takes", action: "AddVServerGroupBackendServers", params: params{"VServerGroupId": "{spareRsp}", "BackendServers": ports(node3, 1, 41)},
		code: "TooManyBackendServers", message: "The total number of input real servers exceeds max supported number: 40",
		wrong: "41 backends", right: "40 backends", good: params{"VServerGroupId": "{spareRsp}", "BackendServers": ports(node3, 1, 40)}},
	{about: "More tags than a call takes", action: "TagResources", params: tagsOnLB(21), code: "SizeLimitExceeded.Tag", message: "The maximum size of Tag is exceeded.",
		wrong: "21 tags", right: "19 tags", good: tagsOnLB(19)},

	overQuota("Load balancers of an account", "CreateLoadBalancer", buyInternet, "slb_quota_instances_num", "4",
		"ORDER.QUANTITY_INVALID", "The maximum number of SLB instances is exceeded."),
	overQuota("Listeners of a load balancer", "CreateLoadBalancerTCPListener", newTCP, "slb_quota_listeners_num", "9",
		"ListenerNumberOverLimit", "The maximum number of listeners is exceeded."),
	overQuota("Rules of a listener", "CreateRules", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080",
		"RuleList": `[{"RuleName":"r","Domain":"r.example.com","VServerGroupId":"{rsp}"}]`}, "slb_quota_rules_num", "1",
		"TooManyRules", "the number of rules under specified vip is beyond maximum limit."),
	overQuota("Domain extensions of a listener", "CreateDomainExtension", params{"LoadBalancerId": "{lb}", "ListenerPort": "443",
		"Domain": "b.example.com", "ServerCertificateId": "{cert}"}, "slb_quota_domain_extensions_num", "1",
		"DomainExtensionNumberOverLimit", "The number of domainExtension has reached to the quota limit of this listener."),
	overQuota("Server certificates of a region", "UploadServerCertificate", params{"ServerCertificate": certificate, "PrivateKey": privateKey},
		"slb_quota_certs_num", "2", "OverQuota", "The Total is over the quota."),
	overQuota("CA certificates of a region", "UploadCACertificate", params{"CACertificate": certificate}, "slb_quota_ca_certs_num", "2",
		"OverQuota", "The Total is over the quota."),
	overQuota("ACLs of an account", "CreateAccessControlList", params{"AclName": "more"}, "slb_quota_acls_num", "2",
		"AclNumberOverLimit", "The Acl number has reached to the max quota limit."),
	overQuota("Entries of an ACL", "AddAccessControlListEntry", params{"AclId": "{acl}", "AclEntrys": `[{"entry":"11.0.0.0/8"}]`}, "slb_quota_acl_entries_num", "1",
		"AclEntryExceedLimit", "The maximum number of ACL entries is exceeded."),
	overQuota("Tags of a resource", "TagResources", params{"ResourceType": "instance", "ResourceId.1": "{lb}", "Tag.1.Key": "more"}, "slb_quota_tags_num", "1",
		"QuotaLimitExceeds", "The number of tags of {lb} exceeds the quota."),
	overQuota("Listeners of an ACL", "CreateLoadBalancerTCPListener", more(newTCP, "AclId", "{acl}", "AclType", "white", "AclStatus", "on"), "slb_quota_acl_attached_num", "4",
		"AclListenerOverLimit", "The number of listeners of the acl {acl} exceeds the quota."),
	overQuota("ACLs of a listener", "CreateLoadBalancerTCPListener", more(newTCP, "AclId", "{acl},{spareAcl}", "AclType", "white", "AclStatus", "on"), "slb_quota_listener_acls_num", "1",
		"QuotaLimitExceeds.AclAttachedToListener", "The number of acls attached to the listener {lb}_tcp_1000 exceeds the quota."),

	ofProduct("Vpc", overQuota("vSwitches of a VPC", "CreateVSwitch", params{"VpcId": vpc1, "ZoneId": "cn-hangzhou-h", "CidrBlock": "192.168.77.0/24"},
		"vpc_quota_vswitches_num", "2", "QuotaExceeded.VSwitch", "Virtual switch quota exceeded.")),
	ofProduct("Vpc", overQuota("Route tables of a VPC", "CreateRouteTable", params{"VpcId": vpc1}, "vpc_quota_route_tables_num", "1",
		"QuotaExceeded.RouteTable", "VPC RouteTable quota exceeded.")),
	ofProduct("Vpc", overQuota("Routes of a route table", "CreateRouteEntry", newRoute, "vpc_quota_route_entrys_num", "1",
		"QuotaExceeded", "Route entry quota exceeded in this route table.")),
	ofProduct("Vpc", overQuota("EIPs of a region", "AllocateEipAddress", nil, "vpc_quota_eips_num", "2", "QuotaExceeded.Eip", "Elastic IP address quota exceeded")),
	ofProduct("Vpc", overQuota("Common bandwidth packages of a region", "CreateCommonBandwidthPackage", newPackage.params, "cbwp_quota_num", "0",
		"BandwidthPackage.QuotaExceeded", "Create BandwidthPackage has exceeded quota.")),
	ofProduct("Vpc", tooSoon("Route while another is being made", "CreateRouteEntry", newRoute, 400,
		"TaskConflict", "The operation is too frequent, please wait a moment and try again.",
		callsOf(step{product: "Vpc", action: "CreateRouteEntry", params: more(newRoute, "DestinationCidrBlock", "172.20.8.0/24")}))),
	ofProduct("Vpc", tooSoon("EIP that is being associated", "ReleaseEipAddress", params{"AllocationId": "{eip}"}, 400,
		"IncorrectEipStatus", "Current elastic IP status does not support this operation",
		callsOf(step{product: "Vpc", action: "AssociateEipAddress", params: params{"AllocationId": "{eip}", "InstanceId": node3, "InstanceType": "EcsInstance"}}),
		callsOf(step{product: "Vpc", action: "UnassociateEipAddress", params: params{"AllocationId": "{eip}", "InstanceId": node3, "InstanceType": "EcsInstance"}}))),
	ofProduct("Ecs", tooSoon("Network interface that is being changed", "ModifyNetworkInterfaceAttribute", params{"NetworkInterfaceId": eni1, "SourceDestCheck": "false"}, 400,
		"InvalidOperation.Conflict", "Another change of the network interface "+eni1+" is in progress.",
		callsOf(step{product: "Ecs", action: "ModifyNetworkInterfaceAttribute", params: params{"NetworkInterfaceId": eni1, "Description": "of a node"}}))),
	tooSoon("Listener that is starting", "SetLoadBalancerTCPListenerAttribute", params{"LoadBalancerId": "{lb}", "ListenerPort": "90", "Description": "x"}, 400,
		"OperationFailed.ListenerStatusNotSupport", "The status of the listener does not support this operation. Please try again later.",
		calls("StartLoadBalancerListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "90", "ListenerProtocol": "tcp"})),
	tooSoon("Listener that is being configured", "StopLoadBalancerListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "80", "ListenerProtocol": "tcp"}, 400,
		"ServiceIsConfiguring", "A previous configuration is pending; please try again later.",
		calls("SetLoadBalancerTCPListenerAttribute", params{"LoadBalancerId": "{lb}", "ListenerPort": "80", "Description": "x"})),
	tooSoon("Server group that is being changed", "AddVServerGroupBackendServers", oneMore, 400,
		"VServerGroupProcessing", "A previous configuration of the VServer group is pending; please try again later.",
		addTo("{spareRsp}", ports(node1, 1, 1))),
	tooSoon("Default group that is being changed", "RemoveBackendServers", params{"LoadBalancerId": "{lb}", "BackendServers": servers(server(node2, 0, 1))}, 409,
		"BackendServer.configuring", "A previous configuration of the load balancer is pending; please try again later.",
		calls("SetBackendServers", params{"LoadBalancerId": "{lb}", "BackendServers": servers(server(node2, 0, 1))})),
	tooSoon("ClientToken whose first call is running", "CreateLoadBalancer", buyIntranet, 400,
		"OperationFailed.TokenIsProcessing", "The operation is failed, because the Client Token is processing.", calls("CreateLoadBalancer", buyIntranet)),
}

var updateRefusals = flag.Bool("update-refusals", false, "write the page of refusals")

// Each row of the page of refusals goes both ways with the real SDK: refused, to
// the letter, while the cause stands, and accepted when it is gone.
func TestRefusalsGoBothWays(t *testing.T) {
	for _, r := range allRefusals() {
		t.Run(strings.ReplaceAll(r.about, " ", "_"), func(t *testing.T) {
			run := newRefusalRun(t)
			run.causes(r.begin)
			run.refuses(r)
			run.causes(r.end)
			if r.end != nil || r.good != nil {
				if _, err := run.attempt(r, r.good); err != nil {
					t.Errorf("when the cause is gone: %v, want success", err)
				}
			}
		})
	}
}

func newRefusalRun(t *testing.T) *refusalRun {
	t.Helper()
	s, f := startPrepared(t)
	return &refusalRun{preparedSDK: f, t: t, host: s.Host(), store: s.Store()}
}

func (r *refusalRun) causes(list []cause) {
	r.t.Helper()
	for _, c := range list {
		if err := c.do(r); err != nil {
			r.t.Fatalf("%s: %v", c.text, err)
		}
	}
}

// attempt makes the row's call, with other parameters if there are any.
func (r *refusalRun) attempt(row refusal, other params) (any, error) {
	p := row.params
	if other != nil {
		p = other
	}
	product := row.product
	if product == "" {
		product = "Slb"
	}
	return r.call(product, row.action, r.names.resolve(p))
}

func (r *refusalRun) refuses(row refusal) {
	r.t.Helper()
	_, err := r.attempt(row, nil)
	got, ok := asRefused(err)
	if !ok {
		r.t.Fatalf("%s(%v) = %v, want %s", row.action, row.params, err, row.code)
	}
	status, message := row.status, r.names.resolve(params{"m": row.message})["m"]
	if status == 0 {
		status = 400
	}
	if want := (refusedAnswer{status, row.code, message}); got != want {
		r.t.Errorf("%s = %+v, want %+v", row.action, got, want)
	}
}

// refusedAnswer is the answer to a refused call.
type refusedAnswer struct {
	status        int
	code, message string
}

// asRefused returns the refusal as either SDK understood it. The newer one puts the status before
// the message and the RequestId behind it.
func asRefused(err error) (refusedAnswer, bool) {
	var older *sdkerrors.ServerError
	if errors.As(err, &older) {
		return refusedAnswer{older.HttpStatus(), older.ErrorCode(), older.Message()}, true
	}
	var newer *tea.SDKError
	if !errors.As(err, &newer) {
		return refusedAnswer{}, false
	}
	_, message, _ := strings.Cut(tea.StringValue(newer.Message), ", ")
	message, _, _ = strings.Cut(message, " request id: ")
	return refusedAnswer{tea.IntValue(newer.StatusCode), tea.StringValue(newer.Code), message}, true
}

// allRefusals returns the rows of the page.
func allRefusals() []refusal { return slices.Concat(refusals, nlbRefusals) }

const (
	refusalsPage = "../docs/reference/refusals.md"
	eventsPage   = "events.md"
)

// The page of refusals is what the test of them does.
func TestRefusalsPage(t *testing.T) {
	var page strings.Builder
	page.WriteString(`# What clbemu refuses, and how to bring it about

Each row is a test that goes both ways with the real SDK: it is refused while
the cause stands, in these words, and accepted when the cause is gone. The page
is written from the test (contracttests/refusals_test.go). [What a Cloud Controller Manager
writes about it](../../contracttests/events.md) has its Events, by scenario.

| what | action | answer, with 400 where it names no status | how to bring it about | how to end it |
|---|---|---|---|---|
`)
	for _, r := range allRefusals() {
		c := r.cause()
		status := ""
		if c.Status != http.StatusBadRequest {
			status = fmt.Sprint(c.Status, " ")
		}
		fmt.Fprintf(&page, "| %s | %s | %s`%s`: %s | %s | %s |\n", c.About, c.Action, status, c.Code, strings.ReplaceAll(c.Message, "<", "&lt;"), c.Begin, c.End)
	}
	for name, want := range map[string]string{refusalsPage: page.String(), eventsPage: toldByCCM(t)} {
		if *updateRefusals {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s is not what the tests do (%v): run go test ./contracttests -run TestRefusalsPage -update-refusals", name, err)
		}
	}
}

// cause returns the row as clbemu explain shows it.
func (r *refusal) cause() controlapi.Cause {
	c := controlapi.Cause{
		About: r.about, Product: cmp.Or(r.product, "Slb"), Action: r.action, Status: cmp.Or(r.status, 400), Code: r.code, Message: braces(r.message),
		Begin: cmp.Or(shownCauses(r.begin), "it is so from the start"), End: shownCauses(r.end),
	}
	if r.wrong != "" {
		c.Begin = "send " + r.wrong
	}
	if r.right != "" {
		c.End = "send " + r.right
	}
	return c
}

const factsFile = "../emulator/explain/facts.json"

// TestExplainedFacts proves that what clbemu explain says of causes, evidence and Events is
// what the tests of refusals do, what the evidence says and what a CCM wrote. With -update-refusals it
// writes that.
func TestExplainedFacts(t *testing.T) {
	var facts explain.Facts
	for _, r := range allRefusals() {
		facts.Causes = append(facts.Causes, r.cause())
	}
	for _, e := range entries(t) {
		facts.Evidence = append(facts.Evidence, controlapi.Evidence{ID: e.ID, Claim: e.Claim, Source: e.Source, Confidence: e.Confidence, Date: e.Date})
	}
	facts.Events = eventsOf(readCCMEvents(t))
	slices.SortFunc(facts.Evidence, func(a, b controlapi.Evidence) int { return strings.Compare(a.ID, b.ID) })
	if *updateRefusals {
		record.Write(t, factsFile, facts, 2)
	}
	if kept, err := os.ReadFile(factsFile); err != nil || !bytes.Equal(kept, record.Text(t, facts, 2)) {
		t.Errorf("%s is not what the tests do (%v): run make golden", factsFile, err)
	}
}

// braces spells the placeholders of ids for a reader.
func braces(text string) string { return strings.NewReplacer("{", "<", "}", ">").Replace(text) }

func shownCauses(list []cause) string {
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.text
	}
	return strings.Join(texts, "; ")
}
