package target

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// Cluster holds what a Cloud Controller Manager (CCM) must know about the cloud that its
// cluster is in.
type Cluster struct {
	ID, Region, VPC              string
	AccessKeyID, AccessKeySecret string
	// VSwitches are zone:id.
	VSwitches []string
}

// FindCluster finds the cluster with an id in a cloud, or the only one if the id is empty:
// its account by the load balancers with the tag of a CCM, its VPC as that with most of the
// account's instances.
func FindCluster(v *state.View, id string) (Cluster, error) {
	owners := ownersOfClusters(v)
	if id == "" {
		var err error
		if id, err = onlyOf(owners); err != nil {
			return Cluster{}, err
		}
	}
	c := Cluster{ID: id}
	owner, named := owners[id]
	instances := make(map[string]int)
	for i := range cloud.Instances.All(v) {
		if named && i.Owner != owners[id] {
			continue
		}
		if instances[i.VPCID]++; instances[i.VPCID] > instances[c.VPC] || c.VPC == "" {
			c.VPC, owner = i.VPCID, i.Owner
		}
	}
	if c.VPC == "" {
		return Cluster{}, errors.New("the state has no instance that could be a node of the cluster: give --cloud-config")
	}
	c.Region = owner.RegionID
	for s := range cloud.VSwitches.All(v) {
		if s.VPCID == c.VPC {
			c.VSwitches = append(c.VSwitches, s.ZoneID+":"+s.ID)
		}
	}
	for key := range cloud.AccessKeys.All(v) {
		if key.AccountID == owner.AccountID && key.Status == cloud.AccessKeyActive && key.SecurityToken == "" {
			c.AccessKeyID, c.AccessKeySecret = key.ID, key.Secret
			return c, nil
		}
	}
	return Cluster{}, fmt.Errorf("account %s has no active access key: give --cloud-config", owner.AccountID)
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

// CloudConfig is the file that configures a CCM (--cloud-config).
func (c *Cluster) CloudConfig() ([]byte, error) {
	return json.Marshal(map[string]any{"Global": map[string]string{
		"accessKeyID":     base64.StdEncoding.EncodeToString([]byte(c.AccessKeyID)),
		"accessKeySecret": base64.StdEncoding.EncodeToString([]byte(c.AccessKeySecret)),
		"clusterID":       c.ID, "region": c.Region, "vpcid": c.VPC, "vswitchid": strings.Join(c.VSwitches, ","),
	}})
}
