package cloud

import "github.com/clbemu/clbemu/state"

// The taggable types.
const (
	TagLoadBalancer           state.TagResourceType = "instance"
	TagServerCertificate      state.TagResourceType = "certificate"
	TagAccessControlList      state.TagResourceType = "acl"
	TagCACertificate          state.TagResourceType = "slb:cacertificate"
	TagListener               state.TagResourceType = "listener"
	TagVServerGroup           state.TagResourceType = "vservergroup"
	TagMasterSlaveServerGroup state.TagResourceType = "masterslaveservergroup"
	TagInstance               state.TagResourceType = "ecs:instance"
	TagNetworkInterface       state.TagResourceType = "ecs:eni"
	TagSecurityGroup          state.TagResourceType = "ecs:securitygroup"
	TagVPC                    state.TagResourceType = "vpc:vpc"
	TagVSwitch                state.TagResourceType = "vpc:vswitch"
	TagRouteTable             state.TagResourceType = "vpc:routetable"
	TagEIP                    state.TagResourceType = "vpc:eip"
	TagCommonBandwidthPackage state.TagResourceType = "vpc:commonbandwidthpackage"
	TagIPv4Gateway            state.TagResourceType = "vpc:ipv4gateway"
	TagIPv6Gateway            state.TagResourceType = "vpc:ipv6gateway"
	TagNATGateway             state.TagResourceType = "vpc:natgateway"
	TagHAVIP                  state.TagResourceType = "vpc:havip"
	TagCIDRReservation        state.TagResourceType = "vpc:cidrreservation"
	TagResourceGroup          state.TagResourceType = "resourcemanager:resourcegroup"
	TagUserCertificate        state.TagResourceType = "cas:certificate"
	TagNLBLoadBalancer        state.TagResourceType = "nlb:loadbalancer"
	TagNLBListener            state.TagResourceType = "nlb:listener"
	TagNLBServerGroup         state.TagResourceType = "nlb:servergroup"
	TagNLBSecurityPolicy      state.TagResourceType = "nlb:securitypolicy"
)

// QuotaTags limits a resource.
var QuotaTags = state.NewQuota(Schema, "slb_quota_tags_num", 20,
	state.Of(state.Tags, func(t *state.Tag, add func(string, int)) { add(t.ResourceID, 1) }))

// QuotaLegacyTags limits what AddTags adds to a load balancer.
var QuotaLegacyTags = state.NewQuota(Schema, "slb_quota_add_tags_num", 10,
	state.Of(state.Tags, func(t *state.Tag, add func(string, int)) {
		if t.ResourceType == TagLoadBalancer {
			add(t.ResourceID, 1)
		}
	}))
