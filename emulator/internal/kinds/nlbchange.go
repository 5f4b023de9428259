package kinds

// What changes of NLB work with.
var (
	NLBJobs  = NewJobs(Schema, ProductNLB, "NLBJob", "nlb.job")
	NLBLocks = NewLocks(Schema, "NLBLock", "nlb.loadbalancer.locked", NLBLoadBalancers)
)
