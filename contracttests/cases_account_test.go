package contracttests

import (
	"crypto/x509"
	"encoding/pem"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

var stsCases = []apiCase{
	succeeds("GetCallerIdentity", "account", params{}),
	refused("GetCallerIdentity", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),
	succeeds("AssumeRole", "role", takeRole),
	succeeds("AssumeRole", "with-policy", more(takeRole, "Policy", denyAll, "DurationSeconds", "900")),
	succeeds("AssumeRoleWithOIDC", "token", more(takeRole, "OIDCProviderArn", "acs:ram::"+account+":oidc-provider/rrsa", "OIDCToken", clusterToken())),
	refused("AssumeRoleWithOIDC", "unknown-provider", "AuthenticationFail.NoPermission", more(takeRole, "OIDCProviderArn", "acs:ram::"+account+":oidc-provider/other", "OIDCToken", "any")),
	refused("AssumeRole", "unknown-account", "EntityNotExist.Role", more(takeRole, "RoleArn", "acs:ram::1:role/deployer")),
}

var (
	uploadCert = params{"Name": "web", "Cert": certificate, "Key": privateKey, "Tags.1.Key": "app", "Tags.1.Value": "web"}
	uploaded   = step{"cas", "UploadUserCertificate", uploadCert, saveAs("userCert", "CertId")}
	aCert      = params{"CertId": "{userCert}"}
	goneCert   = params{"CertId": "1"}
)

var casCases = []apiCase{
	succeeds("UploadUserCertificate", "new", uploadCert),
	refused("UploadUserCertificate", "name-taken", "NameRepeat", uploadCert, uploaded),
	succeeds("GetUserCertificateDetail", "all", aCert, uploaded),
	succeeds("GetUserCertificateDetail", "filtered", more(aCert, "CertFilter", "true"), uploaded),
	refused("GetUserCertificateDetail", "unknown", "NotFound", goneCert),
	succeeds("ListUserCertificateOrder", "uploaded", params{"OrderType": "UPLOAD", "ShowSize": "10"}, uploaded),
	refused("ListUserCertificateOrder", "unknown-type", "InvalidOrderType", params{"OrderType": "GIFT"}),
	succeeds("DeleteUserCertificate", "one", aCert, uploaded),
	refused("DeleteUserCertificate", "unknown", "NotFound", goneCert),
}

// clusterToken is signed by the OIDC provider of the prepared cloud. Another signature would be
// another golden reply: RS256 has the same one each time.
func clusterToken() string {
	block, _ := pem.Decode([]byte(privateKey))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		panic(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "k1"}}, nil)
	if err != nil {
		panic(err)
	}
	token, err := jwt.Signed(signer).Claims(jwt.Claims{Issuer: "https://oidc.example.com/c1", Subject: "system:serviceaccount:kube-system:ccm", Audience: jwt.Audience{"sts.aliyuncs.com"},
		IssuedAt: jwt.NewNumericDate(start), Expiry: jwt.NewNumericDate(start.AddDate(100, 0, 0))}).Serialize()
	if err != nil {
		panic(err)
	}
	return token
}

var takeRole = params{"RoleArn": "acs:ram::" + account + ":role/deployer", "RoleSessionName": "ci"}

var (
	newGroup  = params{"Name": "team", "DisplayName": "The team", "Tag.1.Key": "owner", "Tag.1.Value": "ops", "Tag.2.Key": "stage"}
	theGroup  = params{"ResourceType": "ResourceGroup", "ResourceId.1": "{group}"}
	goneGroup = params{"ResourceType": "ResourceGroup", "ResourceId.1": "rg-gone"}
	madeGroup = step{"ResourceManager", "CreateResourceGroup", newGroup, saveAs("group", "ResourceGroup.Id")}
)

var resourceManagerCases = []apiCase{
	succeeds("CreateResourceGroup", "new", newGroup),
	refused("CreateResourceGroup", "twice", "EntityAlreadyExists.ResourceGroup", newGroup, madeGroup),
	succeeds("UpdateResourceGroup", "renamed", params{"ResourceGroupId": "{group}", "NewDisplayName": "renamed"}, madeGroup),
	refused("UpdateResourceGroup", "unknown", "EntityNotExists.ResourceGroup", params{"ResourceGroupId": "rg-gone", "NewDisplayName": "renamed"}),
	succeeds("DeleteResourceGroup", "empty", params{"ResourceGroupId": "{group}"}, madeGroup),
	refused("DeleteResourceGroup", "default", "DeleteConflict.ResourceGroup.Default", params{"ResourceGroupId": "rg-clbemu0default"}),
	succeeds("TagResources", "one", more(theGroup, "Tag.1.Key", "team", "Tag.1.Value", "net"), madeGroup),
	refused("TagResources", "unknown", "EntityNotExists.ResourceGroup", more(goneGroup, "Tag.1.Key", "team")),
	succeeds("UntagResources", "one", more(theGroup, "TagKey.1", "owner"), madeGroup),
	refused("UntagResources", "unknown", "EntityNotExists.ResourceGroup", more(goneGroup, "TagKey.1", "owner")),
	succeeds("UntagResources", "all", more(theGroup, "All", "true"), madeGroup),
	succeeds("ListTagResources", "of-a-group", theGroup, madeGroup),
	succeeds("ListTagResources", "first", more(theGroup, "MaxResults", "1"), madeGroup),
	refused("ListTagResources", "bad-token", "InvalidParameter.NextToken", more(theGroup, "NextToken", "mine"), madeGroup),
	succeeds("ListResourceGroups", "with-tags", params{"IncludeTags": "true"}, madeGroup),
	succeeds("GetResourceGroup", "with-tags", params{"ResourceGroupId": "{group}", "IncludeTags": "true"}, madeGroup),
	succeeds("ListResourceGroups", "all", params{}),
	refused("ListResourceGroups", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),
	succeeds("GetResourceGroup", "second", params{"ResourceGroupId": "rg-clbemu0second"}),
	refused("GetResourceGroup", "unknown", "EntityNotExists.ResourceGroup", params{"ResourceGroupId": "rg-gone"}),
}

var (
	moreLoadBalancers = params{"ProductCode": "slb", "QuotaActionCode": "slb_quota_instances_num", "DesireValue": "100", "Reason": "more Services", "NoticeType": "3"}
	appliedAgain      = step{"quotas", "CreateQuotaApplication", more(moreLoadBalancers, "DesireValue", "200"), nil}
	applied           = step{"quotas", "CreateQuotaApplication", moreLoadBalancers, saveAs("application", "ApplicationId")}
)

var quotaCases = []apiCase{
	succeeds("ListProducts", "all", params{}),
	succeeds("ListProducts", "first", params{"MaxResults": "1"}),
	refused("ListProducts", "bad-token", "PARAMETER.ILLEGALL", params{"NextToken": "mine"}),
	succeeds("ListProductQuotas", "first-of-nlb", params{"ProductCode": "nlb", "MaxResults": "2"}),
	refused("ListProductQuotas", "unknown-product", "PARAMETER.ILLEGALL", params{"ProductCode": "rocket"}),
	succeeds("ListProductQuotas", "used", params{"ProductCode": "slb", "KeyWord": "instances"}),
	succeeds("GetProductQuota", "not-adjustable", params{"ProductCode": "slb", "QuotaActionCode": "slb_quota_rules_num"}),
	succeeds("ListProductQuotas", "not-adjustable", params{"ProductCode": "slb", "QuotaActionCode": "slb_quota_rules_num"}),
	succeeds("GetProductQuota", "raised", params{"ProductCode": "slb", "QuotaActionCode": "slb_quota_instances_num"}, applied),
	refused("GetProductQuota", "unknown", "QUOTA.NOT.FOUND", params{"ProductCode": "slb", "QuotaActionCode": "q_none"}),
	succeeds("CreateQuotaApplication", "granted", moreLoadBalancers),
	refused("CreateQuotaApplication", "not-higher", "QUOTA.DESIREVALUE.ILLEGAL", more(moreLoadBalancers, "DesireValue", "60")),
	succeeds("ListQuotaApplications", "of-clb", params{"ProductCode": "slb"}, applied),
	succeeds("ListQuotaApplications", "first", params{"MaxResults": "1"}, applied, appliedAgain),
	refused("ListQuotaApplications", "unknown-category", "CATEGORY.NOT.SUPPORTED", params{"QuotaCategory": "FlowControl"}),
	succeeds("GetQuotaApplication", "granted", params{"ApplicationId": "{application}"}, applied),
	refused("GetQuotaApplication", "unknown", "APPLICATION.NOT.FOUND", params{"ApplicationId": "none"}),
}
