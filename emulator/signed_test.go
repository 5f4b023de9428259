package emulator_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/journal"
)

// FuzzSignedCall proves that a call which clbemu signs for a caller is the call that was
// allowed: the executed action, its product and its account are those that were asked for
// under every spelling of a parameter, and one that may only read changes nothing.
func FuzzSignedCall(f *testing.F) {
	server := emulatortest.Start(f)
	client := &controlclient.Client{URL: server.ControlURL()}
	owned := []string{"Action", "Version", "Format", "AccessKeyId", "access_key_id", "SecurityToken", "Signature", "SignatureMethod", "SignatureVersion",
		"SignatureType", "SignatureNonce", "Timestamp", "TimeStamp"}
	for _, name := range owned {
		for _, spelled := range []string{name, strings.ToLower(name), strings.ToUpper(name), " " + name, name + "\t", name + ".1", url.QueryEscape(name[:1]) + "%" + name[1:], "x&" + name, name + "=CreateVpc&x"} {
			f.Add("Vpc", "DescribeVpcs", spelled, "CreateVpc")
		}
	}
	f.Add("Vpc", "Des\xe8eVpcs", "x&Action", "CreateVpc")
	f.Add("Vpc", "CreateVpc", "Action", "DescribeVpcs")
	f.Add("Vpc", " CreateVpc", "x", "y")
	f.Add("vpc", "createvpc", "CidrBlock", "10.0.0.0/8")
	f.Add("Vpc", "DescribeVpcs&Action=CreateVpc", "x", "y")
	f.Add("Vpc", "DescribeVpcs", "AccessKeyId", "fork.testid")
	before := server.Store().Revision()
	f.Fuzz(func(t *testing.T, product, action, name, value string) {
		mark := server.Journal().Query(journal.Query{Limit: 1}).Last
		answer, err := client.MakeCall(t.Context(), controlapi.CloudCall{Product: product, Action: action, Parameters: map[string]string{name: value}, ReadOnly: true})
		entries := server.Journal().Query(journal.Query{Since: mark}).Entries
		if err != nil {
			if len(entries) > 0 {
				t.Errorf("a refused call of %q was made: %+v", action, entries[0])
			}
			return
		}
		if len(entries) != 1 {
			t.Fatalf("%d calls were made, want 1", len(entries))
		}
		e := entries[0]
		if e.Product != "" && e.Product != product || e.AccessKeyID != emulatortest.AccessKeyID || answer.Status == 200 && e.Action != action {
			t.Errorf("called is %s %q by %s, want %s %q", e.Product, e.Action, e.AccessKeyID, product, action)
		}
		if server.Store().Revision() != before {
			t.Errorf("%s %q with %q=%q changed the cloud", product, action, name, value)
		}
		for _, own := range owned {
			if strings.EqualFold(strings.TrimSpace(name), own) {
				t.Errorf("%q was sent, which belongs to the protocol", name)
			}
		}
	})
}
