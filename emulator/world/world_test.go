package world_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// mustPlant opens a store with the world in it. The store is checked when the
// test ends.
func mustPlant(tb testing.TB, w *world.World) *state.Store {
	tb.Helper()
	store, err := state.Open(context.Background(), state.Config{
		Schema: kinds.Schema, Engine: &memory.Engine{},
		Clock: state.NewManualClock(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)),
		Seed:  1,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		problems, err := store.Check(context.Background())
		if err != nil {
			tb.Error(err)
		}
		for _, p := range problems {
			tb.Errorf("Check: %s", p)
		}
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := store.Update(state.Owner{}, w.Plant); err != nil {
		tb.Fatalf("Plant = %v", err)
	}
	return store
}

// TestDefault proves that the default world has the resources that its
// documentation promises, with all the rest that the cloud adds to them.
func TestDefault(t *testing.T) {
	store := mustPlant(t, world.Default())
	v := store.View(state.Owner{AccountID: "1234567890123456", RegionID: "cn-hangzhou"})
	for _, id := range []string{"vsw-bp1clbemu000000000001", "vsw-bp1clbemu000000000002", "vsw-bp1clbemu000000000003"} {
		sw, err := kinds.VSwitches.Get(v, id)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := kinds.RouteEntriesByTable.First(v, sw.RouteTableID, sw.CIDRBlock); !ok {
			t.Errorf("route table %s has no route to vSwitch %s", sw.RouteTableID, id)
		}
		if _, ok := kinds.RouteEntriesByTable.First(v, sw.RouteTableID, "100.64.0.0/10"); !ok {
			t.Errorf("route table %s has no route to the cloud's services", sw.RouteTableID)
		}
	}
	for ip, instance := range map[string]string{"192.168.0.11": "i-bp1clbemu0000000001", "192.168.1.11": "i-bp1clbemu0000000003"} {
		n, ok := kinds.NetworkInterfacesByAddress.First(v, "vpc-bp1clbemu000000000001", ip)
		if !ok || n.InstanceID != instance || n.Type != kinds.NetworkInterfacePrimary {
			t.Errorf("%s belongs to %+v, want the primary interface of %s", ip, n, instance)
		}
	}
	i, err := kinds.Instances.Get(v, "i-bp1clbemu0000000001")
	if err != nil {
		t.Fatal(err)
	}
	if i.RAMRoleName != "clbemu-node" || i.Status != kinds.InstanceRunning || i.ZoneID != "cn-hangzhou-h" {
		t.Errorf("instance = %+v, want it running in cn-hangzhou-h with the role clbemu-node", i)
	}
	key, err := kinds.AccessKeys.Get(v, "testid")
	if err == nil && (key.Secret != "testsecret" || key.AccountID != "1234567890123456") {
		t.Errorf("access key = %+v", key)
	}
	if err != nil {
		t.Error(err)
	}
}

// full is a world with everything that a file can hold.
const full = `
accounts:
  - id: 1
    defaultRegion: cn-test
    defaultResourceGroup: rg-1
    resourceGroups: [{id: rg-1}, {id: rg-2, name: two}]
regions:
  - id: cn-test
    zones: [{id: cn-test-a}]
    zonePairs: [{master: cn-test-a, slave: cn-test-a}]
    publicCidrBlock: 198.18.0.0/29
vpcs:
  - id: vpc-1
    cidrBlock: 192.168.0.0/16
    secondaryCidrBlocks: [172.16.0.0/16]
    ipv6CidrBlock: 2001:db8::/56
    systemRouteTable: vtb-1
    resourceGroup: rg-2
    tags: {team: net}
routeTables:
  - {id: vtb-2, vpc: vpc-1, name: custom, tags: {team: net}}
vSwitches:
  - {id: vsw-1, vpc: vpc-1, zone: cn-test-a, cidrBlock: 172.16.0.0/29, ipv6CidrBlock: "2001:db8::/64", routeTable: vtb-2}
securityGroups:
  - {id: sg-1, vpc: vpc-1, type: enterprise}
instances:
  - {id: i-1, vSwitch: vsw-1, networkInterface: eni-1}
networkInterfaces:
  - id: eni-2
    vSwitch: vsw-1
    instance: i-1
    privateIpAddresses: [172.16.0.1, 172.16.0.2, 172.16.0.3]
    ipv6Addresses: ["2001:db8::2"]
    securityGroups: [sg-1]
    tags: {team: net}
routeEntries:
  - {routeTable: vtb-2, destinationCidrBlock: 10.1.0.0/24, nextHopType: NetworkInterface, nextHop: eni-2}
eips:
  - {id: eip-1, instance: i-1}
  - {id: eip-2, ipAddress: 198.18.0.1}
  - {id: eip-3, ipAddress: 198.18.0.2, instance: eni-2}
  - {id: eip-4, ipAddress: 198.18.0.3}
`

// TestAddressesThatAreNotNamed proves that what names no address gets the one
// that is left, wherever it stands in the file.
func TestAddressesThatAreNotNamed(t *testing.T) {
	w, err := world.Parse("full.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	store := mustPlant(t, w)
	v := store.View(state.Owner{})
	n, err := kinds.NetworkInterfaces.Get(v, "eni-1")
	if err != nil {
		t.Fatal(err)
	}
	if want := "172.16.0.4"; n.PrivateIPAddresses[0] != want {
		t.Errorf("address of eni-1 = %s, want %s", n.PrivateIPAddresses[0], want)
	}
	e, err := kinds.EIPs.Get(v, "eip-1")
	if err == nil && (e.IPAddress != "198.18.0.4" || e.Status != kinds.EIPInUse || e.InstanceType != "EcsInstance") {
		t.Errorf("eip-1 = %+v, want 198.18.0.4 in use by an instance", e)
	}
	if n := kinds.RouteEntriesByTable.Count(v, "vtb-2"); n != 3 {
		t.Errorf("route table vtb-2 has %d entries, want the custom and two of the system", n)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestTags proves that the tags of the file are on what it describes.
func TestTags(t *testing.T) {
	w, err := world.Parse("full.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	v := mustPlant(t, w).View(state.Owner{AccountID: "1", RegionID: "cn-test"})
	for kind, id := range map[state.TagResourceType]string{
		kinds.TagVPC: "vpc-1", kinds.TagRouteTable: "vtb-2", kinds.TagNetworkInterface: "eni-2",
	} {
		if got := state.ResourcesTagged(v, kind, []state.TagFilter{{Key: "team"}}); !slices.Equal(got, []string{id}) {
			t.Errorf("%s with the tag = %v, want %s", kind, got, id)
		}
	}
}

// TestAccountDefaults proves what an account has if the file says nothing of it:
// money to buy with, and the cloud's days of grace. CLB-0454.
func TestAccountDefaults(t *testing.T) {
	w, err := world.Parse("full.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	v := mustPlant(t, w).View(state.Owner{})
	a, err := kinds.Accounts.Get(v, "1")
	if err == nil && (a.Balance < kinds.MinimumBalance || a.GraceDays != 15 || a.ReleaseDays != 15 || a.OfNLB() != kinds.NLBArrears || a.LCUToSpec) {
		t.Errorf("account = %+v, want a balance, the days of CLB and of NLB, and no whitelist", a)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestYearQuotas proves that accounts have the quotas of the file's year.
func TestYearQuotas(t *testing.T) {
	for year, want := range map[string][2]int{kinds.Year2021: {50, 1}, kinds.Year2024: {200, 3}, kinds.Today: {200, 3}} {
		w, err := world.Parse("w.yaml", []byte("clouds: "+year+"\n"+base))
		if err != nil {
			t.Fatal(err)
		}
		v := mustPlant(t, w).View(state.Owner{AccountID: "1"})
		for i, name := range []state.QuotaName{kinds.QuotaACLs, kinds.QuotaListenerACLs} {
			if got := v.Limit(name); got != want[i] {
				t.Errorf("in %s, %s is %d, want %d", year, name, got, want[i])
			}
		}
	}
}

// TestClouds proves that regions sell what the cloud of the file's year sold, today's if it
// names none, unless they say otherwise.
func TestClouds(t *testing.T) {
	for _, c := range []struct {
		clouds, region                string
		shared, bySpec, subscriptions bool
	}{
		{"", "", false, false, false},
		{"clouds: today\n", "", false, false, false},
		{"clouds: 2024\n", "", false, true, true},
		{"clouds: \"2021\"\n", "", true, true, true},
		{"", "sharedInstancesSold: true", true, false, false},
		{"", "payBySpecSold: true", false, true, false},
		{"clouds: 2021\n", "sharedInstancesSold: false", false, true, true},
		{"clouds: 2024\n", "subscriptionsSold: false", false, true, false},
		{"clouds: 2024\n", "payBySpecSold: false", false, false, true},
	} {
		t.Run(c.clouds+c.region, func(t *testing.T) {
			text := c.clouds + strings.Replace(base, "publicCidrBlock: 198.18.0.0/24\n", "publicCidrBlock: 198.18.0.0/24\n    "+c.region+"\n", 1)
			w, err := world.Parse("w.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			v := mustPlant(t, w).View(state.Owner{})
			r, err := kinds.Regions.Get(v, "cn-test")
			if err == nil && (r.SharedInstancesSold != c.shared || r.PayBySpecSold != c.bySpec || r.SubscriptionsSold != c.subscriptions) {
				t.Errorf("region = %+v", r)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSite proves that an account of the international site has its quota of load balancers.
func TestSite(t *testing.T) {
	for site, want := range map[string]int{"": 60, "site: mainland": 60, "site: international": 30} {
		w, err := world.Parse("w.yaml", []byte(strings.Replace(base, "    defaultRegion: cn-test\n", "    defaultRegion: cn-test\n    "+site+"\n", 1)))
		if err != nil {
			t.Fatal(err)
		}
		v := mustPlant(t, w).View(state.Owner{AccountID: "1"})
		for _, use := range state.QuotaUses(v) {
			if use.Name == kinds.QuotaLoadBalancers && use.Limit != want {
				t.Errorf("with %q, the quota is %d, want %d", site, use.Limit, want)
			}
		}
	}
}

// TestPlantTwice proves that a world is not planted over another, and that the
// refusal changes nothing.
func TestPlantTwice(t *testing.T) {
	store := mustPlant(t, world.Default())
	if err := store.Update(state.Owner{}, world.Default().Plant); err == nil || !strings.Contains(err.Error(), "reset") {
		t.Errorf("second Plant = %v, want a refusal that names reset", err)
	}
	if err := store.Reset(world.Default().Plant); err != nil {
		t.Errorf("Plant in a Reset = %v", err)
	}
}

func exported(t *testing.T, store *state.Store) string {
	t.Helper()
	export, err := store.Export()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := export.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// In every region of the default world the first zone can be the slave of another,
// which is what those choose who take zones from a list.
func TestDefaultZonePairs(t *testing.T) {
	store := mustPlant(t, world.Default())
	v := store.View(state.Owner{})
	for r := range kinds.Regions.All(v) {
		if !slices.ContainsFunc(r.ZonePairs, func(p kinds.ZonePair) bool { return p.Slave == r.Zones[0].ID }) {
			t.Errorf("no pair of %s has %s as its slave", r.ID, r.Zones[0].ID)
		}
	}
}
