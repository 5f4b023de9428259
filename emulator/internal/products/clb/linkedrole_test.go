package clb_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

const keyID = "testid"

// may gives the key a policy.
func may(t *testing.T, store *state.Store, actions string) {
	t.Helper()
	document, err := kinds.ParsePolicy(`{"Statement":[{"Effect":"Allow","Action":[` + actions + `],"Resource":"*"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Update(state.Owner{}, func(tx *state.Tx) error {
		kinds.AccessKeys.Put(tx, &kinds.AccessKey{ID: keyID, Secret: "s", AccountID: account, Status: kinds.AccessKeyActive})
		kinds.Policies.Put(tx, &kinds.Policy{AccountID: account, Principal: kinds.KeyPrincipal(keyID), Document: document})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A service-linked role that is absent is created by the first call whose caller may; then
// it is there for all.
func TestLinkedRole(t *testing.T) {
	client, store, _ := newTimedClient(t, editAccount(func(a *kinds.Account) {
		a.AbsentRoles = []string{"AliyunServiceRoleForSlbLogDelivery", "AliyunServiceRoleForSlbEipAccess"}
	}), withEIP)
	monitor := params("LogProject", "project", "LogStore", "store", "AccessKeyId", keyID)
	const refused = "NoPermission.AliyunServiceRoleForSlbLogDelivery"
	may(t, store, `"slb:*"`)
	wantCode(t, client, "EnableHighDefinationMonitor", monitor, refused)
	wantCode(t, client, "SetAccessLogsDownloadAttribute", with(accessLog(lbInternet), "AccessKeyId", keyID), refused)
	wantCode(t, client, "DeleteLoadBalancer", params("LoadBalancerId", lbShared, "AccessKeyId", keyID), "")
	withAnEIP := params("LoadBalancerId", lbInternet, "AccessKeyId", keyID)
	wantCode(t, client, "DeleteLoadBalancer", withAnEIP, "NoPermission.AliyunServiceRoleForSlbEipAccess")
	may(t, store, `"slb:*","ram:CreateServiceLinkedRole"`)
	wantCode(t, client, "EnableHighDefinationMonitor", monitor, "")
	may(t, store, `"slb:*"`)
	wantCode(t, client, "SetAccessLogsDownloadAttribute", with(accessLog(lbInternet), "AccessKeyId", keyID), "")
	may(t, store, `"slb:*","ram:CreateServiceLinkedRole"`)
	wantCode(t, client, "DeleteLoadBalancer", withAnEIP, "")
}
