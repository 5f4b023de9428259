package cloud

// The products that own load balancers, by the names of their APIs.
const (
	ProductCLB = "Slb"
	ProductNLB = "Nlb"
)
