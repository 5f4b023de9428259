package emulator_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// pageOfList is what the lists of this test answer.
type pageOfList struct {
	TotalCount    int
	NextToken     string
	LoadBalancers json.RawMessage
	ServerGroups  json.RawMessage
}

func (p *pageOfList) text() string {
	return fmt.Sprintf("%d, %q: %s%s", p.TotalCount, p.NextToken, p.LoadBalancers, p.ServerGroups)
}

// TestListsInOrder proves that lists which an index has in order answer as those that are filtered
// and sorted: each page has a filter more in turn, which all resources pass.
func TestListsInOrder(t *testing.T) {
	s := emulatortest.Start(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	plantLists(t, s.Store(), chance)
	defer removeLists(t, s.Store(), 40) // what they refer to is not there
	for _, list := range []struct {
		product, action string
		fields          map[string][]string
		more            [2]string
	}{
		{emulatortest.Slb, "DescribeLoadBalancers", map[string][]string{"VpcId": {"vpc-1", "vpc-2", "vpc-none"}, "AddressType": {"internet", "intranet"}, "LoadBalancerStatus": {"active", "inactive", "locked"}}, [2]string{"PayType", "PayOnDemand"}},
		{emulatortest.Nlb, "ListLoadBalancers", map[string][]string{"VpcIds.1": {"vpc-1", "vpc-2", "vpc-none"}, "AddressType": {"Internet", "Intranet"}, "LoadBalancerStatus": {"Active", "Inactive"}}, [2]string{"ResourceGroupId", "rg-1"}},
		{emulatortest.Nlb, "ListServerGroups", map[string][]string{"VpcId": {"vpc-1", "vpc-2", "vpc-none"}, "ServerGroupType": {"Instance", "Ip"}}, [2]string{"ResourceGroupId", "rg-1"}},
	} {
		filters := []map[string]string{{}}
		for field, values := range list.fields {
			for _, value := range values {
				filters = append(filters, map[string]string{field: value})
				for other, values := range list.fields {
					filters = append(filters, map[string]string{field: value, other: values[0]})
				}
			}
		}
		for _, filter := range filters {
			for _, size := range []int{1, 7, 50} {
				filter["RegionId"] = scope.RegionID
				sorted := maps.Clone(filter)
				sorted[list.more[0]] = list.more[1]
				for page, token := 1, ""; page == 1 || token != "" || list.product == emulatortest.Slb && page < 8; page++ {
					var answers [2]pageOfList
					for i, params := range []map[string]string{filter, sorted} {
						params = maps.Clone(params)
						if list.product == emulatortest.Slb {
							params["PageNumber"], params["PageSize"] = strconv.Itoa(page), strconv.Itoa(size)
						} else {
							params["NextToken"], params["MaxResults"] = token, strconv.Itoa(size)
						}
						body, err := answerTo(http.DefaultClient, s.URL(), list.product, list.action, params)
						if err != nil {
							t.Fatal(err)
						}
						if err := json.Unmarshal(body, &answers[i]); err != nil {
							t.Fatal(err)
						}
					}
					if got, want := answers[0].text(), answers[1].text(); got != want {
						t.Errorf("page %d of %d of %s %v = %.300s, want %.300s", page, size, list.action, filter, got, want)
					}
					token = answers[0].NextToken
				}
			}
		}
	}
}

// plantLists puts resources of all kinds into the store, changes some and deletes some.
func plantLists(t *testing.T, store *state.Store, chance *rand.Rand) {
	t.Helper()
	pick := func(of ...string) string { return of[chance.IntN(len(of))] }
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 120 {
		owner := state.Owner{AccountID: scope.AccountID, RegionID: pick(scope.RegionID, scope.RegionID, "cn-beijing")}
		n, created := chance.IntN(40), begin.Add(time.Duration(chance.IntN(10))*time.Hour)
		if chance.IntN(10) == 0 {
			created = time.Time{}
		}
		clb := kinds.LoadBalancer{Owner: owner, ID: fmt.Sprintf("lb-%d", n), VPCID: pick("vpc-1", "vpc-2"), AddressType: kinds.AddressType(pick("internet", "intranet")),
			Status: kinds.LoadBalancerStatus(pick("active", "inactive", "locked")), PayType: "PayOnDemand", CreateTime: created}
		nlb := kinds.NLBLoadBalancer{Owner: owner, ID: fmt.Sprintf("nlb-%d", n), VPCID: clb.VPCID, AddressType: pick("Internet", "Intranet"),
			Status: pick("Active", "Inactive"), FinancialLocked: chance.IntN(5) == 0, ResourceGroupID: "rg-1", CreateTime: created}
		group := kinds.NLBServerGroup{Owner: owner, ID: fmt.Sprintf("sgp-%d", n), VPCID: clb.VPCID, Type: pick("Instance", "Ip"), Status: "Available", ResourceGroupID: "rg-1", CreateTime: created}
		err := store.Update(state.Owner{}, func(tx *state.Tx) error {
			if chance.IntN(4) == 0 {
				removeListed(tx, n)
				return nil
			}
			kinds.LoadBalancers.Put(tx, &clb)
			kinds.NLBLoadBalancers.Put(tx, &nlb)
			kinds.NLBServerGroups.Put(tx, &group)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func removeListed(tx *state.Tx, n int) {
	kinds.LoadBalancers.Delete(tx, fmt.Sprintf("lb-%d", n))
	kinds.NLBLoadBalancers.Delete(tx, fmt.Sprintf("nlb-%d", n))
	kinds.NLBServerGroups.Delete(tx, fmt.Sprintf("sgp-%d", n))
}

func removeLists(t testing.TB, store *state.Store, n int) {
	t.Helper()
	err := store.Update(state.Owner{}, func(tx *state.Tx) error {
		for n := range n {
			removeListed(tx, n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// BenchmarkLists compares a page of each list among many with one among few, in turn.
func BenchmarkLists(b *testing.B) {
	sizes := [2]int{many, few}
	var servers [2]*emulatortest.Server
	for i, n := range sizes {
		servers[i] = emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.World = crowdedWorld(b) }))
		defer removeLists(b, servers[i].Store(), n)
		crowdLists(b, servers[i].Store(), n)
	}
	client, worst := keepAlive(1), 0.0
	for _, list := range []struct {
		product, action, field, value string
	}{
		{emulatortest.Slb, "DescribeLoadBalancers", "", ""},
		{emulatortest.Slb, "DescribeLoadBalancers", "VpcId", "vpc-1"},
		{emulatortest.Slb, "DescribeLoadBalancers", "AddressType", "internet"},
		{emulatortest.Slb, "DescribeLoadBalancers", "LoadBalancerStatus", "active"},
		{emulatortest.Nlb, "ListLoadBalancers", "", ""},
		{emulatortest.Nlb, "ListLoadBalancers", "VpcIds.1", "vpc-1"},
		{emulatortest.Nlb, "ListLoadBalancers", "AddressType", "Internet"},
		{emulatortest.Nlb, "ListLoadBalancers", "LoadBalancerStatus", "Active"},
		{emulatortest.Nlb, "ListServerGroups", "", ""},
		{emulatortest.Nlb, "ListServerGroups", "VpcId", "vpc-1"},
		{emulatortest.Nlb, "ListServerGroups", "ServerGroupType", "Instance"},
	} {
		params := map[string]string{"RegionId": scope.RegionID}
		if list.field != "" {
			params[list.field] = list.value
		}
		if list.product == emulatortest.Nlb {
			params["MaxResults"] = "10" // as CLB's usual page
		}
		var took [2][]time.Duration
		for range 1000 {
			for i, s := range servers {
				start := time.Now()
				if err := postTo(client, s.URL(), list.product, list.action, params); err != nil {
					b.Fatal(err)
				}
				took[i] = append(took[i], time.Since(start))
			}
		}
		among, alone := median(took[0]), median(took[1])
		b.Logf("%s by %q, p50: %v among %d, %v among %d", list.action, list.field, among, many, alone, few)
		worst = max(worst, float64(among)/float64(alone))
	}
	report(b, worst, "ratio", "pages of lists, the worst p50 among %d to among %d, target ratio <= 1.5", many, few)
}

// crowdLists puts n resources of each kind into the store.
func crowdLists(b *testing.B, store *state.Store, n int) {
	b.Helper()
	err := store.Update(scope, func(tx *state.Tx) error {
		for i := range n {
			created := tx.Now().Add(time.Duration(-i) * time.Second)
			kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{Owner: scope, ID: fmt.Sprintf("lb-%d", i), VPCID: "vpc-1", AddressType: kinds.AddressTypeInternet, Status: kinds.LoadBalancerActive, CreateTime: created})
			kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: scope, ID: fmt.Sprintf("nlb-%d", i), VPCID: "vpc-1", AddressType: "Internet", Status: "Active", CreateTime: created})
			kinds.NLBServerGroups.Put(tx, &kinds.NLBServerGroup{Owner: scope, ID: fmt.Sprintf("sgp-%d", i), VPCID: "vpc-1", Type: "Instance", Status: "Available", CreateTime: created})
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
