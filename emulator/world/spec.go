package world

// spec is a world file as it is written. Its yaml tags are the file's field
// names; default.yaml says what they mean.
type spec struct {
	Accounts           []accountSpec           `yaml:"accounts,required"`
	Regions            []regionSpec            `yaml:"regions,required"`
	VPCs               []vpcSpec               `yaml:"vpcs"`
	VSwitches          []vSwitchSpec           `yaml:"vSwitches"`
	RouteTables        []routeTableSpec        `yaml:"routeTables"`
	RouteEntries       []routeEntrySpec        `yaml:"routeEntries"`
	SecurityGroups     []securityGroupSpec     `yaml:"securityGroups"`
	Instances          []instanceSpec          `yaml:"instances"`
	NetworkInterfaces  []networkInterfaceSpec  `yaml:"networkInterfaces"`
	EIPs               []eipSpec               `yaml:"eips"`
	ServerCertificates []serverCertificateSpec `yaml:"serverCertificates"`
}

type accountSpec struct {
	ID                   scalar              `yaml:"id,required"`
	Name                 scalar              `yaml:"name"`
	DefaultRegion        scalar              `yaml:"defaultRegion,required"`
	DefaultResourceGroup scalar              `yaml:"defaultResourceGroup,required"`
	Balance              scalar              `yaml:"balance"`
	GraceDays            scalar              `yaml:"graceDays"`
	ReleaseDays          scalar              `yaml:"releaseDays"`
	LCUToSpec            scalar              `yaml:"lcuToSpec"`
	AccessKeys           []accessKeySpec     `yaml:"accessKeys"`
	ResourceGroups       []resourceGroupSpec `yaml:"resourceGroups"`
}

type accessKeySpec struct {
	ID     scalar `yaml:"id,required"`
	Secret scalar `yaml:"secret,required"`
	Status scalar `yaml:"status"`
}

type resourceGroupSpec struct {
	ID   scalar `yaml:"id,required"`
	Name scalar `yaml:"name"`
}

type regionSpec struct {
	ID                  scalar          `yaml:"id,required"`
	LocalName           scalar          `yaml:"localName"`
	Zones               []zoneSpec      `yaml:"zones,required"`
	ZonePairs           []zonePairSpec  `yaml:"zonePairs,required"`
	PublicCIDRBlock     scalar          `yaml:"publicCidrBlock,required"`
	PublicIPv6CIDRBlock scalar          `yaml:"publicIpv6CidrBlock"`
	SharedInstancesSold scalar          `yaml:"sharedInstancesSold"`
	SoldOut             []zoneStockSpec `yaml:"soldOut"`
}

type zoneStockSpec struct {
	Zone        scalar `yaml:"zone,required"`
	AddressType scalar `yaml:"addressType"`
}

type zoneSpec struct {
	ID        scalar `yaml:"id,required"`
	LocalName scalar `yaml:"localName"`
}

type zonePairSpec struct {
	Master scalar `yaml:"master,required"`
	Slave  scalar `yaml:"slave,required"`
}

type vpcSpec struct {
	ID                  scalar   `yaml:"id,required"`
	Account             scalar   `yaml:"account"`
	Region              scalar   `yaml:"region"`
	Name                scalar   `yaml:"name"`
	Description         scalar   `yaml:"description"`
	CIDRBlock           scalar   `yaml:"cidrBlock,required"`
	SecondaryCIDRBlocks []scalar `yaml:"secondaryCidrBlocks"`
	IPv6CIDRBlock       scalar   `yaml:"ipv6CidrBlock"`
	VRouter             scalar   `yaml:"vRouter"`
	SystemRouteTable    scalar   `yaml:"systemRouteTable,required"`
	ResourceGroup       scalar   `yaml:"resourceGroup"`
	Tags                []pair   `yaml:"tags"`
}

type vSwitchSpec struct {
	ID            scalar `yaml:"id,required"`
	VPC           scalar `yaml:"vpc,required"`
	Zone          scalar `yaml:"zone,required"`
	CIDRBlock     scalar `yaml:"cidrBlock,required"`
	IPv6CIDRBlock scalar `yaml:"ipv6CidrBlock"`
	RouteTable    scalar `yaml:"routeTable"`
	Name          scalar `yaml:"name"`
	Description   scalar `yaml:"description"`
	ResourceGroup scalar `yaml:"resourceGroup"`
	Tags          []pair `yaml:"tags"`
}

type routeTableSpec struct {
	ID            scalar `yaml:"id,required"`
	VPC           scalar `yaml:"vpc,required"`
	Name          scalar `yaml:"name"`
	Description   scalar `yaml:"description"`
	ResourceGroup scalar `yaml:"resourceGroup"`
	Tags          []pair `yaml:"tags"`
}

type routeEntrySpec struct {
	RouteTable           scalar `yaml:"routeTable,required"`
	DestinationCIDRBlock scalar `yaml:"destinationCidrBlock,required"`
	NextHopType          scalar `yaml:"nextHopType"`
	NextHop              scalar `yaml:"nextHop,required"`
	Name                 scalar `yaml:"name"`
	Description          scalar `yaml:"description"`
}

type securityGroupSpec struct {
	ID            scalar `yaml:"id,required"`
	VPC           scalar `yaml:"vpc,required"`
	Name          scalar `yaml:"name"`
	Description   scalar `yaml:"description"`
	Type          scalar `yaml:"type"`
	ResourceGroup scalar `yaml:"resourceGroup"`
	Tags          []pair `yaml:"tags"`
}

type instanceSpec struct {
	ID                 scalar   `yaml:"id,required"`
	VSwitch            scalar   `yaml:"vSwitch,required"`
	NetworkInterface   scalar   `yaml:"networkInterface,required"`
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
	ResourceGroup      scalar   `yaml:"resourceGroup"`
	Tags               []pair   `yaml:"tags"`
}

type networkInterfaceSpec struct {
	ID                 scalar   `yaml:"id,required"`
	VSwitch            scalar   `yaml:"vSwitch,required"`
	Instance           scalar   `yaml:"instance"`
	PrivateIPAddresses []scalar `yaml:"privateIpAddresses"`
	IPv6Addresses      []scalar `yaml:"ipv6Addresses"`
	MacAddress         scalar   `yaml:"macAddress"`
	SecurityGroups     []scalar `yaml:"securityGroups"`
	Name               scalar   `yaml:"name"`
	Description        scalar   `yaml:"description"`
	ResourceGroup      scalar   `yaml:"resourceGroup"`
	Tags               []pair   `yaml:"tags"`
}

type eipSpec struct {
	ID                 scalar `yaml:"id,required"`
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
	Tags               []pair `yaml:"tags"`
}

type serverCertificateSpec struct {
	ID            scalar `yaml:"id,required"`
	Account       scalar `yaml:"account"`
	Region        scalar `yaml:"region"`
	Name          scalar `yaml:"name,required"`
	Certificate   scalar `yaml:"certificate,required"`
	ResourceGroup scalar `yaml:"resourceGroup"`
	Tags          []pair `yaml:"tags"`
}
