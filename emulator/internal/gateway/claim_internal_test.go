package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzClaim proves that what a request claims to call is what it calls, wherever its
// parameters are, or that the claim is not known.
func FuzzClaim(f *testing.F) {
	read, write := "Version=1&Action=Describe&AccessKeyId=testid", "Version=1&Action=Create&AccessKeyId=fork.testid"
	for _, query := range []string{"", read, write, "Version=1", "Action=Describe", read + "&" + write, read + ";x=1", "Version=1&Action=%zz"} {
		for _, body := range []string{"", write, "Action=Create", "AccessKeyId=fork.testid", `{"Action":"Create","Version":"1"}`} {
			for _, headers := range []string{"", "Describe"} {
				f.Add(query, body, headers, "", true)
				f.Add(query, body, headers, "ACS3-HMAC-SHA256 Credential=fork.testid,SignedHeaders=host,Signature=0", false)
			}
		}
	}
	f.Fuzz(func(t *testing.T, query, body, header, authorization string, form bool) {
		request := func() *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
			r.URL.RawQuery = query
			r.Header.Set("Content-Type", map[bool]string{true: "application/x-www-form-urlencoded", false: "application/json"}[form])
			r.Header.Set("x-acs-action", header)
			r.Header.Set("x-acs-version", header)
			r.Header.Set("Authorization", authorization)
			return r
		}
		claim, known := ClaimOf(request())
		for _, strict := range []bool{false, true} {
			call := &Call{strict: strict}
			if problem := call.parse(NewMemoryBudget(), httptest.NewRecorder(), request()); problem != nil || !known || call.ActionName == "" || call.Version == "" {
				continue // it fails, or the claim is not used
			}
			if got := (Claim{call.Version, call.ActionName, call.claimedKey()}); got != claim {
				t.Errorf("%q with body %q, header %q and %q calls %+v, and claims %+v", query, body, header, authorization, got, claim)
			}
		}
	})
}
