package ecs

import "github.com/clbemu/clbemu/emulator/internal/gateway"

// idle are the parameters that nothing here reads, as they change no answer.
var idle = []gateway.Idle{
	{Parameter: "Password", Actions: []string{"RunInstances", "ModifyInstanceAttribute"}, Why: "clbemu never shows passwords, and has no logins"},
	{Parameter: "PasswordInherit", Actions: []string{"RunInstances"}, Why: "clbemu never shows passwords, and has no logins"},
	{Parameter: "AutoPay", Actions: []string{"RunInstances"}, Why: "no order waits to be paid"},
	{Parameter: "AutoRenew", Actions: []string{"RunInstances"}, Values: []string{"false"}, Why: "no subscription is renewed"},
	{Parameter: "Period", Actions: []string{"RunInstances"}, Why: "subscriptions do not end"},
	{Parameter: "PeriodUnit", Actions: []string{"RunInstances"}, Why: "subscriptions do not end"},
	{Parameter: "IoOptimized", Actions: []string{"RunInstances"}, Values: []string{"optimized"}, Why: "every instance is"},
	{Parameter: "SecurityEnhancementStrategy", Actions: []string{"RunInstances"}, Why: "no security agent runs"},
	{Parameter: "HttpEndpoint", Actions: []string{"RunInstances"}, Values: []string{"enabled"}, Why: "it is"},
	{Parameter: "Tenancy", Actions: []string{"RunInstances"}, Values: []string{"default"}, Why: "there are no dedicated hosts"},
	{Parameter: "Affinity", Actions: []string{"RunInstances"}, Values: []string{"default"}, Why: "there are no dedicated hosts"},
	{Parameter: "NetworkInterface.N.DeleteOnRelease", Actions: []string{"RunInstances"}, Values: []string{"true"}, Why: "interfaces go with their instance"},
	{Parameter: "NetworkInterface.N.NetworkInterfaceTrafficMode", Actions: []string{"RunInstances"}, Values: []string{"Standard"}, Why: "every interface has that mode"},
	{Parameter: "ForceStop", Actions: []string{"StopInstance", "StopInstances", "RebootInstance", "DeleteInstance"}, Why: "no system runs that would resist"},
	{Parameter: "ConfirmStop", Actions: []string{"StopInstance"}, Why: "no system runs that would resist"},
	{Parameter: "Hibernate", Actions: []string{"StopInstance"}, Values: []string{"false"}, Why: "nothing hibernates"},
	{Parameter: "InitLocalDisk", Actions: []string{"StartInstance"}, Why: "there are no local disks"},
	{Parameter: "BatchOptimization", Actions: []string{"StartInstances", "StopInstances"}, Values: []string{"AllTogether"}, Why: "that is how it is done"},
	{Parameter: "Recyclable", Actions: []string{"ModifyInstanceAttribute"}, Values: []string{"false"}, Why: "nothing is recycled"},
	{Parameter: "InstanceType", Actions: []string{"CreateNetworkInterface"}, Values: []string{"Secondary"}, Why: "every interface that is made by itself is"},
	{Parameter: "NetworkInterfaceTrafficMode", Actions: []string{"CreateNetworkInterface"}, Values: []string{"Standard"}, Why: "every interface has that mode"},
	{Parameter: "DeleteOnRelease", Actions: []string{"CreateNetworkInterface", "ModifyNetworkInterfaceAttribute"}, Values: []string{"true"}, Why: "interfaces go with their instance"},
	{Parameter: "NetworkCardIndex", Actions: []string{"AttachNetworkInterface"}, Values: []string{"0"}, Why: "instances have one network card"},
	{Parameter: "WaitForNetworkConfigurationReady", Actions: []string{"AttachNetworkInterface"}, Why: "it is ready when it is attached"},
	{Parameter: "ServiceManaged", Actions: []string{"CreateSecurityGroup"}, Values: []string{"false"}, Why: "no group is managed by a service"},
}
