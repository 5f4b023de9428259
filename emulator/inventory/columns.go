package inventory

import (
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// column is a column of some kinds: a kind declares it, and a resource of the kind has its
// value. Some are no field of a resource, since each resource has them.
type column struct{ name, form string }

// field is a resource's value in a column.
type field struct {
	column
	value string
}

// is returns the field with these values; empty ones do not count.
func (c column) is(values ...string) field {
	var there []string
	for _, value := range values {
		if value != "" {
			there = append(there, value)
		}
	}
	return field{c, strings.Join(there, ",")}
}

// count returns the field with a number.
func (c column) count(n int) field { return field{c, strconv.Itoa(n)} }

func (c column) shown(wide bool) controlapi.Column {
	return controlapi.Column{Name: c.name, Form: c.form, Wide: wide}
}

// The columns, by the form of their values.
var (
	colID             = column{"id", ""}
	colName           = column{"name", ""}
	colStatus         = column{"status", ""}
	colAddress        = column{"address", ""}
	colProduct        = column{"product", ""}
	colType           = column{"type", ""}
	colRegion         = column{"region", ""}
	colVPC            = column{"vpc", ""}
	colVSwitch        = column{"vswitch", ""}
	colSpec           = column{"spec", ""}
	colDNSName        = column{"dnsName", ""}
	colCreated        = column{"created", ""}
	colLoadBalancer   = column{"loadBalancer", ""}
	colProtocol       = column{"protocol", ""}
	colGroup          = column{"group", ""}
	colHealth         = column{"health", ""}
	colScheduler      = column{"scheduler", ""}
	colHealthCheck    = column{"healthCheck", ""}
	colACL            = column{"acl", ""}
	colCertificate    = column{"certificate", ""}
	colBandwidthLimit = column{"bandwidth", ""}
	colListener       = column{"listener", ""}
	colDomain         = column{"domain", ""}
	colURL            = column{"url", ""}
	colServer         = column{"server", ""}
	colDescription    = column{"description", ""}
	colCommonName     = column{"commonName", ""}
	colExpires        = column{"expires", ""}
	colFingerprint    = column{"fingerprint", ""}
	colZone           = column{"zone", ""}
	colCIDR           = column{"cidr", ""}
	colInstance       = column{"instance", ""}
	colInstanceType   = column{"instanceType", ""}
	colISP            = column{"isp", ""}
	colChargeType     = column{"chargeType", ""}
	colAction         = column{"action", ""}
	colResource       = column{"resource", ""}
	colResourceType   = column{"resourceType", ""}

	colListeners    = column{"listeners", "number"}
	colServers      = column{"servers", "number"}
	colPort         = column{"port", "number"}
	colWeight       = column{"weight", "number"}
	colEntries      = column{"entries", "number"}
	colFree         = column{"free", "number"}
	colVSwitches    = column{"vswitches", "number"}
	colRules        = column{"rules", "number"}
	colBandwidth    = column{"bandwidth", "number"}
	colAddressCount = column{"addresses", "number"}
	colGroups       = column{"groups", "number"}

	colZones     = column{"zones", "list"}
	colUsedBy    = column{"usedBy", "list"}
	colAddresses = column{"addresses", "list"}
	colNames     = column{"names", "list"}
	colSoldOut   = column{"soldOut", "list"}
)

// The fields of listeners and servers that no table shows.
var (
	colAnswersAt = column{"answersAt", ""}
	colProblem   = column{"problem", ""}
)
