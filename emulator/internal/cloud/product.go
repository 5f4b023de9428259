package cloud

// The products that own load balancers, by the names of their APIs.
const (
	ProductCLB = "Slb"
	ProductNLB = "Nlb"
)

// NLBApex ends the DNS names of Network Load Balancers.
const NLBApex = "nlb.aliyuncs.com"
