package nlb

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/state"
)

var certificateActions = []gateway.Action{
	changes.ByJob(changing, "AssociateAdditionalCertificatesWithListener", associateAdditionalCertificatesWithListener, changes.OfJob),
	changes.ByJob(changing, "DisassociateAdditionalCertificatesWithListener", disassociateAdditionalCertificatesWithListener, changes.OfJob),
	gateway.Read("ListListenerCertificates", listListenerCertificates),
}

// The refusals of this file.
var (
	errCertificateMissing = refusals.New("CertificateMissing", 400, "MissingParam.Certificate",
		"The param of certificate is missing.", "NLB-0001")
	errCertificateUnknown = refusals.New("CertificateUnknown", 400, "ResourceNotFound.Certificate",
		"The specified resource %s is not found.", "NLB-0001")
	errCACertificateUnknown = refusals.New("CACertificateUnknown", 404, "ResourceNotFound.CaCertificate",
		"The specified resource of CaCertificate is not found.", "NLB-0001")
	errCertificateCount = refusals.New("CertificateCount", 400, "IllegalParamSize.certificateIds",
		"The param size of certificateIds or caCertificateIds is illegal.", "NLB-0001")
	errNotTCPSSL = refusals.New("NotTCPSSL", 400, "OperationDenied.ListenerProtocolNotSupport",
		"The operation is not allowed because of ListenerProtocolNotSupport.", "CLB-0203")
	errCertificateAssociated = refusals.New("CertificateAssociated", 400, "ResourceAlreadyAssociated.Certificate",
		"The specified resource %s is already associated.", "NLB-0001")
	errCertificateNotAssociated = refusals.New("CertificateNotAssociated", 400, "ResourceNotAssociated.Certificate",
		"The specified resource of %s is not associated.", "CLB-0203")
	errAlpnPolicyMissing = missing("AlpnPolicy")
)

// tlsSettings holds the settings that only a TCPSSL listener has.
type tlsSettings struct {
	SecurityPolicyID string   `rpc:"SecurityPolicyId"`
	CertificateIDs   []string `rpc:"CertificateIds"`
	CAEnabled        *bool    `rpc:"CaEnabled"`
	CACertificateIDs []string `rpc:"CaCertificateIds"`
	AlpnEnabled      *bool    `rpc:"AlpnEnabled"`
	AlpnPolicy       string   `rpc:"AlpnPolicy,enum=HTTP1Only|HTTP2Only|HTTP2Optional|HTTP2Preferred,invalid=Illegal"`
}

// apply puts the given settings into a TCPSSL listener; others take none of it.
func (s *tlsSettings) apply(v *state.View, l *kinds.NLBListener) error {
	if l.Protocol != kinds.NLBTCPSSL {
		return nil
	}
	if s.SecurityPolicyID != "" {
		l.SecurityPolicyID = s.SecurityPolicyID
	} else if l.SecurityPolicyID == "" {
		l.SecurityPolicyID = systemPolicies[0].SecurityPolicyID
	}
	had := l.CertificateIDs
	if s.CertificateIDs != nil {
		l.CertificateIDs = s.CertificateIDs
	}
	if s.CACertificateIDs != nil {
		l.CACertificateIDs = s.CACertificateIDs
	}
	set(&l.CAEnabled, s.CAEnabled)
	set(&l.AlpnEnabled, s.AlpnEnabled)
	if s.AlpnPolicy != "" {
		l.AlpnPolicy = s.AlpnPolicy
	}
	if !l.AlpnEnabled {
		l.AlpnPolicy = "" // NLB-0031
	}
	return checkTLS(v, l, had)
}

// checkTLS lets certificates be that the listener had already, also those that are
// gone since: CLB-0411.
func checkTLS(v *state.View, l *kinds.NLBListener, had []string) error {
	switch {
	case len(l.CertificateIDs) == 0, l.CAEnabled && len(l.CACertificateIDs) == 0:
		return errCertificateMissing
	case len(l.CertificateIDs) > 1 || len(l.CACertificateIDs) > 1:
		return errCertificateCount
	case l.AlpnEnabled && l.AlpnPolicy == "":
		return errAlpnPolicyMissing
	}
	added := slices.DeleteFunc(slices.Clone(l.CertificateIDs), func(id string) bool { return slices.Contains(had, id) })
	if err := checkCertificates(v, added); err != nil {
		return err
	}
	for _, id := range l.CACertificateIDs {
		if _, ok := kinds.CACertificates.Find(v, id); !ok {
			return errCACertificateUnknown
		}
	}
	if isSystemPolicy(l.SecurityPolicyID) {
		return nil
	}
	_, err := kinds.NLBSecurityPolicies.Get(v, l.SecurityPolicyID)
	return err
}

// checkCertificates knows certificates of the certificate service, and those that
// came to CLB by upload: NLB-0012.
func checkCertificates(v *state.View, ids []string) error {
	for _, id := range ids {
		if _, ok := kinds.FindUserCertificate(v, id); ok {
			continue
		}
		if _, ok := kinds.ServerCertificates.Find(v, id); !ok {
			return errCertificateUnknown.Of(id)
		}
	}
	return nil
}

type additionalCertificatesRequest struct {
	listenerRequest
	AdditionalCertificateIDs []string `rpc:"AdditionalCertificateIds,required,max=15,invalid=Illegal"`
}

func (req *additionalCertificatesRequest) listener(v *state.View) (*kinds.NLBListener, error) {
	l, err := settledListener(v, req.ListenerID)
	if err == nil && l.Protocol != kinds.NLBTCPSSL {
		err = errNotTCPSSL
	}
	return l, err
}

func associateAdditionalCertificatesWithListener(tx *state.Tx, req *additionalCertificatesRequest) (*changes.Work, error) {
	l, err := req.listener(tx.View)
	if err != nil {
		return nil, err
	}
	ids := listing.Unique(req.AdditionalCertificateIDs)
	if err := checkCertificates(tx.View, ids); err != nil {
		return nil, err
	}
	for _, id := range ids {
		if slices.Contains(l.AdditionalCertificateIDs, id) || slices.Contains(l.CertificateIDs, id) {
			return nil, errCertificateAssociated.Of(id)
		}
	}
	if err := tx.Use(kinds.QuotaNLBCertificates, l.LoadBalancerID, len(ids)); err != nil {
		return nil, err
	}
	changed := *l
	changed.AdditionalCertificateIDs = slices.Concat(l.AdditionalCertificateIDs, ids)
	return relisten(tx, &changed), nil
}

func disassociateAdditionalCertificatesWithListener(tx *state.Tx, req *additionalCertificatesRequest) (*changes.Work, error) {
	l, err := req.listener(tx.View)
	if err != nil {
		return nil, err
	}
	changed := *l
	changed.AdditionalCertificateIDs = slices.Clone(l.AdditionalCertificateIDs)
	for _, id := range listing.Unique(req.AdditionalCertificateIDs) {
		at := slices.Index(changed.AdditionalCertificateIDs, id)
		if at < 0 {
			return nil, errCertificateNotAssociated.Of(id)
		}
		changed.AdditionalCertificateIDs = slices.Delete(changed.AdditionalCertificateIDs, at, at+1)
	}
	return relisten(tx, &changed), nil
}

type listListenerCertificatesRequest struct {
	gateway.Region
	listing.FewByToken
	ListenerID string   `rpc:"ListenerId,required"`
	CertType   string   `rpc:"CertType,enum=Server|Ca,default=Server,invalid=Illegal"`
	IDs        []string `rpc:"CertificateIds"`
}

type listListenerCertificatesResponse struct {
	CertificateIDs []string              `rpc:"CertificateIds"`
	Certificates   []listenerCertificate `rpc:"Certificates"`
	listing.Paging
}

type listenerCertificate struct {
	CertificateID   string `rpc:"CertificateId"`
	CertificateType string `rpc:"CertificateType"`
	IsDefault       bool   `rpc:"IsDefault"`
	Status          string `rpc:"Status"`
}

func listListenerCertificates(v *state.View, req *listListenerCertificatesRequest) (*listListenerCertificatesResponse, error) {
	l, err := kinds.NLBListeners.Get(v, req.ListenerID)
	if err != nil {
		return nil, err
	}
	var list []listenerCertificate
	add := func(ids []string, isDefault bool) {
		for _, id := range ids {
			if listing.Among(req.IDs, id) {
				list = append(list, listenerCertificate{id, req.CertType, isDefault, kinds.NLBCertificateAssociated})
			}
		}
	}
	if req.CertType == "Ca" {
		add(l.CACertificateIDs, true)
	} else {
		add(l.CertificateIDs, true)
		add(l.AdditionalCertificateIDs, false)
	}
	part, page, err := listing.Cut(list, listing.ByToken(req.FewByToken), func(c listenerCertificate) string { return c.CertificateID })
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(part))
	for i, c := range part {
		ids[i] = c.CertificateID
	}
	return &listListenerCertificatesResponse{ids, part, page}, nil
}
