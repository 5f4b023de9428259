package fidelityrun_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/fidelityrun"
	"github.com/clbemu/clbemu/emulator"
)

// A ledger that an editor changed names things of others, of each kind. A clean leaves them,
// says so, and still finds by its mark what the run made.
func TestEditedLedger(t *testing.T) {
	vpc, zone := map[string]string{"VpcId": renamed[0][1]}, map[string]string{"ZoneMappings.1.ZoneId": "cn-hangzhou-h", "ZoneMappings.1.VSwitchId": renamed[1][1],
		"ZoneMappings.2.ZoneId": "cn-hangzhou-i", "ZoneMappings.2.VSwitchId": renamed[2][1], "AddressType": "Intranet"}
	for _, of := range []struct {
		product, create, field, match string
		params                        []map[string]string
	}{
		{"Slb", "CreateLoadBalancer", "LoadBalancerId", "Slb/CreateVServerGroup/*", []map[string]string{{"LoadBalancerName": "shop"}}},
		{"Slb", "CreateAccessControlList", "AclId", "Slb/CreateAccessControlList/a*", []map[string]string{{"AclName": "office"}}},
		{"Slb", "UploadServerCertificate", "ServerCertificateId", "Slb/UploadServerCertificate/a*", []map[string]string{certificate(t)}},
		{"Slb", "UploadCACertificate", "CACertificateId", "Slb/UploadCACertificate/a*", []map[string]string{{"CACertificate": certificate(t)["ServerCertificate"]}}},
		{"Nlb", "CreateLoadBalancer", "LoadbalancerId", "Nlb/UpdateLoadBalancerAttribute/*", []map[string]string{vpc, zone}},
		{"Nlb", "CreateServerGroup", "ServerGroupId", "Nlb/CreateServerGroup/a*", []map[string]string{vpc, {"ServerGroupName": "shop"}}},
		{"Nlb", "CreateSecurityPolicy", "SecurityPolicyId", "Nlb/CreateSecurityPolicy/a*", []map[string]string{{"SecurityPolicyName": "shop", "TlsVersions.1": "TLSv1.2", "Ciphers.1": "AES128-SHA256"}}},
	} {
		t.Run(of.product+of.create, func(t *testing.T) {
			a := newAccount(t)
			params := make(map[string]string)
			for _, p := range of.params {
				maps.Copy(params, p)
			}
			theirs := a.call(t, of.product, of.create, params).Text(of.field)
			gone := a.call(t, "Slb", "CreateAccessControlList", map[string]string{"AclName": "gone"}).Text("AclId")
			a.call(t, "Slb", "DeleteAccessControlList", map[string]string{"AclId": gone})
			before := a.state(t)
			r := a.run(t, of.match, true)
			r.Judged = func(fidelityrun.Judged, int, int) { a.down.Store(len(r.Ledger.Left()) > 0) } // before it can be cleaned
			if _, _, err := r.Do(t.Context()); err == nil || len(r.Ledger.Left()) == 0 {
				t.Fatalf("Do = %v, left %v, want something left", err, r.Ledger.Left())
			}
			made := r.Ledger.Left()[0]
			text, err := os.ReadFile(a.ledger)
			if err != nil {
				t.Fatal(err)
			}
			text = bytes.ReplaceAll(text, []byte(made.ID), []byte(theirs))
			more := func(product, create, mark, id string) {
				entry := bytes.Count(text, []byte(`"time":`)) + 1
				text = fmt.Appendf(text, `{"entry":%d,"state":"made","time":"2026-11-26T10:00:00Z","product":%q,"create":%q,"region":%q,"mark":%q,"id":%q}`+"\n", entry, product, create, region, mark, id)
			}
			more(of.product, of.create, "another-mark", theirs)
			more(of.product, of.create, "", theirs)
			more("Slb", "CreateAccessControlList", "another-mark", gone)
			if err := os.WriteFile(a.ledger, text, 0o600); err != nil {
				t.Fatal(err)
			}
			a.down.Store(false)
			cleaned, err := a.cloud().Clean(t.Context(), a.open(t))
			if err != nil || cleaned.Gone != 1 || len(cleaned.Left) != 2 || !strings.Contains(cleaned.Left[0], "no mark") || !strings.Contains(cleaned.Left[1], "does not have the tag clbemu-fidelity=another-mark") {
				t.Errorf("Clean = %+v, %v, want its own thing gone and the other left twice", cleaned, err)
			}
			a.compare(t, before)
			for _, call := range a.Calls(t, "userAgent=test") {
				if strings.HasPrefix(call.Action, "Delete") && (call.Resource == theirs || slices.Contains(call.Also, theirs)) {
					t.Errorf("%s names what the run did not make", call.Action)
				}
			}
		})
	}
}

// listing is a cloud that lists more than it is asked for.
type listing struct {
	*account

	of, mark string
}

func (l listing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("Action") != "ListTagResources" {
		return l.account.RoundTrip(r)
	}
	body := fmt.Sprintf(`{"TagResources":{"TagResource":[{"ResourceType":"acl","ResourceId":%q,"TagKey":"clbemu-fidelity","TagValue":%q}]}}`, l.of, l.mark)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// What the cloud lists with another mark than an entry's is not the entry's thing.
func TestCleanUnasked(t *testing.T) {
	for mark, gone := range map[string]int{"theirs": 0, "mine": 1} {
		a := newAccount(t)
		id := a.call(t, "Slb", "CreateAccessControlList", map[string]string{"AclName": "office"}).Text("AclId")
		a.open(t)
		file, err := os.OpenFile(a.ledger, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(file, `{"entry":1,"state":"intended","time":"2026-11-26T10:00:00Z","product":"Slb","create":"CreateAccessControlList","region":%q,"mark":"mine"}`+"\n", region)
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		cloud := a.cloud()
		cloud.HTTP.Transport = listing{a, id, mark}
		if cleaned, err := cloud.Clean(t.Context(), a.open(t)); err != nil || cleaned.Gone != gone || len(cleaned.Left) > 0 {
			t.Errorf("Clean, with %s listed = %+v, %v; want %d gone", mark, cleaned, err, gone)
		}
	}
}

// certificate returns a certificate with its key.
func certificate(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if _, err := emulator.GenerateTLS(dir, []string{"shop.example.com"}); err != nil {
		t.Fatal(err)
	}
	pair := make(map[string]string)
	for parameter, file := range map[string]string{"ServerCertificate": "tls-cert.pem", "PrivateKey": "tls-key.pem"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		pair[parameter] = string(text)
	}
	return pair
}
