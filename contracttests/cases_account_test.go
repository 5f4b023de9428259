package contracttests

var stsCases = []apiCase{
	succeeds("GetCallerIdentity", "account", params{}),
	refused("GetCallerIdentity", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),
	succeeds("AssumeRole", "role", takeRole),
	succeeds("AssumeRole", "with-policy", more(takeRole, "Policy", denyAll, "DurationSeconds", "900")),
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

var takeRole = params{"RoleArn": "acs:ram::" + account + ":role/deployer", "RoleSessionName": "ci"}

var resourceManagerCases = []apiCase{
	succeeds("ListResourceGroups", "all", params{}),
	refused("ListResourceGroups", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),
	succeeds("GetResourceGroup", "second", params{"ResourceGroupId": "rg-clbemu0second"}),
	refused("GetResourceGroup", "unknown", "EntityNotExists.ResourceGroup", params{"ResourceGroupId": "rg-gone"}),
}
