package kinds

// The products whose kinds carry tags, by the names of their APIs. CLB and NLB own load
// balancers.
const (
	ProductCLB             = "Slb"
	ProductNLB             = "Nlb"
	ProductECS             = "Ecs"
	ProductVPC             = "Vpc"
	ProductCAS             = "cas" // the cloud's spelling
	ProductResourceManager = "ResourceManager"
)

// NLBApex ends the DNS names of Network Load Balancers.
const NLBApex = "nlb.aliyuncs.com"
