package target

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// CloudConfig returns the file that says to a Cloud Controller Manager (CCM) where in the cloud
// its cluster is (--cloud-config): the one with an id, or the only one if the id is empty. Nodes are the ids of
// its instances; where the account has none of them, all of its instances count.
func CloudConfig(v *state.View, clusterID string, nodes ...string) ([]byte, error) {
	c, err := findCluster(v, clusterID, nodes)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"Global": map[string]string{
		"accessKeyID":     base64.StdEncoding.EncodeToString([]byte(c.keyID)),
		"accessKeySecret": base64.StdEncoding.EncodeToString([]byte(c.keySecret)),
		"clusterID":       c.id, "region": c.region, "vpcid": c.vpc, "vswitchid": strings.Join(c.vSwitches, ","),
	}})
}

// cluster says where a cluster is in the cloud, with a key of its account.
type cluster struct {
	id, region, vpc  string
	keyID, keySecret string
	vSwitches        []string // zone:id
}

// findCluster finds the account by the load balancers with the tag of a CCM, and the VPC as
// that with most of the nodes.
func findCluster(v *state.View, id string, nodes []string) (cluster, error) {
	owners := ownersOfClusters(v)
	if id == "" {
		var err error
		if id, err = onlyOf(owners); err != nil {
			return cluster{}, err
		}
	}
	c := cluster{id: id}
	owner, named := owners[id]
	choose := func(counts func(*kinds.Instance) bool) {
		instances := make(map[string]int)
		for i := range kinds.Instances.All(v) {
			if named && i.Owner != owners[id] || !counts(i) {
				continue
			}
			if instances[i.VPCID]++; instances[i.VPCID] > instances[c.vpc] || c.vpc == "" {
				c.vpc, owner = i.VPCID, i.Owner
			}
		}
	}
	if choose(func(i *kinds.Instance) bool { return slices.Contains(nodes, i.ID) }); c.vpc == "" {
		choose(func(*kinds.Instance) bool { return true })
	}
	if c.vpc == "" {
		return cluster{}, errors.New("the state has no instance that could be a node of the cluster: give --cloud-config")
	}
	c.region = owner.RegionID
	for s := range kinds.VSwitches.All(v) {
		if s.VPCID == c.vpc {
			c.vSwitches = append(c.vSwitches, s.ZoneID+":"+s.ID)
		}
	}
	for key := range kinds.AccessKeys.All(v) {
		if key.AccountID == owner.AccountID && key.Status == kinds.AccessKeyActive && key.SecurityToken == "" {
			c.keyID, c.keySecret = key.ID, key.Secret
			return c, nil
		}
	}
	return cluster{}, fmt.Errorf("account %s has no active access key: give --cloud-config", owner.AccountID)
}

// ownersOfClusters returns the owners of load balancers, by the ids in the tag of a CCM.
func ownersOfClusters(v *state.View) map[string]state.Owner {
	owners := make(map[string]state.Owner)
	for lb := range topology.LoadBalancers(v) {
		tag, ok := state.Tags.Find(v, state.TagID(lb.TagsOf, lb.ID, "ack.aliyun.com"))
		if ok && tag.Value != "" {
			owners[tag.Value] = lb.Owner
		}
	}
	return owners
}

// onlyOf returns the cluster, if there is one alone.
func onlyOf(owners map[string]state.Owner) (string, error) {
	ids := slices.Sorted(maps.Keys(owners))
	switch len(ids) {
	case 0:
		return "", errors.New("no load balancer has the tag ack.aliyun.com of a cluster: give --cluster-id")
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("load balancers belong to the clusters %s: choose one with --cluster-id", strings.Join(ids, ", "))
}
