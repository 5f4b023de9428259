package kinds_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// inTx runs fn in a transaction on a store with the least world, and then takes
// back what it did, so that it may leave a state that breaks invariants.
func inTx(t *testing.T, scope state.Owner, fn func(*state.Tx)) {
	t.Helper()
	done := errors.New("done")
	err := planted(t, &memory.Engine{}).Update(scope, func(tx *state.Tx) error {
		fn(tx)
		return done
	})
	if !errors.Is(err, done) {
		t.Fatalf("Update: %v", err)
	}
}

func putLoadBalancer(tx *state.Tx, owner state.Owner, id, name string) {
	kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{Owner: owner, ID: id, Name: name})
}

func loadBalancerIDs(lbs []*kinds.LoadBalancer) string {
	var ids []string
	for _, lb := range lbs {
		ids = append(ids, lb.ID)
	}
	return strings.Join(ids, " ")
}

func TestTableGet(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		putLoadBalancer(tx, hangzhou, "lb-1", "")
		if lb, err := kinds.LoadBalancers.Get(tx.View, "lb-1"); err != nil || lb.ID != "lb-1" {
			t.Errorf("Get = %v, %v", lb, err)
		}
		_, err := kinds.LoadBalancers.Get(tx.View, "lb-2")
		var fact *state.Error
		if !errors.As(err, &fact) || *fact != (state.Error{Fact: state.NotFound, Kind: "LoadBalancer", ID: "lb-2"}) {
			t.Errorf("Get of what is not there = %#v", err)
		}
		if err.Error() != "NotFound LoadBalancer lb-2" {
			t.Errorf("the error reads %q", err)
		}
	})
}

// A lookup needs the whole id, not its beginning.
func TestTableGetTakesNoPrefix(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		putLoadBalancer(tx, hangzhou, "lb-12", "")
		for _, id := range []string{"", "lb-1", "lb-123", "LB-12"} {
			if lb, found := kinds.LoadBalancers.Find(tx.View, id); found {
				t.Errorf("Find(%q) = %s", id, lb.ID)
			}
		}
	})
}

// A caller sees the resources of its account and region, and what has no owner.
func TestScope(t *testing.T) {
	inTx(t, state.Owner{}, func(tx *state.Tx) {
		putLoadBalancer(tx, hangzhou, "lb-1", "")
		putLoadBalancer(tx, shanghai, "lb-2", "")
		putLoadBalancer(tx, stranger, "lb-3", "")
		putLoadBalancer(tx, state.Owner{}, "lb-4", "")
		cases := []struct {
			scope state.Owner
			want  string
		}{
			{state.Owner{}, "lb-1 lb-2 lb-3 lb-4"},
			{hangzhou, "lb-1 lb-4"},
			{shanghai, "lb-2 lb-4"},
			{stranger, "lb-3 lb-4"},
			{state.Owner{AccountID: hangzhou.AccountID}, "lb-1 lb-2 lb-4"},
			{state.Owner{RegionID: "cn-hangzhou"}, "lb-1 lb-3 lb-4"},
		}
		for _, c := range cases {
			v := tx.In(c.scope).View
			if got := loadBalancerIDs(slices.Collect(kinds.LoadBalancers.All(v))); got != c.want {
				t.Errorf("All as %+v = %s, want %s", c.scope, got, c.want)
			}
			_, found := kinds.LoadBalancers.Find(v, "lb-1")
			if found != strings.Contains(c.want, "lb-1") {
				t.Errorf("Find(lb-1) as %+v = %v", c.scope, found)
			}
		}
	})
}

// A transaction can't delete or edit what its scope does not see.
func TestScopeProtects(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		putLoadBalancer(tx, hangzhou, "lb-1", "")
		other := tx.In(stranger)
		kinds.LoadBalancers.Delete(other, "lb-1")
		var fact *state.Error
		err := kinds.LoadBalancers.Edit(other, "lb-1", func(*kinds.LoadBalancer) error { return nil })
		if !errors.As(err, &fact) || fact.Fact != state.NotFound {
			t.Errorf("Edit by a stranger = %v, want NotFound", err)
		}
		if _, found := kinds.LoadBalancers.Find(tx.View, "lb-1"); !found {
			t.Error("a stranger deleted the load balancer")
		}
	})
}

// An edit replaces the resource; values handed out before stay as they are.
func TestEdit(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		putLoadBalancer(tx, hangzhou, "lb-1", "old")
		before, _ := kinds.LoadBalancers.Find(tx.View, "lb-1")
		refused := errors.New("refused")
		err := kinds.LoadBalancers.Edit(tx, "lb-1", func(lb *kinds.LoadBalancer) error {
			lb.Name = "refused"
			return refused
		})
		if now, _ := kinds.LoadBalancers.Find(tx.View, "lb-1"); !errors.Is(err, refused) || now.Name != "old" {
			t.Errorf("a refused Edit = %v and left the name %s", err, now.Name)
		}
		err = kinds.LoadBalancers.Edit(tx, "lb-1", func(lb *kinds.LoadBalancer) error {
			lb.Name = "new"
			return nil
		})
		after, _ := kinds.LoadBalancers.Find(tx.View, "lb-1")
		if err != nil || after.Name != "new" || before.Name != "old" {
			t.Errorf("Edit = %v; the resource has %q, the value from before %q", err, after.Name, before.Name)
		}
	})
}

// Changing an id would leave the old resource behind: a programming error.
func TestEditMayNotChangeTheID(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		putLoadBalancer(tx, hangzhou, "lb-1", "")
		defer func() {
			if p := recover(); p != "state: edit changed the id of LoadBalancer lb-1" {
				t.Errorf("Edit panicked with %v", p)
			}
		}()
		err := kinds.LoadBalancers.Edit(tx, "lb-1", func(lb *kinds.LoadBalancer) error {
			lb.ID = "lb-2"
			return nil
		})
		t.Errorf("Edit = %v, want a panic", err)
	})
}

// A change moves the resource in every index, and a deletion takes it out.
func TestIndexFollowsChanges(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		byName := func(name string) string {
			return loadBalancerIDs(slices.Collect(
				kinds.LoadBalancersByName.List(tx.View, hangzhou.AccountID, hangzhou.RegionID, name)))
		}
		putLoadBalancer(tx, hangzhou, "lb-2", "web")
		putLoadBalancer(tx, hangzhou, "lb-1", "web")
		if got := byName("web"); got != "lb-1 lb-2" {
			t.Errorf("by name = %s, want both in order of id", got)
		}
		putLoadBalancer(tx, hangzhou, "lb-1", "api")
		if byName("web") != "lb-2" || byName("api") != "lb-1" {
			t.Errorf("after a rename: web = %s, api = %s", byName("web"), byName("api"))
		}
		kinds.LoadBalancers.Delete(tx, "lb-1")
		kinds.LoadBalancers.Delete(tx, "lb-1")
		if got := byName("api"); got != "" {
			t.Errorf("after the deletion: %s", got)
		}
	})
}

// An index lookup gives its first values, and matches each whole.
func TestIndexByTheFirstValues(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		for _, port := range []int{8080, 80, 443, 65535} {
			kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: "lb-1", Port: port, Status: kinds.ListenerRunning, Protocol: kinds.TCP})
		}
		kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: "lb-1", Port: 80, Status: kinds.ListenerRunning, Protocol: kinds.UDP})
		kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: "lb-11", Port: 80, Status: kinds.ListenerRunning, Protocol: kinds.TCP})
		ids := func(values ...string) string {
			var got []string
			for l := range kinds.ListenersByLoadBalancer.List(tx.View, values...) {
				got = append(got, strings.TrimPrefix(l.ID(), "lb-1_"))
			}
			return strings.Join(got, " ")
		}
		if got, want := ids("lb-1"), "tcp_80 udp_80 tcp_443 tcp_8080 tcp_65535"; got != want {
			t.Errorf("by load balancer = %s, want %s", got, want)
		}
		if got, want := ids("lb-1", kinds.PortKey(80)), "tcp_80 udp_80"; got != want {
			t.Errorf("by port = %s, want %s", got, want)
		}
		if n := kinds.ListenersByLoadBalancer.Count(tx.View, "lb-1"); n != 5 {
			t.Errorf("Count = %d, want 5", n)
		}
		if _, found := kinds.ListenersByLoadBalancer.First(tx.View, "lb-2"); found {
			t.Error("First finds a listener of a load balancer that has none")
		}
	})
}

// Each of several keys finds the resource, and finds it once.
func TestIndexWithSeveralKeys(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: hangzhou, ID: "rsp-1", BackendServers: []kinds.BackendServer{
			{ServerID: "i-1", Port: 80}, {ServerID: "i-1", Port: 81}, {ServerID: "i-2", Port: 80},
		}})
		for server, want := range map[string]int{"i-1": 1, "i-2": 1, "i-3": 0} {
			if n := kinds.VServerGroupsByServer.Count(tx.View, server); n != want {
				t.Errorf("groups with %s = %d, want %d", server, n, want)
			}
		}
		kinds.Listeners.Put(tx, &kinds.Listener{Owner: hangzhou, LoadBalancerID: "lb-1", Port: 443, Status: kinds.ListenerRunning, Protocol: kinds.HTTPS,
			ServerCertificateID: "server", CACertificateID: "ca", AclIDs: []string{"acl-1", "acl-2"}})
		for _, certificate := range []string{"server", "ca"} {
			if _, found := kinds.ListenersByCertificate.First(tx.View, certificate); !found {
				t.Errorf("no listener by certificate %s", certificate)
			}
		}
		if _, found := kinds.ListenersByAccessControlList.First(tx.View, "acl-2"); !found {
			t.Error("no listener by its second ACL")
		}
	})
}

// A loop over an index may delete what it visits.
func TestDeleteWhileIterating(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		const n = 300
		for i := range n {
			putLoadBalancer(tx, hangzhou, "lb-"+strconv.Itoa(i), "web")
		}
		visited := 0
		for lb := range kinds.LoadBalancersByName.List(tx.View, hangzhou.AccountID, hangzhou.RegionID, "web") {
			visited++
			kinds.LoadBalancers.Delete(tx, lb.ID)
		}
		left := len(slices.Collect(kinds.LoadBalancers.All(tx.View)))
		if visited != n || left != 0 {
			t.Errorf("visited %d, left %d, want %d and 0", visited, left, n)
		}
	})
}

func TestPortKey(t *testing.T) {
	for port, want := range map[int]string{1: "00001", 80: "00080", 65535: "65535"} {
		if got := kinds.PortKey(port); got != want {
			t.Errorf("PortKey(%d) = %s, want %s", port, got, want)
		}
	}
}

func TestTags(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		set := func(tx *state.Tx, id, key, value string) { state.SetTag(tx, kinds.TagLoadBalancer, id, key, value) }
		set(tx, "lb-1", "env", "test")
		set(tx, "lb-1", "app", "web")
		set(tx, "lb-2", "env", "prod")
		set(tx, "lb-2", "app", "web")
		set(tx, "lb-2", "env", "live")
		set(tx.In(shanghai), "lb-3", "env", "test")
		state.SetTag(tx, kinds.TagVServerGroup, "rsp-1", "env", "test")
		test, live, web := "test", "live", "web"
		cases := []struct {
			name    string
			filters []state.TagFilter
			want    string
		}{
			{"by key", []state.TagFilter{{Key: "env"}}, "lb-1 lb-2"},
			{"by value", []state.TagFilter{{Key: "env", Value: &test}}, "lb-1"},
			{"a second value replaced the first", []state.TagFilter{{Key: "env", Value: &live}}, "lb-2"},
			{"all filters must match", []state.TagFilter{{Key: "app", Value: &web}, {Key: "env", Value: &live}}, "lb-2"},
			{"nothing matches", []state.TagFilter{{Key: "app", Value: &test}}, ""},
			{"a key is matched whole", []state.TagFilter{{Key: "en"}}, ""},
		}
		for _, c := range cases {
			if got := strings.Join(state.ResourcesTagged(tx.View, kinds.TagLoadBalancer, c.filters), " "); got != c.want {
				t.Errorf("%s: ResourcesTagged = %s, want %s", c.name, got, c.want)
			}
		}
		tags := slices.Collect(state.TagsOf(tx.View, kinds.TagLoadBalancer, "lb-1"))
		if len(tags) != 2 || tags[0].Key != "app" || tags[1].Key != "env" {
			t.Errorf("TagsOf is not in order of key: %v", tags)
		}
		state.DeleteTagsOf(tx, kinds.TagLoadBalancer, "lb-1")
		if len(slices.Collect(state.TagsOf(tx.View, kinds.TagLoadBalancer, "lb-1"))) != 0 || len(slices.Collect(state.TagsOf(tx.View, kinds.TagLoadBalancer, "lb-2"))) != 2 {
			t.Error("DeleteTagsOf does not delete the tags of one resource alone")
		}
	})
}
