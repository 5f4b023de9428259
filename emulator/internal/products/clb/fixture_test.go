package clb_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// The ids of the default world that the tests use.
const (
	account    = "1234567890123456"
	vpc1       = "vpc-bp1clbemu000000000001"
	vpc2       = "vpc-bp1clbemu000000000002"
	vSwitch1   = "vsw-bp1clbemu000000000001"
	vSwitch3   = "vsw-bp1clbemu000000000003" // of vpc2
	instance1  = "i-bp1clbemu0000000001"
	instance2  = "i-bp1clbemu0000000002"
	instanceB  = "i-bp1clbemu0000000004" // in vpc2
	eni1       = "eni-bp1clbemu000000001"
	defaultRG  = "rg-clbemu0default"
	lbInternet = "lb-internet" // by bandwidth, 100 Mbit/s, with everything
	lbIntranet = "lb-intranet" // in vSwitch1, PayByCLCU
	lbShared   = "lb-shared"   // without a spec
	lbPrepaid  = "lb-prepaid"  // s3.small, by bandwidth, 100 Mbit/s
)

var owner = state.Owner{AccountID: account, RegionID: "cn-hangzhou"}

// plant puts the default world and one of each resource into an empty store.
func plant(root *state.Tx) error {
	if err := world.Default().Plant(root); err != nil {
		return err
	}
	tx := root.In(owner)
	for _, lb := range []*kinds.LoadBalancer{
		{ID: lbInternet, AddressType: kinds.AddressTypeInternet, InternetChargeType: kinds.PayByBandwidth, Bandwidth: 100, Spec: "slb.s2.small"},
		{ID: lbIntranet, AddressType: kinds.AddressTypeIntranet, InternetChargeType: kinds.PayByTraffic, Bandwidth: 5120,
			InstanceChargeType: kinds.PayByCLCU, Spec: "slb.lcu.elastic", VPCID: vpc1, VSwitchID: vSwitch1},
		{ID: lbShared, AddressType: kinds.AddressTypeInternet, InternetChargeType: kinds.PayByTraffic, Bandwidth: 5120},
		{ID: lbPrepaid, AddressType: kinds.AddressTypeInternet, InternetChargeType: kinds.PayByBandwidth, Bandwidth: 100, Spec: "slb.s3.small",
			PayType: "PrePay", EndTime: tx.Now().AddDate(0, 1, 0)},
	} {
		if err := plantLoadBalancer(tx, lb); err != nil {
			return err
		}
	}
	kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: "rsp-used", Name: "used", LoadBalancerID: lbInternet,
		BackendServers: []kinds.BackendServer{{ServerID: instance1, Type: kinds.BackendServerECS, Port: 80, Weight: 100}}})
	kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: "rsp-free", Name: "free", LoadBalancerID: lbInternet})
	kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: "rsp-rule", Name: "rule", LoadBalancerID: lbInternet})
	kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: "rsp-other", Name: "other", LoadBalancerID: lbIntranet})
	for _, id := range []string{"cert-used", "cert-extension", "cert-free"} {
		kinds.ServerCertificates.Put(tx, &kinds.ServerCertificate{Owner: owner, ID: id, Name: id})
	}
	for _, id := range []string{"ca-used", "ca-free"} {
		kinds.CACertificates.Put(tx, &kinds.CACertificate{Owner: owner, ID: id, Name: id})
	}
	for id, version := range map[string]string{"acl-used": "ipv4", "acl-free": "ipv4", "acl-same": "ipv4", "acl-v6": "ipv6"} {
		entry := "10.0.0.0/8"
		if id == "acl-used" {
			entry = "172.16.0.0/12"
		}
		kinds.AccessControlLists.Put(tx, &kinds.AccessControlList{Owner: owner, ID: id, Name: id, AddressIPVersion: version,
			Entries: []kinds.AccessControlListEntry{{Entry: entry, Comment: "office"}}})
	}
	plantListeners(tx)
	kinds.Rules.Put(tx, &kinds.Rule{Owner: owner, ID: "rule-used", Name: "b", LoadBalancerID: lbInternet, Domain: "b.example.com", URL: "/b",
		ListenerID: kinds.ListenerID(lbInternet, kinds.HTTP, 81), VServerGroupID: "rsp-rule", ListenerSync: kinds.On})
	kinds.Rules.Put(tx, &kinds.Rule{Owner: owner, ID: "rule-https", Name: "h", LoadBalancerID: lbInternet, URL: "/h",
		ListenerID: kinds.ListenerID(lbInternet, kinds.HTTPS, 443), VServerGroupID: "rsp-rule", ListenerSync: kinds.On})
	// One server stands for many here.
	state.Quotas.Put(root, &state.Quota{AccountID: account, Name: kinds.QuotaServerAttached, Limit: 1000})
	kinds.DomainExtensions.Put(tx, &kinds.DomainExtension{Owner: owner, ID: "de-used", LoadBalancerID: lbInternet, ListenerPort: 443,
		Domain: "a.example.com", ServerCertificateID: "cert-extension"})
	return nil
}

func plantLoadBalancer(tx *state.Tx, lb *kinds.LoadBalancer) error {
	pool, cidr := kinds.PublicPool("cn-hangzhou"), "198.18.0.0/16"
	lb.NetworkType = "classic"
	if lb.VSwitchID != "" {
		pool, cidr, lb.NetworkType = lb.VSwitchID, "192.168.0.0/24", "vpc"
	}
	address, err := kinds.AllocateAddress(tx, pool, cidr, "", kinds.LoadBalancers.Kind(), lb.ID)
	if err != nil {
		return err
	}
	lb.Owner, lb.Name, lb.Address, lb.CreateTime = owner, "name-of-"+lb.ID, address, tx.Now()
	lb.Status, lb.AddressIPVersion, lb.DeleteProtection = kinds.LoadBalancerActive, "ipv4", kinds.Off
	lb.ModificationProtectionStatus, lb.ResourceGroupID = "NonProtection", defaultRG
	lb.MasterZoneID, lb.SlaveZoneID = "cn-hangzhou-h", "cn-hangzhou-i"
	if lb.PayType == "" {
		lb.PayType = "PayOnDemand"
	}
	if lb.InstanceChargeType == "" {
		lb.InstanceChargeType = kinds.PayBySpec
	}
	kinds.LoadBalancers.Put(tx, lb)
	return nil
}

// plantListeners gives lbInternet a listener of each kind, and two on port 80.
func plantListeners(tx *state.Tx) {
	for _, l := range []*kinds.Listener{
		{Port: 80, Protocol: kinds.TCP, VServerGroupID: "rsp-used", AclStatus: kinds.On, AclType: "white", AclIDs: []string{"acl-used"}},
		{Port: 80, Protocol: kinds.UDP, BackendServerPort: 53},
		{Port: 443, Protocol: kinds.HTTPS, BackendServerPort: 80, ServerCertificateID: "cert-used", CACertificateID: "ca-used",
			TLSCipherPolicy: "tls_cipher_policy_1_0"},
		{Port: 8080, Protocol: kinds.HTTP, ListenerForward: kinds.On, ForwardPort: 443},
		{Port: 81, Protocol: kinds.HTTP, ListenerForward: kinds.Off, BackendServerPort: 80},
	} {
		l.Owner, l.LoadBalancerID, l.Status = owner, lbInternet, kinds.ListenerStopped
		l.Scheduler, l.Bandwidth = "wrr", -1
		if l.AclStatus == "" {
			l.AclStatus = kinds.Off
		}
		kinds.Listeners.Put(tx, l)
	}
}

// newClient returns a client of the product on a planted store, and the store.
func newClient(t *testing.T, more ...func(*state.Tx) error) (*gatewaytest.Client, *state.Store) {
	t.Helper()
	store := gatewaytest.Store(t, append([]func(*state.Tx) error{plant}, more...)...)
	return gatewaytest.NewClient(t, store, clb.Product(gateway.Deps{})), store
}

// pair is a certificate for www.example.com with its key, both in PEM form.
type pair struct{ certificate, key string }

func newPair(t *testing.T) pair { return newPairUntil(t, gatewaytest.Start.AddDate(1, 0, 0)) }

func newPairUntil(t *testing.T, end time.Time) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("generate a key: %v", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "www.example.com"}, DNSNames: []string{"www.example.com"},
		NotBefore: gatewaytest.Start.Add(-time.Hour), NotAfter: end,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatalf("make a certificate: %v", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatalf("encode a key: %v", err)
	}
	return pair{
		certificate: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		key:         string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})),
	}
}
