package clb

import (
	"cmp"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var certificateActions = []gateway.Action{
	gateway.Write("UploadServerCertificate", uploadServerCertificate),
	gateway.Write("SetServerCertificateName", setServerCertificateName),
	gateway.Write("DeleteServerCertificate", deleteServerCertificate),
	gateway.Read("DescribeServerCertificates", describeServerCertificates),
	gateway.Write("UploadCACertificate", uploadCACertificate),
	gateway.Write("SetCACertificateName", setCACertificateName),
	gateway.Write("DeleteCACertificate", deleteCACertificate),
	gateway.Read("DescribeCACertificates", describeCACertificates),
}

// The refusals of this file.
var (
	errAliCloudCertificateUnknown = refusals.New("AliCloudCertificateUnknown", 400, "InvalidParameter.AliCloudCertificateId",
		"The specified AliCloudCertificateId is invalid.", "CLB-0200")
	errCertificateMalformed = refusals.New("CertificateMalformed", 400, "CertificateFormatInvalid",
		"The certificate format is invalid.", "CLB-0200")
	errPrivateKeyMalformed = refusals.New("PrivateKeyMalformed", 400, "KeyFormatError",
		"The specified ServerCertificate is incorrectly formatted.", "CLB-0201")
	errPrivateKeyEncrypted = refusals.New("PrivateKeyEncrypted", 400, "PrivateKeyEncryption",
		"Key has Encrypted .", "CLB-0201")
	errPrivateKeyMismatch = refusals.New("PrivateKeyMismatch", 400, "CertificateNotMatchPrivateKey",
		"Certificate and key does not match.", "CLB-0201")
	errCertificateInUse = refusals.New("CertificateInUse", 400, "CertificateAndPrivateKeyIsRefered",
		"The specified certificate is bound to listeners. You cannot delete it.", "CLB-0200")
	errCertificateInDomainExtension = refusals.New("CertificateInDomainExtension", 400, "CertificateRelatedDomainExtensionExist",
		"The domainExtension related with this ServerCertificate exists.", "CLB-0200")
	errKeyTooShort = refusals.New("KeyTooShort", 400, "OperationDenied.IllegalKeyLength",
		"The operation is not allowed because the key length of certificate is illegal.", "CLB-0200")
	errCertificateInOtherGroup = refusals.New("CertificateInOtherGroup", 400, "Abs.ServerCertificateIdAndResourceGroupId.MissMatch",
		"ServerCertificateId or ResourceGroupId miss match.", "CLB-0200")
	errCACertificateInOtherGroup = refusals.New("CACertificateInOtherGroup", 400, "Abs.CACertificateIdAndResourceGroupId.MissMatch",
		"CACertificateId or ResourceGroupId miss match.", "CLB-0200")
	errCertificateExpired = refusals.New("CertificateExpired", 400, "InvalidParameter",
		"The specified ServerCertificate and PrivateKey fail to validate.", "CLB-0200")
)

// shortestRSAKey is the shortest of the lengths that the page "Certificate requirements" lists.
const shortestRSAKey = 1024

type uploadServerCertificateRequest struct {
	RegionID                    string        `rpc:"RegionId,required"`
	ServerCertificate           string        `rpc:"ServerCertificate"`
	PrivateKey                  string        `rpc:"PrivateKey"`
	ServerCertificateName       string        `rpc:"ServerCertificateName,len=1..80"`
	AliCloudCertificateID       string        `rpc:"AliCloudCertificateId"`
	AliCloudCertificateName     string        `rpc:"AliCloudCertificateName"`
	AliCloudCertificateRegionID string        `rpc:"AliCloudCertificateRegionId"`
	ResourceGroupID             string        `rpc:"ResourceGroupId"`
	Tags                        []tagging.Tag `rpc:"Tag"`
}

// Validate enforces the rules of shape.
func (req *uploadServerCertificateRequest) Validate() error {
	switch {
	case req.AliCloudCertificateID != "":
		return checkTags(req.Tags)
	case req.ServerCertificate == "":
		return gateway.Missing("ServerCertificate")
	case req.PrivateKey == "":
		return gateway.Missing("PrivateKey")
	}
	return checkTags(req.Tags)
}

// certificateTimes holds the times of a certificate in answers.
type certificateTimes struct {
	CreateTime      string `rpc:"CreateTime"`
	CreateTimeStamp int64  `rpc:"CreateTimeStamp"`
	ExpireTime      string `rpc:"ExpireTime"`
	ExpireTimeStamp int64  `rpc:"ExpireTimeStamp"`
}

type serverCertificateSummary struct {
	ServerCertificateID     string `rpc:"ServerCertificateId"`
	ServerCertificateName   string `rpc:"ServerCertificateName"`
	RegionID                string `rpc:"RegionId"`
	RegionIDAlias           string `rpc:"RegionIdAlias"`
	ResourceGroupID         string `rpc:"ResourceGroupId"`
	Fingerprint             string `rpc:"Fingerprint"`
	CommonName              string `rpc:"CommonName"`
	IsAliCloudCertificate   int    `rpc:"IsAliCloudCertificate"`
	AliCloudCertificateID   string `rpc:"AliCloudCertificateId"`
	AliCloudCertificateName string `rpc:"AliCloudCertificateName"`
	certificateTimes
	SubjectAlternativeNames []string `rpc:"SubjectAlternativeNames>SubjectAlternativeName"`
}

func summarizeCertificate(c *kinds.ServerCertificate) serverCertificateSummary {
	return serverCertificateSummary{
		ServerCertificateID:     c.ID,
		ServerCertificateName:   c.Name,
		RegionID:                c.RegionID,
		RegionIDAlias:           c.RegionID,
		ResourceGroupID:         c.ResourceGroupID,
		Fingerprint:             c.Fingerprint,
		CommonName:              c.CommonName,
		IsAliCloudCertificate:   isAliCloudCertificate(c),
		AliCloudCertificateID:   c.AliCloudCertificateID,
		AliCloudCertificateName: c.AliCloudCertificateName,
		certificateTimes:        certificateTimes{gateway.Second(c.CreateTime), c.CreateTime.UnixMilli(), gateway.Second(c.NotAfter), c.NotAfter.UnixMilli()},
		SubjectAlternativeNames: c.SANs,
	}
}

func isAliCloudCertificate(c *kinds.ServerCertificate) int {
	if c.AliCloudCertificateID == "" {
		return 0
	}
	return 1
}

// source returns the certificate that the request uploads, or that it names by its number in the
// certificate service: CLB-0413.
func (req *uploadServerCertificateRequest) source(v *state.View) (kinds.ServerCertificate, error) {
	if req.AliCloudCertificateID != "" {
		c, ok := kinds.UserCertificates.Find(v, req.AliCloudCertificateID)
		if !ok || req.AliCloudCertificateRegionID != "" && c.Identifier() != req.AliCloudCertificateID+"-"+req.AliCloudCertificateRegionID {
			return kinds.ServerCertificate{}, errAliCloudCertificateUnknown
		}
		return kinds.ServerCertificate{CertificateContent: c.CertificateContent, PrivateKey: c.PrivateKey,
			AliCloudCertificateID: req.AliCloudCertificateID, AliCloudCertificateName: c.Name}, nil
	}
	content, err := kinds.ParseCertificate(req.ServerCertificate)
	if err != nil {
		return kinds.ServerCertificate{}, errCertificateMalformed
	}
	if content.Algorithm == "RSA" && content.KeyLength < shortestRSAKey {
		return kinds.ServerCertificate{}, errKeyTooShort
	}
	return kinds.ServerCertificate{CertificateContent: content, PrivateKey: req.PrivateKey}, checkPrivateKey(req.ServerCertificate, req.PrivateKey)
}

func uploadServerCertificate(tx *state.Tx, req *uploadServerCertificateRequest) (*serverCertificateSummary, error) {
	c, err := req.source(tx.View)
	if err != nil {
		return nil, err
	}
	if err := checkExpiry(tx.View, c.CertificateContent); err != nil {
		return nil, err
	}
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	scope := tx.Scope()
	if err := tx.Use(kinds.QuotaCertificates, scope.RegionID, 1); err != nil {
		return nil, err
	}
	c.Owner, c.ID, c.ResourceGroupID, c.CreateTime = tx.Scope(), tx.NewCertificateID(kinds.ServerCertificates.Kind()), group, tx.Now()
	c.Name = cmp.Or(req.ServerCertificateName, c.ID)
	kinds.ServerCertificates.Put(tx, &c)
	tagging.Set(tx, kinds.TagServerCertificate, c.ID, req.Tags)
	summary := summarizeCertificate(&c)
	return &summary, nil
}

// checkExpiry refuses an expired certificate to an account that refuses them: the
// cloud takes it as far as one can tell. CLB-0192.
func checkExpiry(v *state.View, content kinds.CertificateContent) error {
	account, err := kinds.Accounts.Get(v, v.Scope().AccountID)
	if err == nil && account.RefusesExpiredCertificates && !v.Now().Before(content.NotAfter) {
		err = errCertificateExpired
	}
	return err
}

// checkPrivateKey finds out whether the key is readable, open and the
// certificate's own.
func checkPrivateKey(certificate, key string) error {
	block, rest := pem.Decode([]byte(key))
	switch {
	case block == nil || len(strings.TrimSpace(string(rest))) > 0 && block.Type != "EC PARAMETERS":
		return errPrivateKeyMalformed
	case block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
		return errPrivateKeyEncrypted
	}
	if !readableKey(key) {
		return errPrivateKeyMalformed
	}
	if _, err := tls.X509KeyPair([]byte(certificate), []byte(key)); err != nil {
		return errPrivateKeyMismatch
	}
	return nil
}

// readableKey reports whether the text holds a private key in one of the usual
// forms.
func readableKey(text string) bool {
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return false
		}
		for _, parse := range []func([]byte) (crypto.PrivateKey, error){
			func(der []byte) (crypto.PrivateKey, error) { return x509.ParsePKCS1PrivateKey(der) },
			func(der []byte) (crypto.PrivateKey, error) { return x509.ParseECPrivateKey(der) },
			func(der []byte) (crypto.PrivateKey, error) { return x509.ParsePKCS8PrivateKey(der) },
		} {
			if _, err := parse(block.Bytes); err == nil {
				return true
			}
		}
	}
}

type setServerCertificateNameRequest struct {
	RegionID              string `rpc:"RegionId,required"`
	ServerCertificateID   string `rpc:"ServerCertificateId,required"`
	ServerCertificateName string `rpc:"ServerCertificateName,required,len=1..80"`
}

func setServerCertificateName(tx *state.Tx, req *setServerCertificateNameRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.ServerCertificates.Edit(tx, req.ServerCertificateID, func(c *kinds.ServerCertificate) error {
		c.Name = req.ServerCertificateName
		return nil
	})
}

type deleteServerCertificateRequest struct {
	RegionID            string `rpc:"RegionId"`
	ServerCertificateID string `rpc:"ServerCertificateId,required"`
}

func deleteServerCertificate(tx *state.Tx, req *deleteServerCertificateRequest) (*gateway.Empty, error) {
	if _, err := kinds.ServerCertificates.Get(tx.View, req.ServerCertificateID); err != nil {
		return nil, err
	}
	if _, used := kinds.ListenersByCertificate.First(tx.View, req.ServerCertificateID); used {
		return nil, errCertificateInUse
	}
	if _, used := kinds.DomainExtensionsByCertificate.First(tx.View, req.ServerCertificateID); used {
		return nil, errCertificateInDomainExtension
	}
	kinds.ServerCertificates.Remove(tx, req.ServerCertificateID)
	return &gateway.Empty{}, nil
}

type describeServerCertificatesRequest struct {
	RegionID            string           `rpc:"RegionId"`
	ServerCertificateID string           `rpc:"ServerCertificateId"`
	ResourceGroupID     string           `rpc:"ResourceGroupId"`
	Tags                []tagFilterParam `rpc:"Tag,max=20"`
}

type describeServerCertificatesResponse struct {
	ServerCertificates []serverCertificateItem `rpc:"ServerCertificates>ServerCertificate"`
}

type serverCertificateItem struct {
	serverCertificateSummary
	EncryptionAlgorithm string          `rpc:"EncryptionAlgorithm"`
	EncryptionKeyLength int             `rpc:"EncryptionKeyLength"`
	Tags                []tagging.Shown `rpc:"Tags>Tag"`
}

// describeServerCertificates answers an unknown id with an empty list: a CCM
// asks for the old certificate of a listener and takes an error for the end of
// its work. CLB-0160.
func describeServerCertificates(v *state.View, req *describeServerCertificatesRequest) (*describeServerCertificatesResponse, error) {
	if c, ok := kinds.ServerCertificates.Find(v, req.ServerCertificateID); ok && req.ResourceGroupID != "" && c.ResourceGroupID != req.ResourceGroupID {
		return nil, errCertificateInOtherGroup
	}
	resp := &describeServerCertificatesResponse{}
	for c := range kinds.ServerCertificatesByRegion.InScope(v) {
		if (req.ServerCertificateID == "" || c.ID == req.ServerCertificateID) &&
			(req.ResourceGroupID == "" || c.ResourceGroupID == req.ResourceGroupID) &&
			state.HasTags(v, kinds.TagServerCertificate, c.ID, tagFilters(req.Tags)) {
			resp.ServerCertificates = append(resp.ServerCertificates, serverCertificateItem{
				serverCertificateSummary: summarizeCertificate(c),
				EncryptionAlgorithm:      c.Algorithm,
				EncryptionKeyLength:      c.KeyLength,
				Tags:                     tagging.ShownOf(v, kinds.TagServerCertificate, c.ID),
			})
		}
	}
	return resp, nil
}

type uploadCACertificateRequest struct {
	RegionID          string        `rpc:"RegionId,required"`
	CACertificate     string        `rpc:"CACertificate,required"`
	CACertificateName string        `rpc:"CACertificateName,len=1..80"`
	ResourceGroupID   string        `rpc:"ResourceGroupId"`
	Tags              []tagging.Tag `rpc:"Tag"`
}

// Validate enforces the rules of shape.
func (req *uploadCACertificateRequest) Validate() error { return checkTags(req.Tags) }

type caCertificateSummary struct {
	CACertificateID   string `rpc:"CACertificateId"`
	CACertificateName string `rpc:"CACertificateName"`
	ResourceGroupID   string `rpc:"ResourceGroupId"`
	Fingerprint       string `rpc:"Fingerprint"`
	CommonName        string `rpc:"CommonName"`
	certificateTimes
}

func summarizeCACertificate(c *kinds.CACertificate) caCertificateSummary {
	return caCertificateSummary{
		c.ID, c.Name, c.ResourceGroupID, c.Fingerprint, c.CommonName,
		certificateTimes{gateway.Second(c.CreateTime), c.CreateTime.UnixMilli(), gateway.Second(c.NotAfter), c.NotAfter.UnixMilli()},
	}
}

func uploadCACertificate(tx *state.Tx, req *uploadCACertificateRequest) (*caCertificateSummary, error) {
	content, err := kinds.ParseCertificate(req.CACertificate)
	if err != nil {
		return nil, errCertificateMalformed
	}
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	scope := tx.Scope()
	if err := tx.Use(kinds.QuotaCACertificates, scope.RegionID, 1); err != nil {
		return nil, err
	}
	c := &kinds.CACertificate{
		Owner:              tx.Scope(),
		ID:                 tx.NewCertificateID(kinds.CACertificates.Kind()),
		Name:               req.CACertificateName,
		CertificateContent: content,
		ResourceGroupID:    group,
		CreateTime:         tx.Now(),
	}
	if c.Name == "" {
		c.Name = c.ID
	}
	kinds.CACertificates.Put(tx, c)
	tagging.Set(tx, kinds.TagCACertificate, c.ID, req.Tags)
	summary := summarizeCACertificate(c)
	return &summary, nil
}

type setCACertificateNameRequest struct {
	RegionID          string `rpc:"RegionId,required"`
	CACertificateID   string `rpc:"CACertificateId,required"`
	CACertificateName string `rpc:"CACertificateName,required,len=1..80"`
}

func setCACertificateName(tx *state.Tx, req *setCACertificateNameRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.CACertificates.Edit(tx, req.CACertificateID, func(c *kinds.CACertificate) error {
		c.Name = req.CACertificateName
		return nil
	})
}

type deleteCACertificateRequest struct {
	RegionID        string `rpc:"RegionId,required"`
	CACertificateID string `rpc:"CACertificateId,required"`
}

func deleteCACertificate(tx *state.Tx, req *deleteCACertificateRequest) (*gateway.Empty, error) {
	if _, err := kinds.CACertificates.Get(tx.View, req.CACertificateID); err != nil {
		return nil, err
	}
	if _, used := kinds.ListenersByCertificate.First(tx.View, req.CACertificateID); used {
		return nil, errCertificateInUse
	}
	kinds.CACertificates.Remove(tx, req.CACertificateID)
	return &gateway.Empty{}, nil
}

type describeCACertificatesRequest struct {
	RegionID        string           `rpc:"RegionId,required"`
	CACertificateID string           `rpc:"CACertificateId"`
	ResourceGroupID string           `rpc:"ResourceGroupId"`
	Tags            []tagFilterParam `rpc:"Tag,max=20"`
}

type describeCACertificatesResponse struct {
	CACertificates []caCertificateItem `rpc:"CACertificates>CACertificate"`
}

type caCertificateItem struct {
	caCertificateSummary
	RegionID            string          `rpc:"RegionId"`
	EncryptionAlgorithm string          `rpc:"EncryptionAlgorithm"`
	EncryptionKeyLength int             `rpc:"EncryptionKeyLength"`
	Tags                []tagging.Shown `rpc:"Tags>Tag"`
}

func describeCACertificates(v *state.View, req *describeCACertificatesRequest) (*describeCACertificatesResponse, error) {
	if c, ok := kinds.CACertificates.Find(v, req.CACertificateID); ok && req.ResourceGroupID != "" && c.ResourceGroupID != req.ResourceGroupID {
		return nil, errCACertificateInOtherGroup
	}
	resp := &describeCACertificatesResponse{}
	for c := range kinds.CACertificatesByRegion.InScope(v) {
		if (req.CACertificateID == "" || c.ID == req.CACertificateID) &&
			(req.ResourceGroupID == "" || c.ResourceGroupID == req.ResourceGroupID) &&
			state.HasTags(v, kinds.TagCACertificate, c.ID, tagFilters(req.Tags)) {
			resp.CACertificates = append(resp.CACertificates, caCertificateItem{
				summarizeCACertificate(c), c.RegionID, c.Algorithm, c.KeyLength, tagging.ShownOf(v, kinds.TagCACertificate, c.ID),
			})
		}
	}
	return resp, nil
}
