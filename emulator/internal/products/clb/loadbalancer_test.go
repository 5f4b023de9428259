package clb_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
	"github.com/clbemu/clbemu/state"
)

// expect compares values at paths of a reply, given as path, value, path, value.
func expect(t *testing.T, r gatewaytest.Reply, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := r.Text(pairs[i]); got != pairs[i+1] {
			t.Errorf("%s = %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}

// texts returns one field of each element of a list.
func texts(r gatewaytest.Reply, list, field string) []string {
	var values []string
	elements, _ := r.Get(list).([]any)
	for _, e := range elements {
		values = append(values, gatewaytest.Reply{Body: e.(map[string]any)}.Text(field))
	}
	return values
}

// An internet load balancer is active at once, in a pair of zones, with a public
// address and the documented defaults.
func TestCreateLoadBalancerInternet(t *testing.T) {
	client, _ := newClient(t)
	made := client.Do("CreateLoadBalancer", with(createInternet, "VpcId", vpc1, "Tag.1.Key", "k", "Tag.1.Value", "v"))
	id := made.Text("LoadBalancerId")
	if !strings.HasPrefix(id, "lb-bp1") || !strings.HasPrefix(made.Text("Address"), "198.18.") {
		t.Errorf("made %s at %s, want lb-bp1… in 198.18.0.0/16", id, made.Text("Address"))
	}
	got := client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", id))
	expect(t, got, "LoadBalancerStatus", "active", "AddressType", "internet", "NetworkType", "classic", "VpcId", "", "VSwitchId", "",
		"InternetChargeType", "paybytraffic", "Bandwidth", "5120", "InstanceChargeType", "PayByCLCU", "LoadBalancerSpec", "slb.lcu.elastic",
		"PayType", "PayOnDemand", "DeleteProtection", "off", "ModificationProtectionStatus", "NonProtection", "AddressIPVersion", "ipv4",
		"MasterZoneId", "cn-hangzhou-h", "ResourceGroupId", defaultRG, "LoadBalancerName", "auto_named_slb",
		"CreateTime", "2026-01-02T03:04:05Z", "CreateTimeStamp", "1767323045000", "EndTime", "2999-09-08T16:00:00Z",
		"Tags.Tag.0.TagKey", "k", "Tags.Tag.0.TagValue", "v")
}

// An intranet load balancer takes the network of its vSwitch and an address of
// it, and pays by traffic whatever the request.
func TestCreateLoadBalancerIntranet(t *testing.T) {
	client, store := newClient(t, inYear(kinds.Year2024))
	before := freeAddresses(t, store)
	made := client.Do("CreateLoadBalancer", params("VSwitchId", vSwitch1, "InstanceChargeType", "PayByCLCU", "Address", "192.168.0.200"))
	expect(t, made, "Address", "192.168.0.200", "NetworkType", "vpc", "VpcId", vpc1, "VSwitchId", vSwitch1)
	got := client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", made.Text("LoadBalancerId")))
	expect(t, got, "AddressType", "intranet", "InternetChargeType", "paybytraffic", "InstanceChargeType", "PayByCLCU",
		"LoadBalancerSpec", "slb.lcu.elastic", "MasterZoneId", "cn-hangzhou-h")
	byBandwidth := client.Do("CreateLoadBalancer", with(createIntranet, "LoadBalancerSpec", "slb.s1.small", "InternetChargeType", "paybybandwidth", "Bandwidth", "7"))
	got = client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", byBandwidth.Text("LoadBalancerId")))
	expect(t, got, "InternetChargeType", "paybytraffic", "Bandwidth", "5120")
	if now := freeAddresses(t, store); now != before-2 {
		t.Errorf("free addresses = %d after two creations, want %d", now, before-2)
	}
	client.Do("DeleteLoadBalancer", params("LoadBalancerId", made.Text("LoadBalancerId")))
	if now := freeAddresses(t, store); now != before-1 {
		t.Errorf("free addresses = %d after a deletion, want %d", now, before-1)
	}
}

func freeAddresses(t *testing.T, store *state.Store) int {
	t.Helper()
	v := store.View(owner)
	vSwitch, err := kinds.VSwitches.Get(v, vSwitch1)
	if err != nil {
		t.Fatalf("count addresses: %v", err)
	}
	return kinds.AvailableAddresses(v, vSwitch)
}

// The same token gives the same load balancer; a failed call burns no token; one
// of a deleted load balancer makes a new one.
func TestClientToken(t *testing.T) {
	client, _ := newClient(t, freeInVSwitch1(0))
	call := with(createIntranet, "ClientToken", "token-1")
	if got := client.Call("CreateLoadBalancer", call); got.Code != "VSwitchAvailableIpNotExist" {
		t.Fatalf("CreateLoadBalancer in a full vSwitch = %s, want VSwitchAvailableIpNotExist", got.Code)
	}
	call["VSwitchId"] = "vsw-bp1clbemu000000000002"
	first := client.Do("CreateLoadBalancer", call)
	again := client.Do("CreateLoadBalancer", call)
	expect(t, again, "LoadBalancerId", first.Text("LoadBalancerId"), "Address", first.Text("Address"))
	if first.Text("RequestId") == again.Text("RequestId") {
		t.Error("a repeated call has the RequestId of the first")
	}
	client.Do("DeleteLoadBalancer", params("LoadBalancerId", first.Text("LoadBalancerId")))
	if third := client.Do("CreateLoadBalancer", call); third.Text("LoadBalancerId") == first.Text("LoadBalancerId") {
		t.Error("the token of a deleted load balancer gives it again, want a new one")
	}
}

// withEIP gives a load balancer an EIP.
func withEIP(tx *state.Tx) error {
	own := tx.In(owner)
	ip, err := kinds.AllocateAddress(own, kinds.PublicPool("cn-hangzhou"), "198.18.0.0/16", "", kinds.EIPs.Kind(), "eip-1")
	kinds.EIPs.Put(own, &kinds.EIP{Owner: owner, ID: "eip-1", IPAddress: ip, Status: kinds.EIPInUse, InstanceType: "SlbInstance", InstanceID: lbInternet})
	return err
}

// Deletion takes along listeners, groups, domain extensions and tags, and frees
// the EIP and the address; the store's check finds nothing left over.
func TestDeleteLoadBalancerCascade(t *testing.T) {
	client, store := newClient(t, func(tx *state.Tx) error {
		own := tx.In(owner)
		for kind, id := range map[state.TagResourceType]string{
			kinds.TagLoadBalancer: lbInternet, kinds.TagVServerGroup: "rsp-used",
			kinds.TagListener: kinds.ListenerID(lbInternet, kinds.TCP, 80),
		} {
			state.SetTag(own, kind, id, "k", "v")
		}
		return withEIP(tx)
	})
	client.Do("DeleteLoadBalancer", params("LoadBalancerId", lbInternet))
	for action, p := range map[string]gatewaytest.Params{
		"DescribeLoadBalancerAttribute": params("LoadBalancerId", lbInternet),
		"DescribeVServerGroupAttribute": params("VServerGroupId", "rsp-used"),
		"DeleteDomainExtension":         params("DomainExtensionId", "de-used"),
	} {
		if got := client.Call(action, p); got.Code == "" {
			t.Errorf("%s(%v) still succeeds", action, p)
		}
	}
	v := store.View(owner)
	eip, err := kinds.EIPs.Get(v, "eip-1")
	if err == nil && (eip.Status != kinds.EIPAvailable || eip.InstanceID != "") {
		t.Errorf("the EIP is %s with %q, want Available", eip.Status, eip.InstanceID)
	}
	if err != nil {
		t.Error(err)
	}
}

// Filters combine: tags of the older parameter are alternatives, tags of the newer one
// are conditions. Filtering comes before paging.
func TestDescribeLoadBalancers(t *testing.T) {
	client, _ := newClient(t, func(tx *state.Tx) error {
		own := tx.In(owner)
		state.SetTag(own, kinds.TagLoadBalancer, lbInternet, "team", "a")
		state.SetTag(own, kinds.TagLoadBalancer, lbInternet, "env", "test")
		state.SetTag(own, kinds.TagLoadBalancer, lbShared, "team", "b")
		return nil
	})
	for _, c := range []struct {
		name  string
		query gatewaytest.Params
		want  []string
	}{
		{"All", params(), []string{lbInternet, lbIntranet, lbPrepaid, lbShared}},
		{"IDs", params("LoadBalancerId", lbShared+","+lbIntranet+",lb-none"), []string{lbIntranet, lbShared}},
		{"ExactName", params("LoadBalancerName", "name-of-lb-intra"), nil},
		{"Names", params("LoadBalancerName", "name-of-lb-intranet,name-of-lb-shared"), []string{lbIntranet, lbShared}},
		{"AddressType", params("AddressType", "intranet"), []string{lbIntranet}},
		{"ChargeType", params("InternetChargeType", "paybybandwidth"), []string{lbInternet, lbPrepaid}},
		{"Server", params("ServerId", instance1), []string{lbInternet}},
		{"ServerAddress", params("ServerIntranetAddress", "192.168.0.11"), []string{lbInternet}},
		{"OtherServerAddress", params("ServerIntranetAddress", "192.168.0.12"), nil},
		{"VSwitch", params("VSwitchId", vSwitch1), []string{lbIntranet}},
		{"VPCAndType", params("VpcId", vpc1, "AddressType", "internet"), nil},
		{"PayType", params("PayType", "PrePay"), []string{lbPrepaid}},
		{"TagsAreAlternatives", params("Tags", `[{"TagKey":"team","TagValue":"b"},{"tagKey":"env","tagValue":"test"}]`), []string{lbInternet, lbShared}},
		{"TagsKeyOnly", params("Tags", `[{"TagKey":"team"}]`), []string{lbInternet, lbShared}},
		{"TagAreConditions", params("Tag.1.Key", "team", "Tag.2.Key", "env", "Tag.2.Value", "test"), []string{lbInternet}},
		{"TagAndType", params("Tag.1.Key", "team", "AddressType", "intranet"), nil},
		{"IDAndTags", params("LoadBalancerId", lbInternet, "Tags", `[{"TagKey":"team","TagValue":"b"}]`), nil},
		{"OtherRegion", params("RegionId", "cn-shanghai"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := client.Do("DescribeLoadBalancers", c.query)
			if ids := texts(got, "LoadBalancers.LoadBalancer", "LoadBalancerId"); !slices.Equal(ids, c.want) {
				t.Errorf("DescribeLoadBalancers(%v) = %q, want %q", c.query, ids, c.want)
			}
			if got.Get("LoadBalancers.LoadBalancer") == nil {
				t.Error("there is no list, want an empty one")
			}
		})
	}
	paged := client.Do("DescribeLoadBalancers", params("PageNumber", "2", "PageSize", "3"))
	expect(t, paged, "PageNumber", "2", "PageSize", "3", "TotalCount", "4", "LoadBalancers.LoadBalancer.0.LoadBalancerId", lbShared)
	expect(t, client.Do("DescribeLoadBalancers", params("LoadBalancerId", lbInternet)),
		"LoadBalancers.LoadBalancer.0.InternetChargeType", "3", "LoadBalancers.LoadBalancer.0.InternetChargeTypeAlias", "paybybandwidth")
	expect(t, client.Do("DescribeLoadBalancers", params("LoadBalancerId", lbIntranet)),
		"LoadBalancers.LoadBalancer.0.InternetChargeType", "4", "LoadBalancers.LoadBalancer.0.InternetChargeTypeAlias", "paybytraffic")
}

// Describe shows the simple changes.
func TestChangeLoadBalancer(t *testing.T) {
	client, _ := newClient(t)
	lb := params("LoadBalancerId", lbInternet)
	client.Do("SetLoadBalancerName", with(lb, "LoadBalancerName", "a/b_c.d-e"))
	client.Do("ModifyLoadBalancerInstanceSpec", with(lb, "LoadBalancerSpec", "slb.s3.large"))
	client.Do("SetLoadBalancerStatus", with(lb, "LoadBalancerStatus", "inactive"))
	client.Do("SetLoadBalancerDeleteProtection", with(lb, "DeleteProtection", "on"))
	client.Do("SetLoadBalancerModificationProtection", with(lb, "ModificationProtectionStatus", "ConsoleProtection", "ModificationProtectionReason", "managed.by.ack"))
	expect(t, client.Do("DescribeLoadBalancerAttribute", lb), "LoadBalancerName", "a/b_c.d-e", "LoadBalancerStatus", "inactive",
		"DeleteProtection", "on", "LoadBalancerSpec", "slb.s3.large",
		"ModificationProtectionStatus", "ConsoleProtection", "ModificationProtectionReason", "managed.by.ack")
	client.Do("SetLoadBalancerModificationProtection", with(lb, "ModificationProtectionStatus", "ConsoleProtection"))
	expect(t, client.Do("DescribeLoadBalancerAttribute", lb), "ModificationProtectionReason", "managed.by.ack")
	client.Do("SetLoadBalancerModificationProtection", with(lb, "ModificationProtectionStatus", "NonProtection"))
	expect(t, client.Do("DescribeLoadBalancerAttribute", lb), "ModificationProtectionReason", "")

	shared := params("LoadBalancerId", lbShared)
	client.Do("ModifyLoadBalancerInstanceChargeType", with(shared, "InstanceChargeType", "PayByCLCU"))
	expect(t, client.Do("DescribeLoadBalancerAttribute", shared), "InstanceChargeType", "PayByCLCU", "InternetChargeType", "paybytraffic")
}

// Another bandwidth is in effect at once, another charge type on the next day
// in Beijing; until then the order shows as not yet in effect.
func TestModifyLoadBalancerInternetSpec(t *testing.T) {
	clock := state.NewManualClock(gatewaytest.Start)
	client := gatewaytest.NewClient(t, gatewaytest.StoreAt(t, clock, plant), clb.Product(gateway.Deps{}))
	lb := params("LoadBalancerId", lbInternet)
	client.Do("ModifyLoadBalancerInternetSpec", with(lb, "Bandwidth", "50"))
	expect(t, client.Do("DescribeLoadBalancerAttribute", lb), "Bandwidth", "50", "HasReservedInfo", "false")

	client.Do("ModifyLoadBalancerInternetSpec", with(lb, "InternetChargeType", "paybytraffic", "Bandwidth", "-1"))
	expect(t, client.Do("DescribeLoadBalancerAttribute", lb), "InternetChargeType", "paybybandwidth", "Bandwidth", "50",
		"HasReservedInfo", "true", "ReservedInfoInternetChargeType", "paybytraffic", "ReservedInfoActiveTime", "2026-01-02T16:00:00Z")
	list := client.Do("DescribeLoadBalancers", lb)
	if n := list.Len("LoadBalancers.LoadBalancer.0.IneffectiveOrderList.IneffectiveOrder"); n != 1 {
		t.Errorf("ineffective orders = %d, want 1", n)
	}
	clock.Advance(time.Date(2026, 1, 2, 16, 0, 0, 0, time.UTC).Sub(clock.Now()))
	expect(t, client.Do("DescribeLoadBalancerAttribute", lb), "InternetChargeType", "paybytraffic", "Bandwidth", "5120", "HasReservedInfo", "false")
	client.Do("ModifyLoadBalancerInternetSpec", with(lb, "InternetChargeType", "paybytraffic", "Bandwidth", "5120"))
	expect(t, client.Do("DescribeLoadBalancerAttribute", lb), "InternetChargeType", "paybytraffic", "Bandwidth", "5120")
}

// TestYears proves which instances each year sells, and their charge types.
func TestYears(t *testing.T) {
	const spec = "slb.s1.small"
	subscription := params("AddressType", "internet", "PayType", "PrePay", "InternetChargeType", "paybybandwidth", "Bandwidth", "5")
	clcu, bySpec, shared := []string{"PayByCLCU", "slb.lcu.elastic"}, []string{"PayBySpec", spec}, []string{"PayBySpec", ""}
	refused := func(code string) []string { return []string{code} }
	for _, c := range []struct {
		name   string
		params gatewaytest.Params
		// What is made, its charge type and spec, or the code of the refusal.
		in2021, in2024, today []string
	}{
		{"neither", params(), shared, refused("ShareSlbHaltSales"), clcu},
		{"spec", params("LoadBalancerSpec", spec), bySpec, bySpec, clcu},
		{"PayBySpec", params("InstanceChargeType", "PayBySpec"), shared, refused("MissingParam.LoadBalancerSpec"), refused("IllegalParam.InstanceChargeType")},
		{"PayBySpec with spec", params("InstanceChargeType", "PayBySpec", "LoadBalancerSpec", spec), bySpec, bySpec, refused("IllegalParam.InstanceChargeType")},
		{"PayByCLCU", params("InstanceChargeType", "PayByCLCU"), clcu, clcu, clcu},
		{"PayByCLCU with spec", params("InstanceChargeType", "PayByCLCU", "LoadBalancerSpec", spec), clcu, clcu, clcu},
		{"shared subscription", subscription, shared, refused("ShareSlbHaltSales"), refused("Operation.NotAllowed")},
		{"subscription with spec", with(subscription, "LoadBalancerSpec", spec), bySpec, bySpec, refused("Operation.NotAllowed")},
		{"by bandwidth", params("LoadBalancerSpec", spec, "InternetChargeType", "paybybandwidth", "Bandwidth", "5"),
			bySpec, bySpec, refused("Instance.InternetChargeTypeNotAllowed")},
	} {
		for year, want := range map[string][]string{kinds.Year2021: c.in2021, kinds.Year2024: c.in2024, kinds.Today: c.today} {
			t.Run(c.name+"/"+year, func(t *testing.T) {
				client, _ := newClient(t, inYear(year))
				if len(want) == 1 {
					wantCode(t, client, "CreateLoadBalancer", c.params, want[0])
					return
				}
				made := client.Do("CreateLoadBalancer", c.params)
				expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", made.Text("LoadBalancerId"))),
					"InstanceChargeType", want[0], "LoadBalancerSpec", want[1], "PayType", cmp.Or(c.params["PayType"], "PayOnDemand"))
			})
		}
	}
}

// TestYearsOneByOne proves that each kind of instance sells alone.
func TestYearsOneByOne(t *testing.T) {
	bySpec := params("InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "slb.s1.small")
	client, store := newClient(t)
	sell := func(change func(*kinds.Region)) {
		t.Helper()
		if err := store.Update(state.Owner{}, editRegion(change)); err != nil {
			t.Fatal(err)
		}
	}
	sell(func(r *kinds.Region) { r.SharedInstancesSold = true })
	made := client.Do("CreateLoadBalancer", params())
	expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", made.Text("LoadBalancerId"))), "InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "")
	wantCode(t, client, "CreateLoadBalancer", bySpec, "IllegalParam.InstanceChargeType")
	sell(func(r *kinds.Region) { r.SharedInstancesSold, r.PayBySpecSold = false, true })
	client.Do("CreateLoadBalancer", bySpec)
	wantCode(t, client, "CreateLoadBalancer", params(), "ShareSlbHaltSales")
	wantCode(t, client, "ModifyLoadBalancerPayType", params("LoadBalancerId", lbInternet), "Operation.NotAllowed")
	sell(func(r *kinds.Region) { r.PayBySpecSold, r.SubscriptionsSold = false, true })
	client.Do("ModifyLoadBalancerPayType", params("LoadBalancerId", lbInternet))
	wantCode(t, client, "CreateLoadBalancer", bySpec, "IllegalParam.InstanceChargeType")
}

// TestOldInstancesLiveOn proves that instances of kinds no longer on sale can be
// changed, and that a token returns the one that it made.
func TestOldInstancesLiveOn(t *testing.T) {
	client, store := newClient(t, inYear(kinds.Year2021))
	create := with(createInternet, "ClientToken", "old")
	id := client.Do("CreateLoadBalancer", create).Text("LoadBalancerId")
	if err := store.Update(state.Owner{}, inYear(kinds.Today)); err != nil {
		t.Fatal(err)
	}
	if again := client.Do("CreateLoadBalancer", create).Text("LoadBalancerId"); again != id {
		t.Errorf("the token returned %s, want %s", again, id)
	}
	old := params("LoadBalancerId", id)
	client.Do("ModifyLoadBalancerInstanceSpec", with(old, "LoadBalancerSpec", "slb.s2.small"))
	expect(t, client.Do("DescribeLoadBalancerAttribute", old), "InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "slb.s2.small")
	client.Do("ModifyLoadBalancerInternetSpec", params("LoadBalancerId", lbPrepaid, "InternetChargeType", "paybybandwidth", "Bandwidth", "200"))
	expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", lbPrepaid)), "PayType", "PrePay", "Bandwidth", "200")
	client.Do("ModifyLoadBalancerInstanceChargeType", with(old, "InstanceChargeType", "PayByCLCU"))
	expect(t, client.Do("DescribeLoadBalancerAttribute", old), "InstanceChargeType", "PayByCLCU")
	wantCode(t, client, "ModifyLoadBalancerInstanceChargeType", with(old, "InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "slb.s2.small"), "Forbidden.LcuToSpec")
}

// A subscription has an order and an end.
func TestPrepaid(t *testing.T) {
	client, _ := newClient(t, inYear(kinds.Year2024))
	made := client.Do("CreateLoadBalancer", with(createInternet, "PayType", "PrePay", "PricingCycle", "Year", "Duration", "2",
		"LoadBalancerSpec", "slb.s1.small", "InternetChargeType", "paybybandwidth", "Bandwidth", "5"))
	if made.Text("OrderId") == "0" {
		t.Error("OrderId = 0, want the number of the purchase")
	}
	expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", made.Text("LoadBalancerId"))),
		"PayType", "PrePay", "EndTime", "2028-01-02T03:04:05Z", "RenewalStatus", "Normal", "Bandwidth", "5")
	client.Do("ModifyLoadBalancerInstanceSpec", params("LoadBalancerId", lbPrepaid, "LoadBalancerSpec", "slb.s3.large"))
}

// An IPv6 load balancer has an address of the region's IPv6 block.
func TestIPv6(t *testing.T) {
	client, _ := newClient(t)
	made := client.Do("CreateLoadBalancer", with(createInternet, "AddressIPVersion", "ipv6"))
	if !strings.HasPrefix(made.Text("Address"), "2001:db8:1:") {
		t.Errorf("Address = %s, want one of 2001:db8:1::/64", made.Text("Address"))
	}
}

// Regions, zones and what they sell are the world's: CLB-0531.
func TestRegions(t *testing.T) {
	client, _ := newClient(t)
	if ids := texts(client.Do("DescribeRegions", params()), "Regions.Region", "RegionId"); len(ids) < 10 || !slices.Contains(ids, "cn-hangzhou") || !slices.Contains(ids, "ap-southeast-1") {
		t.Errorf("regions = %q", ids)
	}
	zones := client.Do("DescribeZones", params())
	if zones.Len("Zones.Zone") == 0 || zones.Len("Zones.Zone.0.SlaveZones.SlaveZone") == 0 {
		t.Errorf("zones = %v, want zones with slave zones", zones.Body)
	}
	all := client.Do("DescribeAvailableResource", params())
	if all.Len("AvailableResources.AvailableResource.0.SupportResources.SupportResource") != 3 {
		t.Errorf("available resources = %v, want vpc, internet and IPv6", all.Body)
	}
	expect(t, client.Do("DescribeAvailableResource", params("AddressType", "vpc")),
		"AvailableResources.AvailableResource.0.SupportResources.SupportResource.0.AddressType", "vpc")
	if n := client.Do("DescribeAvailableResource", params("AddressType", "classic_intranet")).Len("AvailableResources.AvailableResource"); n != 0 {
		t.Errorf("classic intranet is sold in %d pairs of zones, want none", n)
	}
}

// TestServiceManaged proves that the mark of another cloud service shows on the load
// balancers that carry it.
func TestServiceManaged(t *testing.T) {
	client, _ := newClient(t)
	lb := params("LoadBalancerId", lbInternet)
	for _, mode := range []string{"Managed", "Unmanaged"} {
		client.Do("ServiceManagedControl", params("ServiceManagedMode", mode, "Resources.1.ResourceId", lbInternet))
		if got := client.Do("DescribeLoadBalancers", lb).Text("LoadBalancers.LoadBalancer.0.ServiceManagedMode"); got != mode {
			t.Errorf("ServiceManagedMode = %q, want %q", got, mode)
		}
	}
	client.Do("SetLoadBalancerName", with(lb, "LoadBalancerName", "web"))
	wantCode(t, client, "ServiceManagedControl", params("ServiceManagedMode", "Off", "Resources.1.ResourceId", lbInternet), "InvalidServiceManagedMode")
}
