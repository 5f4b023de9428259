package contracttests

var stsCases = []apiCase{
	succeeds("GetCallerIdentity", "account", params{}),
	refused("GetCallerIdentity", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),
	succeeds("AssumeRole", "role", takeRole),
	succeeds("AssumeRole", "with-policy", more(takeRole, "Policy", denyAll, "DurationSeconds", "900")),
	refused("AssumeRole", "unknown-account", "EntityNotExist.Role", more(takeRole, "RoleArn", "acs:ram::1:role/deployer")),
}

var takeRole = params{"RoleArn": "acs:ram::" + account + ":role/deployer", "RoleSessionName": "ci"}

var resourceManagerCases = []apiCase{
	succeeds("ListResourceGroups", "all", params{}),
	refused("ListResourceGroups", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),
	succeeds("GetResourceGroup", "second", params{"ResourceGroupId": "rg-clbemu0second"}),
	refused("GetResourceGroup", "unknown", "EntityNotExists.ResourceGroup", params{"ResourceGroupId": "rg-gone"}),
}
