package sts

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var identityActions = []gateway.Action{
	gateway.Read("GetCallerIdentity", getCallerIdentity),
	gateway.Write("AssumeRole", assumeRole).Refusing(errDurationOutside, errPolicyTooLong),
	gateway.Write("AssumeRoleWithOIDC", assumeRoleWithOIDC).Unsigned().Refusing(errDurationOutside, errPolicyTooLong),
}

// The refusals of this file.
var (
	errRoleArnMalformed = refusals.New("RoleArnMalformed", 400, "InvalidParameter.RoleArn",
		"The parameter RoleArn is wrongly formed.", "CLB-0370")
	errSessionNameMalformed = refusals.New("SessionNameMalformed", 400, "InvalidParameter.RoleSessionName",
		"The parameter RoleSessionName is wrongly formed.", "CLB-0370")
	errDurationOutside = refusals.New("DurationOutside", 400, "InvalidParameter.DurationSeconds",
		"The Min/Max value of DurationSeconds is 15min/1hr.", "CLB-0370")
	errPolicyMalformed = refusals.New("PolicyMalformed", 400, "InvalidParameter.PolicyGrammar",
		"The parameter Policy has not passed grammar check.", "CLB-0370")
	errPolicyTooLong = refusals.New("PolicyTooLong", 400, "InvalidParameter.PolicySize",
		"The size of Policy must be smaller than 1024 bytes.", "CLB-0370")
	errRoleNotFound = refusals.New("RoleNotFound", 404, "EntityNotExist.Role",
		"The specified Role not exists.", "CLB-0370")
)

type getCallerIdentityRequest struct{ gateway.Caller }

type getCallerIdentityResponse struct {
	AccountID    string `rpc:"AccountId"`
	ARN          string `rpc:"Arn"`
	IdentityType string `rpc:"IdentityType"`
	PrincipalID  string `rpc:"PrincipalId"`
	UserID       string `rpc:"UserId"`
	RoleID       string `rpc:"RoleId,omitempty"`
}

// getCallerIdentity returns whose key it is: the account's own, as the world has no RAM
// users, or an assumed role's. Evidence CLB-0371.
func getCallerIdentity(v *state.View, req *getCallerIdentityRequest) (*getCallerIdentityResponse, error) {
	account := v.Scope().AccountID
	key, ok := kinds.AccessKeys.Find(v, req.AccessKeyID)
	if !ok || key.RoleName == "" {
		return &getCallerIdentityResponse{AccountID: account, ARN: "acs:ram::" + account + ":root", IdentityType: "Account",
			PrincipalID: account, UserID: account}, nil
	}
	user := assumed(account, key.RoleName, key.SessionName)
	return &getCallerIdentityResponse{AccountID: account, ARN: user.ARN, IdentityType: "AssumedRoleUser",
		PrincipalID: user.AssumedRoleID, UserID: user.AssumedRoleID, RoleID: roleID(account, key.RoleName)}, nil
}

type assumeRoleRequest struct {
	gateway.Caller
	assumption
}

// assumption says how a role is assumed.
type assumption struct {
	RoleARN         string `rpc:"RoleArn,required"`
	RoleSessionName string `rpc:"RoleSessionName,required"`
	DurationSeconds int    `rpc:"DurationSeconds,default=3600,min=900,max=3600,invalid=DurationOutside"`
	Policy          string `rpc:"Policy,len=0..1024,invalid=PolicyTooLong"`

	accountID, roleName string
	policy              *kinds.PolicyDocument
}

var (
	roleARN     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^acs:ram::([0-9]+):role/([A-Za-z0-9.-]{1,64})$`) })
	sessionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9.@_-]{2,64}$`) })
)

// Validate implements the gateway's check of shape.
func (r *assumption) Validate() error {
	parts := roleARN().FindStringSubmatch(r.RoleARN)
	if parts == nil {
		return errRoleArnMalformed
	}
	r.accountID, r.roleName = parts[1], parts[2]
	if !sessionName().MatchString(r.RoleSessionName) {
		return errSessionNameMalformed
	}
	if r.Policy == "" {
		return nil
	}
	document, err := kinds.ParsePolicy(r.Policy)
	if err != nil {
		return errPolicyMalformed
	}
	r.policy = &document
	return nil
}

type assumeRoleResponse struct {
	AssumedRoleUser assumedRoleUser `rpc:"AssumedRoleUser"`
	Credentials     credentials     `rpc:"Credentials"`
}

type assumedRoleUser struct {
	ARN           string `rpc:"Arn"`
	AssumedRoleID string `rpc:"AssumedRoleId"`
}

type credentials struct {
	AccessKeyID     string `rpc:"AccessKeyId"`
	AccessKeySecret string `rpc:"AccessKeySecret"`
	SecurityToken   string `rpc:"SecurityToken"`
	Expiration      string `rpc:"Expiration"`
}

// assumeRole hands out a key of a role. The world keeps no roles: in an account that
// it has, each name is one that trusts who asks. Evidence CLB-0372.
func assumeRole(tx *state.Tx, req *assumeRoleRequest) (*assumeRoleResponse, error) {
	return req.assume(tx, req.KeyPrefix)
}

// assume makes a key, whose id begins with prefix.
func (r *assumption) assume(tx *state.Tx, prefix string) (*assumeRoleResponse, error) {
	if _, ok := kinds.Accounts.Find(tx.View, r.accountID); !ok {
		return nil, errRoleNotFound
	}
	key := kinds.NewTemporaryKey(tx, r.accountID, r.roleName, r.RoleSessionName, time.Duration(r.DurationSeconds)*time.Second)
	key.SessionPolicy = r.policy
	kinds.AccessKeys.Put(tx, key)
	return &assumeRoleResponse{
		AssumedRoleUser: assumed(r.accountID, r.roleName, r.RoleSessionName),
		Credentials: credentials{
			AccessKeyID:     prefix + key.ID,
			AccessKeySecret: key.Secret,
			SecurityToken:   key.SecurityToken,
			Expiration:      key.Expiration.UTC().Format(time.RFC3339),
		},
	}, nil
}

// assumed returns who calls with a key of a role.
func assumed(accountID, role, session string) assumedRoleUser {
	return assumedRoleUser{
		ARN:           fmt.Sprintf("acs:ram::%s:assumed-role/%s/%s", accountID, role, session),
		AssumedRoleID: roleID(accountID, role) + ":" + session,
	}
}

// roleID returns a number made from the role, as the world keeps none.
func roleID(accountID, role string) string {
	sum := fnv.New64a()
	sum.Write([]byte(accountID + "/" + role))
	return fmt.Sprintf("3%017d", sum.Sum64()%1e17)
}
