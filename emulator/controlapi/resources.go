package controlapi

// ResourceKind is a sort of what is in the cloud, as people look at it: CLB's and NLB's
// of a sort are one kind.
type ResourceKind struct {
	Name string `json:"name"`
	// Aliases lists the kind's other names in calls.
	Aliases []string `json:"aliases"`
	// Title is the heading of their list.
	Title string `json:"title"`
	// Columns are the fields in which a table shows it, in their order.
	Columns []Column `json:"columns"`
}

// Column is a field that a table shows.
type Column struct {
	// Name is id, name, product, region, status, loadBalancer, or one of the fields.
	Name string `json:"name"`
	// Wide says that a table shows it only if there is room.
	Wide bool `json:"wide,omitempty"`
	// Form is number or list for values of that form, or "" for texts.
	Form string `json:"form,omitempty" enum:"number,list"`
}

// The forms of columns. A list has commas between its values.
const (
	FormNumber = "number"
	FormList   = "list"
)

// Resource is one resource of the cloud.
type Resource struct {
	Kind string `json:"kind"`
	// ID is unique in its kind.
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Product is the name of its API, such as Slb.
	Product string `json:"product"`
	// ProductTitle is the product's name for people, such as CLB.
	ProductTitle string `json:"productTitle,omitempty"`
	Account      string `json:"account"`
	Region       string `json:"region"`
	Status       string `json:"status,omitempty"`
	// LoadBalancer is the id of the load balancer that it is a part of.
	LoadBalancer string `json:"loadBalancer,omitempty"`
	// Fields holds the fields of its kind.
	Fields map[string]string `json:"fields"`
}

// Column returns the value of a column of tables of resources.
func (r *Resource) Column(name string) string {
	switch name {
	case "id":
		return r.ID
	case "name":
		return r.Name
	case "product":
		return r.Product
	case "region":
		return r.Region
	case "status":
		return r.Status
	case "loadBalancer":
		return r.LoadBalancer
	}
	return r.Fields[name]
}

// ResourceKinds is the answer of GetResourceKinds: all kinds, in the order in which they are
// shown.
type ResourceKinds struct {
	Kinds []ResourceKind `json:"kinds"`
}

// Resources is the answer of GetResources.
type Resources struct {
	// Kinds lists the kinds that the call asked for.
	Kinds     []ResourceKind `json:"kinds"`
	Resources []Resource     `json:"resources"`
	// Warnings says what is wrong with the state although it is served.
	Warnings []string `json:"warnings,omitempty"`
}

// ResourceChange is the data of an event of WatchResources. The resources that exist
// come first, followed by a change that is synced and has no resource. A deleted
// resource has its kind, id and load balancer only.
type ResourceChange struct {
	Change   string    `json:"change" enum:"added,changed,deleted,synced"`
	Resource *Resource `json:"resource,omitempty"`
}

// The values of Change.
const (
	ResourceAdded   = "added"
	ResourceChanged = "changed"
	ResourceDeleted = "deleted"
	ResourcesSynced = "synced"
)

// LoadBalancerTree is the answer of GetLoadBalancer: a load balancer with everything that
// belongs to it.
type LoadBalancerTree struct {
	LoadBalancer Resource          `json:"loadBalancer"`
	Tags         map[string]string `json:"tags"`
	Addresses    []Address         `json:"addresses"`
	Listeners    []ListenerTree    `json:"listeners"`
	// Groups lists the groups that no listener forwards to.
	Groups []GroupTree `json:"groups"`
	// Quotas lists the quotas that the load balancer or a part of it uses.
	Quotas []QuotaShare `json:"quotas"`
	// Faults are the rules that may strike calls about it.
	Faults []FaultRule `json:"faults"`
}

// Address is an address of a load balancer.
type Address struct {
	Address string `json:"address"`
	Type    string `json:"type" enum:"internet,intranet"`
	Zone    string `json:"zone,omitempty"`
	// EIP is the id of the elastic IP that it is.
	EIP string `json:"eip,omitempty"`
}

// ListenerTree is a listener with where it forwards.
type ListenerTree struct {
	Listener Resource `json:"listener"`
	// Forwards is whether it takes connections: it runs, also while it is changed.
	Forwards bool       `json:"forwards"`
	Group    *GroupTree `json:"group,omitempty"`
	Rules    []RuleTree `json:"rules"`
}

// RuleTree is a forwarding rule of a listener: what comes for its domain and URL goes
// to its group.
type RuleTree struct {
	ID     string     `json:"id"`
	Name   string     `json:"name"`
	Domain string     `json:"domain,omitempty"`
	URL    string     `json:"url,omitempty"`
	Group  *GroupTree `json:"group,omitempty"`
}

// GroupTree is a group with its servers, whose health is the one that the listener which
// forwards to it finds.
type GroupTree struct {
	Group   Resource   `json:"group"`
	Servers []Resource `json:"servers"`
}

// QuotaShare is one holder's use of a quota.
type QuotaShare struct {
	Name string `json:"name"`
	// By is the id of the resource that uses it.
	By    string `json:"by"`
	Used  int    `json:"used"`
	Limit int    `json:"limit"`
}
