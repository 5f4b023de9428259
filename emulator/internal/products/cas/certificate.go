package cas

import (
	"crypto/tls"
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var certificateActions = []gateway.Action{
	gateway.Write("UploadUserCertificate", uploadUserCertificate),
	gateway.Read("GetUserCertificateDetail", getUserCertificateDetail),
	gateway.Read("ListUserCertificateOrder", listUserCertificateOrder).Refusing(errOrderTypeUnknown, errStatusUnknown),
	gateway.Write("DeleteUserCertificate", deleteUserCertificate),
}

// The refusals of this file.
var (
	errNameTaken = refusals.New("NameTaken", 400, "NameRepeat",
		"The certificate name already exists.", "CLB-0412")
	errAlgorithm = refusals.New("Algorithm", 400, "UnsupportedAlgorithm",
		"Certificates of Chinese algorithms are not supported here.", "CLB-0412")
	errCertificateMalformed = refusals.New("CertificateMalformed", 400, "InvalidCert",
		"The certificate is not valid.", "CLB-0412")
	errKeyMismatch = refusals.New("KeyMismatch", 400, "InvalidKey",
		"The private key is not valid, or belongs to another certificate.", "CLB-0412")
	errTagInvalid = refusals.New("TagInvalid", 400, "InvalidTag",
		"The tags are not valid.", "CLB-0412")
	errOrderTypeUnknown = refusals.New("OrderTypeUnknown", 400, "InvalidOrderType",
		"The OrderType is not valid.", "CLB-0412")
	errStatusUnknown = refusals.New("StatusUnknown", 400, "InvalidStatus",
		"The Status is not valid.", "CLB-0412")
)

type uploadUserCertificateRequest struct {
	Name              string        `rpc:"Name,required,len=1..63"`
	Cert              string        `rpc:"Cert"`
	Key               string        `rpc:"Key"`
	EncryptCert       string        `rpc:"EncryptCert"`
	EncryptPrivateKey string        `rpc:"EncryptPrivateKey"`
	SignCert          string        `rpc:"SignCert"`
	SignPrivateKey    string        `rpc:"SignPrivateKey"`
	ResourceGroupID   string        `rpc:"ResourceGroupId"`
	Tags              []tagging.Tag `rpc:"Tags,max=20,invalid=TagInvalid"`
}

// Validate implements the gateway's check of shape.
func (r *uploadUserCertificateRequest) Validate() error {
	if err := (tagging.Refusals{Key: errTagInvalid, Value: errTagInvalid}).Check(r.Tags); err != nil {
		return err
	}
	switch {
	case r.EncryptCert != "", r.EncryptPrivateKey != "", r.SignCert != "", r.SignPrivateKey != "":
		return errAlgorithm
	case r.Cert == "":
		return gateway.Missing("Cert")
	case r.Key == "":
		return gateway.Missing("Key")
	}
	return nil
}

type uploadUserCertificateResponse struct {
	CertID int64 `rpc:"CertId"`
}

func uploadUserCertificate(tx *state.Tx, req *uploadUserCertificateRequest) (*uploadUserCertificateResponse, error) {
	content, err := kinds.ParseCertificate(req.Cert)
	if err != nil {
		return nil, errCertificateMalformed
	}
	if _, err := tls.X509KeyPair([]byte(req.Cert), []byte(req.Key)); err != nil {
		return nil, errKeyMismatch
	}
	account := tx.Scope().AccountID
	if _, taken := kinds.UserCertificatesByName.First(tx.View, account, req.Name); taken {
		return nil, errNameTaken
	}
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	c := &kinds.UserCertificate{AccountID: account, ID: tx.NewCertificateNumber(kinds.UserCertificates.Kind()), Name: req.Name, CertificateContent: content,
		PrivateKey: req.Key, ResourceGroupID: group, CreateTime: tx.Now()}
	kinds.UserCertificates.Put(tx, c)
	tagging.Set(tx.In(c.Belonging()), kinds.TagUserCertificate, kinds.UserCertificates.ID(c), req.Tags)
	return &uploadUserCertificateResponse{c.ID}, nil
}

type certificateRequest struct {
	CertID int64 `rpc:"CertId,required"`
}

func (r *certificateRequest) certificate(v *state.View) (*kinds.UserCertificate, error) {
	return kinds.UserCertificates.Get(v, strconv.FormatInt(r.CertID, 10))
}

// deleteUserCertificate leaves what CLB and listeners of NLB took over, which are
// copies: CLB-0411.
func deleteUserCertificate(tx *state.Tx, req *certificateRequest) (*gateway.Empty, error) {
	c, err := req.certificate(tx.View)
	if err != nil {
		return nil, err
	}
	kinds.UserCertificates.Remove(tx, kinds.UserCertificates.ID(c))
	return &gateway.Empty{}, nil
}
