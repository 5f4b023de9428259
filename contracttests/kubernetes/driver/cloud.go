package main

import cloudprovider "k8s.io/cloud-provider"

// cloud offers Kubernetes load balancers, and nothing else.
type cloud struct{ balancer cloudprovider.LoadBalancer }

func (cloud) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}

func (c cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return c.balancer, true }

func (cloud) Instances() (cloudprovider.Instances, bool) { return nil, false }

func (cloud) InstancesV2() (cloudprovider.InstancesV2, bool) { return nil, false }

func (cloud) Zones() (cloudprovider.Zones, bool) { return nil, false }

func (cloud) Clusters() (cloudprovider.Clusters, bool) { return nil, false }

func (cloud) Routes() (cloudprovider.Routes, bool) { return nil, false }

func (cloud) ProviderName() string { return "clbemu-driver" }

func (cloud) HasClusterID() bool { return true }
