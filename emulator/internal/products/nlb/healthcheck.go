package nlb

import "github.com/clbemu/clbemu/emulator/internal/kinds"

// The refusals of this file.
var (
	errHealthCheckDomainIllegal = refusals.New("HealthCheckDomainIllegal", 400, "IllegalParam.healthCheckDomain",
		"The parameter of healthCheckConfig.healthCheckDomain is illegal.", "NLB-0001")
	errHealthCheckURLIllegal = refusals.New("HealthCheckURLIllegal", 400, "IlleagalParam.healthCheckUrl", // the cloud's spelling
		"The parameter of healthCheckUrl in healthCheckConfig is illegal.", "NLB-0001")
	errAnyPortHealthCheck = refusals.New("AnyPortHealthCheck", 400, "IllegalParam.AnyPortServerGroupConflictWithHealthCheckConfig",
		"The param of AnyPortServerGroupConflictWithHealthCheckConfig is illegal.", "NLB-0001")
)

// The types of a health check.
const (
	checkTCP  = "TCP"
	checkUDP  = "UDP"
	checkHTTP = "HTTP"
)

// maxInterval applies to checks by TCP and HTTP; UDP checks may take 300 seconds.
const maxInterval = 50

// healthCheckSettings holds the parameters of a health check.
type healthCheckSettings struct {
	Enabled            *bool    `rpc:"HealthCheckConfig.HealthCheckEnabled"`
	Type               string   `rpc:"HealthCheckConfig.HealthCheckType,words=TCP|UDP|HTTP,invalid=Illegal"`
	ConnectPort        *int     `rpc:"HealthCheckConfig.HealthCheckConnectPort,min=0,max=65535,invalid=Illegal"`
	HealthyThreshold   *int     `rpc:"HealthCheckConfig.HealthyThreshold,min=2,max=10,invalid=Illegal"`
	UnhealthyThreshold *int     `rpc:"HealthCheckConfig.UnhealthyThreshold,min=2,max=10,invalid=Illegal"`
	ConnectTimeout     *int     `rpc:"HealthCheckConfig.HealthCheckConnectTimeout,min=1,max=300,invalid=Illegal"`
	Interval           *int     `rpc:"HealthCheckConfig.HealthCheckInterval,min=1,max=300,invalid=Illegal"`
	Domain             string   `rpc:"HealthCheckConfig.HealthCheckDomain,len=1..80,form=checkedDomain,invalid=HealthCheckDomainIllegal"`
	URL                string   `rpc:"HealthCheckConfig.HealthCheckUrl,len=1..80,form=slashFirst,invalid=HealthCheckURLIllegal"`
	HTTPVersion        string   `rpc:"HealthCheckConfig.HealthCheckHttpVersion,enum=HTTP1.0|HTTP1.1,invalid=Illegal"`
	HTTPMethod         *string  `rpc:"HealthCheckConfig.HttpCheckMethod,words=GET|HEAD,kept,invalid=Illegal"`
	HTTPCodes          []string `rpc:"HealthCheckConfig.HealthCheckHttpCode,enum=http_2xx|http_3xx|http_4xx|http_5xx,max=4,invalid=Illegal"`
	Request            string   `rpc:"HealthCheckConfig.HealthCheckReq,len=1..512,invalid=Illegal"`
	Response           string   `rpc:"HealthCheckConfig.HealthCheckExp,len=1..512,invalid=Illegal"`
}

// newHealthCheck returns the health check of a group of the protocol when the call sets
// nothing.
func newHealthCheck(protocol string) kinds.NLBHealthCheck {
	check := kinds.NLBHealthCheck{Enabled: true, Type: checkTCP, HealthyThreshold: 2, UnhealthyThreshold: 2, ConnectTimeout: 5, Interval: 5}
	if protocol == kinds.NLBUDP {
		check.Type = checkUDP
	}
	return check
}

// apply puts the given settings into the group's check.
func (s *healthCheckSettings) apply(g *kinds.NLBServerGroup) error {
	check := &g.HealthCheck
	set(&check.Enabled, s.Enabled)
	if s.Type != "" {
		check.Type = s.Type
	}
	set(&check.ConnectPort, s.ConnectPort)
	set(&check.HealthyThreshold, s.HealthyThreshold)
	set(&check.UnhealthyThreshold, s.UnhealthyThreshold)
	set(&check.ConnectTimeout, s.ConnectTimeout)
	set(&check.Interval, s.Interval)
	for to, given := range map[*string]string{
		&check.Domain: s.Domain, &check.URL: s.URL, &check.HTTPVersion: s.HTTPVersion,
		&check.Request: s.Request, &check.Response: s.Response,
	} {
		if given != "" {
			*to = given
		}
	}
	if s.HTTPMethod != nil && *s.HTTPMethod != "" {
		check.HTTPMethod = *s.HTTPMethod
	}
	if s.HTTPCodes != nil {
		check.HTTPCodes = s.HTTPCodes
	}
	return checkHealthCheck(g)
}

// checkHealthCheck holds the rules between a check's values, and fills in what a
// check by HTTP has.
func checkHealthCheck(g *kinds.NLBServerGroup) error {
	check := &g.HealthCheck
	if check.Type == checkUDP && g.Protocol == kinds.NLBTCP {
		return errIllegal.Of("HealthCheckType")
	}
	if check.Type == checkHTTP {
		for to, usual := range map[*string]string{&check.HTTPMethod: "GET", &check.URL: "/", &check.HTTPVersion: "HTTP1.0"} {
			if *to == "" {
				*to = usual
			}
		}
		if check.HTTPCodes == nil {
			check.HTTPCodes = []string{"http_2xx"}
		}
	}
	switch {
	case check.Interval > maxInterval && check.Type != checkUDP:
		return errIllegal.Of("HealthCheckInterval")
	case check.ConnectTimeout > check.Interval && check.Type == checkUDP: // NLB-0026
		return errIllegal.Of("HealthCheckConnectTimeout")
	case g.AnyPortEnabled && check.Enabled && check.ConnectPort == 0:
		return errAnyPortHealthCheck
	}
	return nil
}

// healthCheck shows a check in answers.
type healthCheck struct {
	Enabled            bool     `rpc:"HealthCheckEnabled"`
	Type               string   `rpc:"HealthCheckType"`
	ConnectPort        int      `rpc:"HealthCheckConnectPort"`
	HealthyThreshold   int      `rpc:"HealthyThreshold"`
	UnhealthyThreshold int      `rpc:"UnhealthyThreshold"`
	ConnectTimeout     int      `rpc:"HealthCheckConnectTimeout"`
	Interval           int      `rpc:"HealthCheckInterval"`
	Domain             string   `rpc:"HealthCheckDomain,omitempty"`
	URL                string   `rpc:"HealthCheckUrl,omitempty"`
	HTTPVersion        string   `rpc:"HealthCheckHttpVersion,omitempty"`
	HTTPMethod         string   `rpc:"HttpCheckMethod,omitempty"`
	HTTPCodes          []string `rpc:"HealthCheckHttpCode,omitempty"`
	Request            string   `rpc:"HealthCheckReq,omitempty"`
	Response           string   `rpc:"HealthCheckExp,omitempty"`
}

func newHealthCheckView(c kinds.NLBHealthCheck) healthCheck { return healthCheck(c) }
