package sts

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of AssumeRoleWithOIDC, as the page "Error codes" of STS, 2015-04-01, has them.
var (
	errProviderNotFound = refusals.New("OIDCProviderNotFound", 401, "AuthenticationFail.NoPermission",
		"No such OIDC Provider registered.", "CLB-0374")
	errRoleDistrusts = refusals.New("OIDCRoleDistrusts", 401, "AuthenticationFail.NoPermission",
		"There is no permission", "CLB-0374")
	errTokenEmpty = refusals.New("OIDCTokenEmpty", 401, "AuthenticationFail.OIDCToken.Invalid",
		"The OIDCToken can not empty.", "CLB-0374")
	errTokenParts = refusals.New("OIDCTokenParts", 401, "AuthenticationFail.OIDCToken.Invalid",
		"The number of Jwt field should be divided into 3 parts with '.' .", "CLB-0374")
	errTokenContent = refusals.New("OIDCTokenContent", 401, "AuthenticationFail.OIDCToken.Invalid",
		"The Jwt content is invalid that cannot be recognized.", "CLB-0374")
	errTokenSignature = refusals.New("OIDCTokenSignature", 401, "AuthenticationFail.OIDCToken.InvalidSignature",
		"OIDC token validate failed: invalid signature.", "CLB-0374")
	errTokenIssuer = refusals.New("OIDCTokenIssuer", 401, "AuthenticationFail.OIDCToken.IssuerNotMatch",
		"The issuer in the OIDC Token doesn't match the OIDC Provider registered.", "CLB-0374")
	errTokenAudience = refusals.New("OIDCTokenAudience", 401, "AuthenticationFail.OIDCToken.AudienceNotMatch",
		"Invalid audience.", "CLB-0374")
	errTokenExpired = refusals.New("OIDCTokenExpired", 401, "AuthenticationFail.OIDCToken.Expired",
		"This JsonWebToken is expired.", "CLB-0374")
)

type assumeRoleWithOIDCRequest struct {
	gateway.Caller

	OIDCProviderARN string `rpc:"OIDCProviderArn,required"`
	OIDCToken       string `rpc:"OIDCToken"`
	assumption
}

var providerARN = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^acs:ram::([0-9]+):oidc-provider/(.+)$`) })

type assumeRoleWithOIDCResponse struct {
	OIDCTokenInfo   oidcTokenInfo   `rpc:"OIDCTokenInfo"`
	AssumedRoleUser assumedRoleUser `rpc:"AssumedRoleUser"`
	Credentials     credentials     `rpc:"Credentials"`
}

type oidcTokenInfo struct {
	Subject          string `rpc:"Subject"`
	Issuer           string `rpc:"Issuer"`
	ClientIDs        string `rpc:"ClientIds"`
	IssuanceTime     string `rpc:"IssuanceTime"`
	ExpirationTime   string `rpc:"ExpirationTime"`
	VerificationInfo string `rpc:"VerificationInfo"`
}

// assumeRoleWithOIDC hands out a key of a role to a token that an OIDC provider of the account
// signed, as the pods of a cluster with RRSA have it. The call needs no key. Evidence CLB-0374.
func assumeRoleWithOIDC(tx *state.Tx, req *assumeRoleWithOIDCRequest) (*assumeRoleWithOIDCResponse, error) {
	provider, ok := providerOf(tx.View, req.OIDCProviderARN)
	if !ok {
		return nil, errProviderNotFound
	}
	if !strings.HasPrefix(req.OIDCProviderARN, "acs:ram::"+req.accountID+":") {
		return nil, errRoleDistrusts
	}
	claims, err := verify(provider, req.OIDCToken, tx.Now())
	if err != nil {
		return nil, err
	}
	given, err := req.assume(tx, req.KeyPrefix)
	if err != nil {
		return nil, err
	}
	at := func(date *jwt.NumericDate) string {
		if date == nil {
			return ""
		}
		return date.Time().UTC().Format(time.RFC3339)
	}
	return &assumeRoleWithOIDCResponse{
		OIDCTokenInfo: oidcTokenInfo{
			Subject: claims.Subject, Issuer: claims.Issuer, ClientIDs: strings.Join(claims.Audience, ","),
			IssuanceTime: at(claims.IssuedAt), ExpirationTime: at(claims.Expiry), VerificationInfo: "Success",
		},
		AssumedRoleUser: given.AssumedRoleUser,
		Credentials:     given.Credentials,
	}, nil
}

// providerOf finds the provider with this ARN.
func providerOf(v *state.View, arn string) (kinds.OIDCProvider, bool) {
	if parts := providerARN().FindStringSubmatch(arn); parts != nil {
		if account, ok := kinds.Accounts.Find(v, parts[1]); ok {
			return account.OIDCProvider(parts[2])
		}
	}
	return kinds.OIDCProvider{}, false
}

// verify returns what a token claims, of which the provider's keys, issuer and clients are
// right, and which has not expired.
func verify(provider kinds.OIDCProvider, text string, now time.Time) (claims jwt.Claims, err error) {
	text = strings.TrimSpace(text) // clients send the file as it is
	switch {
	case text == "":
		return claims, errTokenEmpty
	case strings.Count(text, ".") != 2:
		return claims, errTokenParts
	}
	token, err := jwt.ParseSigned(text, kinds.OIDCAlgorithms)
	if err != nil || token.UnsafeClaimsWithoutVerification(&claims) != nil {
		return claims, errTokenContent
	}
	keys, err := provider.PublicKeys()
	if err != nil {
		return claims, err
	}
	if token.Claims(keys, &claims) != nil {
		return claims, errTokenSignature
	}
	switch {
	case claims.Issuer != provider.Issuer:
		return claims, errTokenIssuer
	case !slices.ContainsFunc(provider.ClientIDs, claims.Audience.Contains):
		return claims, errTokenAudience
	case claims.Expiry == nil || !now.Before(claims.Expiry.Time()):
		return claims, errTokenExpired
	}
	return claims, nil
}
