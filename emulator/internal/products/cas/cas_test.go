package cas_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/cas"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

type params = gatewaytest.Params

const account = "1234567890123456"

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../../contracttests/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// upload returns the parameters of a call that succeeds.
func upload(t *testing.T, name string) params {
	return params{"Name": name, "Cert": read(t, "certificate.pem"), "Key": read(t, "key.pem")}
}

func with(base params, name, value string) params { return base.With(params{name: value}) }

// plant adds a certificate of the account, one of another, and a listener that names
// the first by its identifier.
func plant(tx *state.Tx) error {
	if err := world.Default().Plant(tx); err != nil {
		return err
	}
	kinds.UserCertificates.Put(tx, &kinds.UserCertificate{AccountID: account, ID: 11111111, Name: "taken"})
	kinds.UserCertificates.Put(tx, &kinds.UserCertificate{AccountID: "1", ID: 22222222, Name: "foreign"})
	return nil
}

func plantListener(tx *state.Tx) error {
	owner := state.Owner{AccountID: account, RegionID: "cn-hangzhou"}
	tx = tx.In(owner)
	ip, err := kinds.AllocateAddress(tx, "vsw-bp1clbemu000000000001", "192.168.0.0/24", "", kinds.NLBLoadBalancers.Kind(), "nlb-1")
	if err != nil {
		return err
	}
	kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-1", Status: kinds.NLBActive, AddressType: kinds.NLBIntranet,
		VPCID: "vpc-bp1clbemu000000000001", ZoneMappings: []kinds.NLBZoneMapping{{ZoneID: "cn-hangzhou-h", VSwitchID: "vsw-bp1clbemu000000000001",
			PrivateIPv4Address: ip}}})
	kinds.NLBServerGroups.Put(tx, &kinds.NLBServerGroup{Owner: owner, ID: "sgp-1", Name: "sgp-1", Status: kinds.NLBGroupAvailable, Protocol: kinds.NLBTCPSSL,
		Type: kinds.NLBGroupOfInstances, VPCID: "vpc-bp1clbemu000000000001", Scheduler: "Wrr"})
	kinds.NLBListeners.Put(tx, &kinds.NLBListener{Owner: owner, ID: "lsn-1", LoadBalancerID: "nlb-1", Protocol: kinds.NLBTCPSSL, Port: 443,
		Status: kinds.NLBListenerRunning, ServerGroupID: "sgp-1", IdleTimeout: 900, CertificateIDs: []string{"11111111-cn-hangzhou"}})
	return nil
}

// The action tables match the API's metadata, with known exceptions.
func TestActions(t *testing.T) {
	gatewaytest.MatchActions(t, cas.Product(gateway.Deps{}), "testdata/actions.json", map[string]string{
		"GetUserCertificateDetail->EncryptCert":                            "certificates of Chinese algorithms are refused",
		"GetUserCertificateDetail->EncryptPrivateKey":                      "certificates of Chinese algorithms are refused",
		"GetUserCertificateDetail->SignCert":                               "certificates of Chinese algorithms are refused",
		"GetUserCertificateDetail->SignPrivateKey":                         "certificates of Chinese algorithms are refused",
		"GetUserCertificateDetail->OrderId":                                "no certificate here was ordered",
		"GetUserCertificateDetail->InstanceId":                             "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].AliyunOrderId":   "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].BuyDate":         "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].CertEndTime":     "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].CertStartTime":   "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].CertType":        "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].Domain":          "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].DomainCount":     "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].DomainType":      "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].InstanceId":      "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].OrderId":         "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].PartnerOrderId":  "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].ProductCode":     "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].ProductName":     "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].RootBrand":       "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].SourceType":      "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].Status":          "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].TrusteeStatus":   "no certificate here was ordered",
		"ListUserCertificateOrder->CertificateOrderList[].WildDomainCount": "no certificate here was ordered",
	})
}

// No fact of the package leaves as an InternalError.
func TestTagsNameRefusals(t *testing.T) { gatewaytest.MatchTags(t, cas.Product(gateway.Deps{})) }

// Every refusal has a call that triggers it.
func TestErrors(t *testing.T) {
	good := upload(t, "new")
	gatewaytest.MatchErrors(t, cas.Product(gateway.Deps{}), plant, []gatewaytest.ErrorCase{
		{Name: "NoName", Action: "UploadUserCertificate", Params: with(good, "Name", ""), Status: 400, Code: "MissingName"},
		{Name: "NoCert", Action: "UploadUserCertificate", Params: with(good, "Cert", ""), Status: 400, Code: "MissingCert"},
		{Name: "NoKey", Action: "UploadUserCertificate", Params: with(good, "Key", ""), Status: 400, Code: "MissingKey"},
		{Name: "Malformed", Action: "UploadUserCertificate", Params: with(good, "Cert", "x"), Status: 400, Code: "InvalidCert"},
		{Name: "Key", Action: "UploadUserCertificate", Params: with(good, "Key", "x"), Status: 400, Code: "InvalidKey"},
		{Name: "Taken", Action: "UploadUserCertificate", Params: with(good, "Name", "taken"), Status: 400, Code: "NameRepeat"},
		{Name: "Chinese", Action: "UploadUserCertificate", Params: with(good, "SignCert", "x"), Status: 400, Code: "UnsupportedAlgorithm"},
		{Name: "Tag", Action: "UploadUserCertificate", Params: with(good, "Tags.1.Key", "acs:x"), Status: 400, Code: "InvalidTag"},
		{Name: "Group", Action: "UploadUserCertificate", Params: with(good, "ResourceGroupId", "rg-none"), Status: 404, Code: "NotFound.ResourceGroup"},
		{Name: "Unknown", Action: "GetUserCertificateDetail", Params: params{"CertId": "1"}, Status: 404, Code: "NotFound"},
		{Name: "Foreign", Action: "GetUserCertificateDetail", Params: params{"CertId": "22222222"}, Status: 404, Code: "NotFound"},
		{Name: "OrderType", Action: "ListUserCertificateOrder", Params: params{"OrderType": "GIFT"}, Status: 400, Code: "InvalidOrderType"},
		{Name: "Status", Action: "ListUserCertificateOrder", Params: params{"Status": "HAPPY"}, Status: 400, Code: "InvalidStatus"},
		{Name: "Unknown", Action: "DeleteUserCertificate", Params: params{"CertId": "1"}, Status: 404, Code: "NotFound"},
	})
}

// A certificate is returned as it was uploaded, with its key unless the request leaves
// that out, and gone when it is deleted; CLB's copy stays.
func TestLife(t *testing.T) {
	clock := state.NewManualClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	store := gatewaytest.StoreAt(t, clock, plant)
	c := gatewaytest.NewClient(t, store, cas.Product(gateway.Deps{}))
	good := with(with(upload(t, "new"), "Tags.1.Key", "team"), "Tags.1.Value", "net")
	id := c.Do("UploadUserCertificate", good).Text("CertId")
	if len(id) != 8 {
		t.Errorf("CertId = %s, want eight digits", id)
	}
	got := c.Do("GetUserCertificateDetail", params{"CertId": id})
	for path, want := range map[string]string{"Id": id, "Name": "new", "CertIdentifier": id + "-cn-hangzhou", "Cert": good["Cert"], "Key": good["Key"],
		"Tags.0.TagKey": "team", "Tags.0.TagValue": "net", "BuyInAliyun": "false", "Expired": "false"} {
		if got.Text(path) != want {
			t.Errorf("%s = %q, want %q", path, got.Text(path), want)
		}
	}
	if hex := got.Text("Fingerprint"); len(hex) != 40 || hex != strings.ToUpper(hex) {
		t.Errorf("Fingerprint = %s, want SHA-1 in capitals", hex)
	}
	if filtered := c.Do("GetUserCertificateDetail", params{"CertId": id, "CertFilter": "true"}); filtered.Text("Key")+filtered.Text("Cert") != "" {
		t.Error("CertFilter left the key or the certificate in the answer")
	}

	lb := gatewaytest.NewClient(t, store, clb.Product(gateway.Deps{}))
	taken := lb.Do("UploadServerCertificate", params{"AliCloudCertificateId": id, "AliCloudCertificateRegionId": "cn-hangzhou", "ServerCertificateName": "copy"})
	if taken.Text("AliCloudCertificateId") != id || taken.Text("AliCloudCertificateName") != "new" || taken.Text("IsAliCloudCertificate") != "1" {
		t.Errorf("UploadServerCertificate = %v, want it of %s", taken.Body, id)
	}
	c.Do("DeleteUserCertificate", params{"CertId": id})
	if got := lb.Do("DescribeServerCertificates", params{}).Text("ServerCertificates.ServerCertificate.0.AliCloudCertificateId"); got != id {
		t.Errorf("CLB's copy comes from %q, want %s", got, id)
	}
}

// A certificate in use by a listener goes, as the listener has a copy.
func TestDeleteInUse(t *testing.T) {
	c := gatewaytest.NewClient(t, gatewaytest.Store(t, plant, plantListener), cas.Product(gateway.Deps{}))
	c.Do("DeleteUserCertificate", params{"CertId": "11111111"})
}

// A certificate without alternative names is for its common name.
func TestSans(t *testing.T) {
	c := gatewaytest.NewClient(t, gatewaytest.Store(t, plant), cas.Product(gateway.Deps{}))
	for name, want := range map[string]string{"*.example.top": "*.example.top", "": ""} {
		cert, key := selfSigned(t, name)
		id := c.Do("UploadUserCertificate", params{"Name": "cn" + name, "Cert": cert, "Key": key}).Text("CertId")
		if got := c.Do("GetUserCertificateDetail", params{"CertId": id}).Text("Sans"); got != want {
			t.Errorf("Sans = %q of a certificate with the common name %q, want %q", got, name, want)
		}
		listed := c.Do("ListUserCertificateOrder", params{"OrderType": "UPLOAD", "Keyword": "cn" + name})
		if got := listed.Text("CertificateOrderList.0.Sans"); got != want {
			t.Errorf("Sans = %q in the list, want %q", got, want)
		}
	}
}

// selfSigned returns a certificate with a common name and no extension, and its key.
func selfSigned(t *testing.T, name string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: gatewaytest.Start.AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes}))
}

// Each filter of ListUserCertificateOrder selects.
func TestList(t *testing.T) {
	clock := state.NewManualClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	store := gatewaytest.StoreAt(t, clock, world.Default().Plant)
	c := gatewaytest.NewClient(t, store, cas.Product(gateway.Deps{}))
	for _, name := range []string{"one", "two"} {
		c.Do("UploadUserCertificate", upload(t, name))
	}
	count := func(p params, want string) {
		t.Helper()
		if got := c.Do("ListUserCertificateOrder", p).Text("TotalCount"); got != want {
			t.Errorf("%v found %s, want %s", p, got, want)
		}
	}
	count(params{}, "0")
	count(params{"OrderType": "BUY"}, "0")
	count(params{"OrderType": "UPLOAD"}, "2")
	count(params{"OrderType": "CERT", "Keyword": "one"}, "1")
	count(params{"OrderType": "CERT", "Keyword": "no such name"}, "0")
	count(params{"OrderType": "CERT", "ResourceGroupId": "rg-x"}, "0")
	count(params{"OrderType": "CERT", "Status": "ISSUED"}, "2")
	detail := c.Do("ListUserCertificateOrder", params{"OrderType": "CERT", "ShowSize": "1", "CurrentPage": "2"})
	if detail.Text("CertificateOrderList.0.Name") == "" || detail.Text("CertificateOrderList.1.Name") != "" {
		t.Errorf("page 2 of 1 = %v, want one certificate", detail.Body)
	}
	end, err := time.Parse(time.DateOnly, detail.Text("CertificateOrderList.0.EndDate"))
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(end.Sub(clock.Now()) - 5*24*time.Hour)
	count(params{"OrderType": "CERT", "Status": "WILLEXPIRED"}, "2")
	clock.Advance(10 * 24 * time.Hour)
	count(params{"OrderType": "CERT", "Status": "EXPIRED"}, "2")
}
