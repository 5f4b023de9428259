package world

// spec is a world file as it is written; default.yaml says what its fields mean.
type spec struct {
	Clouds             scalar                  `yaml:"clouds"`
	Accounts           []accountSpec           `yaml:"accounts" required:"true"`
	Regions            []regionSpec            `yaml:"regions" required:"true"`
	VPCs               []vpcSpec               `yaml:"vpcs"`
	VSwitches          []vSwitchSpec           `yaml:"vSwitches"`
	RouteTables        []routeTableSpec        `yaml:"routeTables"`
	RouteEntries       []routeEntrySpec        `yaml:"routeEntries"`
	SecurityGroups     []securityGroupSpec     `yaml:"securityGroups"`
	Instances          []instanceSpec          `yaml:"instances"`
	NetworkInterfaces  []networkInterfaceSpec  `yaml:"networkInterfaces"`
	EIPs               []eipSpec               `yaml:"eips"`
	ServerCertificates []serverCertificateSpec `yaml:"serverCertificates"`

	LoadBalancers        []loadBalancerSpec `yaml:"loadBalancers"`
	ServerGroups         []serverGroupSpec  `yaml:"serverGroups"`
	NetworkLoadBalancers []nlbSpec          `yaml:"networkLoadBalancers"`
	Calls                []callSpec         `yaml:"calls"`
}

// callSpec is a call that changes the cloud before the first one of a client.
type callSpec struct {
	Product    scalar `yaml:"product" required:"true"`
	Action     scalar `yaml:"action" required:"true"`
	Account    scalar `yaml:"account"`
	Region     scalar `yaml:"region"`
	ID         scalar `yaml:"id"`
	Parameters pairs  `yaml:"parameters"`
}

type accountSpec struct {
	ID                   scalar              `yaml:"id" required:"true"`
	Name                 scalar              `yaml:"name"`
	DefaultRegion        scalar              `yaml:"defaultRegion" required:"true"`
	DefaultResourceGroup scalar              `yaml:"defaultResourceGroup" required:"true"`
	Balance              scalar              `yaml:"balance"`
	GraceDays            scalar              `yaml:"graceDays"`
	ReleaseDays          scalar              `yaml:"releaseDays"`
	NLBGraceDays         scalar              `yaml:"nlbGraceDays"`
	NLBReleaseDays       scalar              `yaml:"nlbReleaseDays"`
	LCUToSpec            scalar              `yaml:"lcuToSpec"`
	Site                 scalar              `yaml:"site"`
	AccessKeys           []accessKeySpec     `yaml:"accessKeys"`
	ResourceGroups       []resourceGroupSpec `yaml:"resourceGroups"`
	OIDCProviders        []oidcProviderSpec  `yaml:"oidcProviders"`
}

type oidcProviderSpec struct {
	Name      scalar   `yaml:"name" required:"true"`
	Issuer    scalar   `yaml:"issuer" required:"true"`
	ClientIDs []scalar `yaml:"clientIds" required:"true"`
	Keys      scalar   `yaml:"keys" required:"true"`
}

type accessKeySpec struct {
	ID     scalar `yaml:"id" required:"true"`
	Secret scalar `yaml:"secret" required:"true"`
	Status scalar `yaml:"status"`
}

type resourceGroupSpec struct {
	ID          scalar `yaml:"id" required:"true"`
	Name        scalar `yaml:"name"`
	DisplayName scalar `yaml:"displayName"`
}

type regionSpec struct {
	ID                  scalar          `yaml:"id" required:"true"`
	LocalName           scalar          `yaml:"localName"`
	Zones               []zoneSpec      `yaml:"zones" required:"true"`
	ZonePairs           []zonePairSpec  `yaml:"zonePairs" required:"true"`
	PublicCIDRBlock     scalar          `yaml:"publicCidrBlock" required:"true"`
	PublicIPv6CIDRBlock scalar          `yaml:"publicIpv6CidrBlock"`
	SharedInstancesSold scalar          `yaml:"sharedInstancesSold"`
	PayBySpecSold       scalar          `yaml:"payBySpecSold"`
	SubscriptionsSold   scalar          `yaml:"subscriptionsSold"`
	SoldOut             []zoneStockSpec `yaml:"soldOut"`
}

type zoneStockSpec struct {
	Zone        scalar `yaml:"zone" required:"true"`
	AddressType scalar `yaml:"addressType"`
}

type zoneSpec struct {
	ID        scalar `yaml:"id" required:"true"`
	LocalName scalar `yaml:"localName"`
}

type zonePairSpec struct {
	Master scalar `yaml:"master" required:"true"`
	Slave  scalar `yaml:"slave" required:"true"`
}

type vpcSpec struct {
	ID                  scalar   `yaml:"id" required:"true"`
	Account             scalar   `yaml:"account"`
	Region              scalar   `yaml:"region"`
	Name                scalar   `yaml:"name"`
	Description         scalar   `yaml:"description"`
	CIDRBlock           scalar   `yaml:"cidrBlock" required:"true"`
	SecondaryCIDRBlocks []scalar `yaml:"secondaryCidrBlocks"`
	IPv6CIDRBlock       scalar   `yaml:"ipv6CidrBlock"`
	VRouter             scalar   `yaml:"vRouter"`
	SystemRouteTable    scalar   `yaml:"systemRouteTable" required:"true"`
	Default             scalar   `yaml:"default"`
	ResourceGroup       scalar   `yaml:"resourceGroup"`
	Tags                pairs    `yaml:"tags"`
}

type vSwitchSpec struct {
	ID            scalar `yaml:"id" required:"true"`
	VPC           scalar `yaml:"vpc" required:"true"`
	Zone          scalar `yaml:"zone" required:"true"`
	CIDRBlock     scalar `yaml:"cidrBlock" required:"true"`
	IPv6CIDRBlock scalar `yaml:"ipv6CidrBlock"`
	RouteTable    scalar `yaml:"routeTable"`
	Default       scalar `yaml:"default"`
	Name          scalar `yaml:"name"`
	Description   scalar `yaml:"description"`
	ResourceGroup scalar `yaml:"resourceGroup"`
	Tags          pairs  `yaml:"tags"`
}

type routeTableSpec struct {
	ID            scalar `yaml:"id" required:"true"`
	VPC           scalar `yaml:"vpc" required:"true"`
	Name          scalar `yaml:"name"`
	Description   scalar `yaml:"description"`
	ResourceGroup scalar `yaml:"resourceGroup"`
	Tags          pairs  `yaml:"tags"`
}

type routeEntrySpec struct {
	RouteTable           scalar `yaml:"routeTable" required:"true"`
	DestinationCIDRBlock scalar `yaml:"destinationCidrBlock" required:"true"`
	NextHopType          scalar `yaml:"nextHopType"`
	NextHop              scalar `yaml:"nextHop" required:"true"`
	Name                 scalar `yaml:"name"`
	Description          scalar `yaml:"description"`
}

type securityGroupSpec struct {
	ID            scalar `yaml:"id" required:"true"`
	VPC           scalar `yaml:"vpc" required:"true"`
	Name          scalar `yaml:"name"`
	Description   scalar `yaml:"description"`
	Type          scalar `yaml:"type"`
	ResourceGroup scalar `yaml:"resourceGroup"`
	Tags          pairs  `yaml:"tags"`
}

type instanceSpec struct {
	ID                 scalar   `yaml:"id" required:"true"`
	VSwitch            scalar   `yaml:"vSwitch" required:"true"`
	NetworkInterface   scalar   `yaml:"networkInterface" required:"true"`
	PrivateIPAddress   scalar   `yaml:"privateIpAddress"`
	IPv6Address        scalar   `yaml:"ipv6Address"`
	PublicIPAddress    scalar   `yaml:"publicIpAddress"`
	MacAddress         scalar   `yaml:"macAddress"`
	SecurityGroups     []scalar `yaml:"securityGroups"`
	Name               scalar   `yaml:"name"`
	HostName           scalar   `yaml:"hostName"`
	Description        scalar   `yaml:"description"`
	Status             scalar   `yaml:"status"`
	InstanceType       scalar   `yaml:"instanceType"`
	InstanceChargeType scalar   `yaml:"instanceChargeType"`
	SpotStrategy       scalar   `yaml:"spotStrategy"`
	Image              scalar   `yaml:"image"`
	SerialNumber       scalar   `yaml:"serialNumber"`
	RAMRole            scalar   `yaml:"ramRole"`
	ReachAt            scalar   `yaml:"reachAt"`
	ResourceGroup      scalar   `yaml:"resourceGroup"`
	Tags               pairs    `yaml:"tags"`
}

type networkInterfaceSpec struct {
	ID                 scalar   `yaml:"id" required:"true"`
	VSwitch            scalar   `yaml:"vSwitch" required:"true"`
	Instance           scalar   `yaml:"instance"`
	PrivateIPAddresses []scalar `yaml:"privateIpAddresses"`
	IPv6Addresses      []scalar `yaml:"ipv6Addresses"`
	MacAddress         scalar   `yaml:"macAddress"`
	SecurityGroups     []scalar `yaml:"securityGroups"`
	ReachAt            scalar   `yaml:"reachAt"`
	Name               scalar   `yaml:"name"`
	Description        scalar   `yaml:"description"`
	ResourceGroup      scalar   `yaml:"resourceGroup"`
	Tags               pairs    `yaml:"tags"`
}

type eipSpec struct {
	ID                 scalar `yaml:"id" required:"true"`
	Account            scalar `yaml:"account"`
	Region             scalar `yaml:"region"`
	IPAddress          scalar `yaml:"ipAddress"`
	Name               scalar `yaml:"name"`
	Description        scalar `yaml:"description"`
	Bandwidth          scalar `yaml:"bandwidth"`
	ISP                scalar `yaml:"isp"`
	InternetChargeType scalar `yaml:"internetChargeType"`
	Instance           scalar `yaml:"instance"`
	ResourceGroup      scalar `yaml:"resourceGroup"`
	Tags               pairs  `yaml:"tags"`
}

type serverCertificateSpec struct {
	ID            scalar `yaml:"id" required:"true"`
	Account       scalar `yaml:"account"`
	Region        scalar `yaml:"region"`
	Name          scalar `yaml:"name" required:"true"`
	Certificate   scalar `yaml:"certificate" required:"true"`
	PrivateKey    scalar `yaml:"privateKey"`
	ResourceGroup scalar `yaml:"resourceGroup"`
	Tags          pairs  `yaml:"tags"`
}

// loadBalancerSpec is a CLB. settings are parameters of the call that creates it, for
// which there is no field.
type loadBalancerSpec struct {
	ID                 scalar             `yaml:"id" required:"true"`
	Account            scalar             `yaml:"account"`
	Region             scalar             `yaml:"region"`
	Name               scalar             `yaml:"name"`
	AddressType        scalar             `yaml:"addressType"`
	VSwitch            scalar             `yaml:"vSwitch"`
	Address            scalar             `yaml:"address"`
	Spec               scalar             `yaml:"spec"`
	InstanceChargeType scalar             `yaml:"instanceChargeType"`
	ResourceGroup      scalar             `yaml:"resourceGroup"`
	Settings           pairs              `yaml:"settings"`
	Tags               pairs              `yaml:"tags"`
	BackendServers     []serverSpec       `yaml:"backendServers"`
	VServerGroups      []vServerGroupSpec `yaml:"vServerGroups"`
	Listeners          []listenerSpec     `yaml:"listeners"`
}

type vServerGroupSpec struct {
	ID      scalar       `yaml:"id" required:"true"`
	Name    scalar       `yaml:"name"`
	Tags    pairs        `yaml:"tags"`
	Servers []serverSpec `yaml:"servers"`
}

type serverSpec struct {
	Server      scalar `yaml:"server" required:"true"`
	Address     scalar `yaml:"address"`
	Port        scalar `yaml:"port"`
	Weight      scalar `yaml:"weight"`
	Description scalar `yaml:"description"`
}

type listenerSpec struct {
	Protocol          scalar `yaml:"protocol" required:"true"`
	Port              scalar `yaml:"port" required:"true"`
	VServerGroup      scalar `yaml:"vServerGroup"`
	BackendServerPort scalar `yaml:"backendServerPort"`
	Status            scalar `yaml:"status"`
	Description       scalar `yaml:"description"`
	Settings          pairs  `yaml:"settings"`
	Tags              pairs  `yaml:"tags"`
}

type serverGroupSpec struct {
	ID            scalar       `yaml:"id" required:"true"`
	Name          scalar       `yaml:"name" required:"true"`
	VPC           scalar       `yaml:"vpc" required:"true"`
	Type          scalar       `yaml:"type"`
	Protocol      scalar       `yaml:"protocol"`
	ResourceGroup scalar       `yaml:"resourceGroup"`
	Settings      pairs        `yaml:"settings"`
	Tags          pairs        `yaml:"tags"`
	Servers       []serverSpec `yaml:"servers"`
}

type nlbSpec struct {
	ID            scalar            `yaml:"id" required:"true"`
	Name          scalar            `yaml:"name"`
	AddressType   scalar            `yaml:"addressType"`
	Zones         []nlbZoneSpec     `yaml:"zones" required:"true"`
	ResourceGroup scalar            `yaml:"resourceGroup"`
	Settings      pairs             `yaml:"settings"`
	Tags          pairs             `yaml:"tags"`
	Listeners     []nlbListenerSpec `yaml:"listeners"`
}

type nlbZoneSpec struct {
	VSwitch scalar `yaml:"vSwitch" required:"true"`
	Address scalar `yaml:"address"`
	EIP     scalar `yaml:"eip"`
}

type nlbListenerSpec struct {
	Protocol    scalar `yaml:"protocol" required:"true"`
	Port        scalar `yaml:"port" required:"true"`
	ServerGroup scalar `yaml:"serverGroup" required:"true"`
	Status      scalar `yaml:"status"`
	Description scalar `yaml:"description"`
	Settings    pairs  `yaml:"settings"`
	Tags        pairs  `yaml:"tags"`
}
