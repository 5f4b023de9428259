package ecs

import (
	"net/http"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// refusals are the reasons of this product, declared next to the code that refuses.
var refusals gateway.Refusals

// published is the evidence for codes and messages of the API's metadata,
// unpublished for the messages, or the choice of a code, that it leaves open, and
// tokens for the refusals of a repeated ClientToken.
const (
	published   = "CLB-0300"
	unpublished = "CLB-0203"
	tokens      = "CLB-0302"
)

// refuse returns a row for a fact that means the same in every action, or in the given ones.
func refuse(status int, evidence string, fact state.Fact, code, message string, actions ...string) gateway.ErrorRow {
	return gateway.ErrorRow{Fact: fact, Actions: actions, Status: status, Code: code, Message: message, Evidence: evidence}
}

// absent returns a row for an id that names nothing.
func absent(evidence string, kind state.Kind, code, message string, actions ...string) gateway.ErrorRow {
	row := refuse(http.StatusNotFound, evidence, state.NotFound, code, message, actions...)
	row.Kind = kind
	return row
}

var errorTable = refusals.Table(requestErrors, instanceErrors, groupErrors, networkErrors, tagErrors)

var requestErrors = []gateway.ErrorRow{
	gateway.DryRunRow(published),
	refuse(400, published, listing.BadToken, "InValidParameter.NextToken", "The parameter NextToken is invalid."),
	refuse(400, tokens, state.TokenConflict, "IdempotentParameterMismatch", "The request is retried with updated parameters."),
	refuse(403, tokens, state.TokenProcessing, "IdempotentProcessing", "The previous idempotent request(s) is still processing."),
}

var instanceErrors = []gateway.ErrorRow{
	absent(published, kinds.Instances.Kind(), "InvalidInstanceId.NotFound", "The specified InstanceId does not exist."),
	absent(unpublished, kinds.NetworkInterfaces.Kind(), "InvalidEniId.NotFound", "The specified NetworkInterfaceId %s does not exist."),
}

var groupErrors = []gateway.ErrorRow{
	absent(published, kinds.SecurityGroups.Kind(), "InvalidSecurityGroupId.NotFound", "The specified SecurityGroupId does not exist."),
	absent(published, kinds.SecurityGroups.Kind(), "InvalidSecurityGroup.NotFound", "The specified security group is not found.", "DeleteSecurityGroup"),
	absent(published, kinds.VPCs.Kind(), "InvalidVpcId.NotFound", "Specified VPC does not exist."),
	absent(published, kinds.ResourceGroups.Kind(), "InvalidResourceGroup.NotFound", "The ResourceGroup provided does not exist in our records."),
}
