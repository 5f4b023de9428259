package nlb

import (
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/state"
)

var securityPolicyActions = []gateway.Action{
	changes.ByJob(changing, "CreateSecurityPolicy", createSecurityPolicy, ofSecurityPolicyJob).Refusing(errPolicyNameIllegal),
	changes.ByJob(changing, "UpdateSecurityPolicyAttribute", updateSecurityPolicyAttribute, ofSecurityPolicyJob).
		Refusing(errPolicyNameIllegal),
	changes.AtOnce(changing, "DeleteSecurityPolicy", deleteSecurityPolicy),
	gateway.Read("ListSecurityPolicy", listSecurityPolicy),
	gateway.Read("ListSystemSecurityPolicy", listSystemSecurityPolicy),
}

// The refusals of this file.
var (
	errPolicyNameIllegal = refusals.New("PolicyNameIllegal", 400, "IllegalParam.SecurityPolicyName",
		"The param of SecurityPolicyName is illegal.", "CLB-0203")
	errPolicyInUse = refusals.New("PolicyInUse", 400, "ResourceInUse.SecurityPolicy",
		"The specified resource of SecurityPolicy is in use.", "CLB-0203")
)

// systemPolicy is a policy that every account has.
type systemPolicy struct {
	SecurityPolicyID   string `rpc:"SecurityPolicyId"`
	SecurityPolicyName string `rpc:"SecurityPolicyName"`
	TLSVersion         string `rpc:"TlsVersion"`
	Ciphers            string `rpc:"Ciphers"`
}

// The cipher suites of the policies.
const (
	ciphersOf13  = "TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384,TLS_CHACHA20_POLY1305_SHA256,TLS_AES_128_CCM_SHA256,TLS_AES_128_CCM_8_SHA256"
	ciphersECDHE = "ECDHE-ECDSA-AES128-GCM-SHA256,ECDHE-ECDSA-AES256-GCM-SHA384,ECDHE-ECDSA-AES128-SHA256,ECDHE-ECDSA-AES256-SHA384," +
		"ECDHE-RSA-AES128-GCM-SHA256,ECDHE-RSA-AES256-GCM-SHA384,ECDHE-RSA-AES128-SHA256,ECDHE-RSA-AES256-SHA384"
	ciphersSHA    = "ECDHE-ECDSA-AES128-SHA,ECDHE-ECDSA-AES256-SHA,ECDHE-RSA-AES128-SHA,ECDHE-RSA-AES256-SHA"
	ciphersStrict = ciphersECDHE + "," + ciphersSHA
	ciphersAll    = ciphersECDHE + ",AES128-GCM-SHA256,AES256-GCM-SHA384,AES128-SHA256,AES256-SHA256," + ciphersSHA + ",AES128-SHA,AES256-SHA,DES-CBC3-SHA"
)

// systemPolicies lists the cloud's own policies, the usual one first: NLB-0040.
var systemPolicies = []systemPolicy{
	newSystemPolicy("tls_cipher_policy_1_0", "TLSv1.0,TLSv1.1,TLSv1.2", ciphersAll),
	newSystemPolicy("tls_cipher_policy_1_1", "TLSv1.1,TLSv1.2", ciphersAll),
	newSystemPolicy("tls_cipher_policy_1_2", "TLSv1.2", ciphersAll),
	newSystemPolicy("tls_cipher_policy_1_2_strict", "TLSv1.2", ciphersStrict),
	newSystemPolicy("tls_cipher_policy_1_2_strict_with_1_3", "TLSv1.2,TLSv1.3", ciphersStrict+","+ciphersOf13),
}

// newSystemPolicy returns a policy, whose name is its id.
func newSystemPolicy(id, versions, ciphers string) systemPolicy {
	return systemPolicy{id, id, versions, ciphers}
}

// isSystemPolicy reports whether an id is one of the cloud's policies.
func isSystemPolicy(id string) bool {
	return slices.ContainsFunc(systemPolicies, func(p systemPolicy) bool { return p.SecurityPolicyID == id })
}

type listSystemSecurityPolicyResponse struct {
	SecurityPolicies []systemPolicy `rpc:"SecurityPolicies"`
}

func listSystemSecurityPolicy(*state.View, *gateway.Region) (*listSystemSecurityPolicyResponse, error) {
	return &listSystemSecurityPolicyResponse{systemPolicies}, nil
}

type securityPolicyJob struct {
	JobID            string `rpc:"JobId"`
	SecurityPolicyID string `rpc:"SecurityPolicyId"`
}

// ofSecurityPolicyJob answers with a job and the policy that it is about.
func ofSecurityPolicyJob(job *kinds.Job) *securityPolicyJob {
	return &securityPolicyJob{job.ID, job.ResourceID}
}

type createSecurityPolicyRequest struct {
	changes.Order
	tagged
	SecurityPolicyName string   `rpc:"SecurityPolicyName,len=1..200,invalid=PolicyNameIllegal"`
	TLSVersions        []string `rpc:"TlsVersions,required,max=4,enum=TLSv1.0|TLSv1.1|TLSv1.2|TLSv1.3,invalid=Illegal"`
	Ciphers            []string `rpc:"Ciphers,required,max=32,invalid=Illegal"`
	ResourceGroupID    string   `rpc:"ResourceGroupId"`
}

// Validate enforces the rules of shape.
func (req *createSecurityPolicyRequest) Validate() error {
	if cipher := kinds.UnknownCipher(req.TLSVersions, req.Ciphers); cipher != "" {
		return errIllegal.Of("Ciphers " + cipher)
	}
	return req.check()
}

func createSecurityPolicy(tx *state.Tx, req *createSecurityPolicyRequest) (*changes.Work, error) {
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	if err := tx.Use(kinds.QuotaNLBSecurityPolicies, tx.Scope().RegionID, 1); err != nil {
		return nil, err
	}
	p := &kinds.NLBSecurityPolicy{Owner: tx.Scope(), CreateTime: tx.Now(), ID: tx.NewID(kinds.NLBSecurityPolicies.Kind()), Name: req.SecurityPolicyName,
		TLSVersions: req.TLSVersions, Ciphers: req.Ciphers, ResourceGroupID: group}
	return &changes.Work{ResourceType: "securitypolicy", ResourceID: p.ID, Do: func() error {
		kinds.NLBSecurityPolicies.Put(tx, p)
		req.set(tx, kinds.TagNLBSecurityPolicy, p.ID)
		return nil
	}}, nil
}

type updateSecurityPolicyAttributeRequest struct {
	changes.Order
	SecurityPolicyID   string   `rpc:"SecurityPolicyId,required"`
	SecurityPolicyName string   `rpc:"SecurityPolicyName,len=1..200,invalid=PolicyNameIllegal"`
	TLSVersions        []string `rpc:"TlsVersions,max=4,enum=TLSv1.0|TLSv1.1|TLSv1.2|TLSv1.3,invalid=Illegal"`
	Ciphers            []string `rpc:"Ciphers,max=32,invalid=Illegal"`
}

func updateSecurityPolicyAttribute(tx *state.Tx, req *updateSecurityPolicyAttributeRequest) (*changes.Work, error) {
	p, err := kinds.NLBSecurityPolicies.Get(tx.View, req.SecurityPolicyID)
	if err != nil {
		return nil, err
	}
	versions, ciphers := p.TLSVersions, p.Ciphers
	if req.TLSVersions != nil {
		versions = req.TLSVersions
	}
	if req.Ciphers != nil {
		ciphers = req.Ciphers
	}
	if cipher := kinds.UnknownCipher(versions, ciphers); cipher != "" {
		return nil, errIllegal.Of("Ciphers " + cipher)
	}
	return &changes.Work{ResourceType: "securitypolicy", ResourceID: p.ID, Do: func() error {
		return kinds.NLBSecurityPolicies.Edit(tx, p.ID, func(p *kinds.NLBSecurityPolicy) error {
			if req.SecurityPolicyName != "" {
				p.Name = req.SecurityPolicyName
			}
			p.TLSVersions, p.Ciphers = versions, ciphers
			return nil
		})
	}}, nil
}

type securityPolicyRequest struct {
	changes.Order
	SecurityPolicyID string `rpc:"SecurityPolicyId,required"`
}

func deleteSecurityPolicy(tx *state.Tx, req *securityPolicyRequest) (*changes.Work, error) {
	p, err := kinds.NLBSecurityPolicies.Get(tx.View, req.SecurityPolicyID)
	if err != nil {
		return nil, err
	}
	if _, used := kinds.NLBListenersBySecurityPolicy.First(tx.View, p.ID); used {
		return nil, errPolicyInUse
	}
	return removing(tx, "securitypolicy", kinds.NLBSecurityPolicies, p.ID), nil
}

type listSecurityPolicyRequest struct {
	fewTagsRequest
	SecurityPolicyIDs   []string `rpc:"SecurityPolicyIds,max=20,invalid=Illegal"`
	SecurityPolicyNames []string `rpc:"SecurityPolicyNames,max=20,invalid=Illegal"`
	ResourceGroupIDs    []string `rpc:"ResourceGroupIds,max=20,invalid=Illegal"`
	ResourceGroupID     string   `rpc:"ResourceGroupId"`
}

type listSecurityPolicyResponse struct {
	SecurityPolicies []securityPolicy `rpc:"SecurityPolicies"`
	listing.Paging
}

type securityPolicy struct {
	SecurityPolicyID     string            `rpc:"SecurityPolicyId"`
	SecurityPolicyName   string            `rpc:"SecurityPolicyName"`
	SecurityPolicyStatus string            `rpc:"SecurityPolicyStatus"`
	RegionID             string            `rpc:"RegionId"`
	TLSVersion           string            `rpc:"TlsVersion"`
	Ciphers              string            `rpc:"Ciphers"`
	ResourceGroupID      string            `rpc:"ResourceGroupId"`
	RelatedListeners     []relatedListener `rpc:"RelatedListeners"`
	Tags                 []tagging.Tag     `rpc:"Tags"`
}

type relatedListener struct {
	ListenerID       string `rpc:"ListenerId"`
	ListenerPort     int    `rpc:"ListenerPort"`
	ListenerProtocol string `rpc:"ListenerProtocol"`
	LoadBalancerID   string `rpc:"LoadBalancerId"`
}

// listSecurityPolicy lists the user's own.
func listSecurityPolicy(v *state.View, req *listSecurityPolicyRequest) (*listSecurityPolicyResponse, error) {
	hasTags := tagging.Filter(v, kinds.TagNLBSecurityPolicy, req.Tags)
	found := slices.DeleteFunc(slices.Collect(kinds.NLBSecurityPoliciesByRegion.InScope(v)),
		func(p *kinds.NLBSecurityPolicy) bool {
			return !listing.Among(req.SecurityPolicyIDs, p.ID) || !listing.Among(req.SecurityPolicyNames, p.Name) || !listing.Among(req.ResourceGroupIDs, p.ResourceGroupID) || !listing.Matches(req.ResourceGroupID, p.ResourceGroupID) ||
				!hasTags(p.ID)
		})
	part, page, err := listing.Cut(found, req.ByToken, func(p *kinds.NLBSecurityPolicy) string { return kinds.Newest(p.CreateTime) + "/" + p.ID })
	if err != nil {
		return nil, err
	}
	resp := &listSecurityPolicyResponse{Paging: page}
	for _, p := range part {
		show := securityPolicy{SecurityPolicyID: p.ID, SecurityPolicyName: p.Name, SecurityPolicyStatus: "Available", RegionID: p.RegionID,
			TLSVersion: strings.Join(p.TLSVersions, ","), Ciphers: strings.Join(p.Ciphers, ","), ResourceGroupID: p.ResourceGroupID,
			Tags: tagging.Of(v, kinds.TagNLBSecurityPolicy, p.ID)}
		for l := range kinds.NLBListenersBySecurityPolicy.List(v, p.ID) {
			show.RelatedListeners = append(show.RelatedListeners, relatedListener{l.ID, l.Port, l.Protocol, l.LoadBalancerID})
		}
		resp.SecurityPolicies = append(resp.SecurityPolicies, show)
	}
	return resp, nil
}
