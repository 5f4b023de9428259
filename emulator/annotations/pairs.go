package annotations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// pairs are the checks of annotations that name ports of the Service.
var pairs = map[string]func(s *Service, value string) []Problem{
	"protocol-port": (*Service).checkPorts, "vgroup-port": (*Service).checkPorts,
	"forward-port": (*Service).checkForward, "listener-port-range": (*Service).checkRanges, "zone-maps": (*Service).checkZones,
}

// hasPort reports whether the Service has a port, if its ports are known.
func (s *Service) hasPort(number string) bool {
	return len(s.Ports) == 0 || slices.ContainsFunc(s.Ports, func(p Port) bool { return strconv.Itoa(p.Number) == number })
}

// noPort returns the problem of a pair whose port the Service does not have.
func noPort(pair, number string) Problem {
	return Problem{Text: fmt.Sprintf("%s takes no effect: the Service has no port %s", pair, number)}
}

// checkPorts checks pairs that end in a port of the Service.
func (s *Service) checkPorts(value string) (problems []Problem) {
	for pair := range strings.SplitSeq(value, ",") {
		if _, number, _ := strings.Cut(pair, ":"); !s.hasPort(number) {
			problems = append(problems, noPort(pair, number))
		}
	}
	return problems
}

// checkForward checks pairs of a listener of HTTP and one of HTTPS.
func (s *Service) checkForward(value string) (problems []Problem) {
	protocols := s.protocols()
	is := func(number, protocol string) bool {
		i := slices.IndexFunc(s.ports(), func(p Port) bool { return strconv.Itoa(p.Number) == number })
		return i >= 0 && protocols[i] == protocol
	}
	for pair := range strings.SplitSeq(value, ",") {
		from, to, _ := strings.Cut(pair, ":")
		switch {
		case !s.hasPort(from):
			problems = append(problems, noPort(pair, from))
		case is(from, "http") && !is(to, "https"):
			problems = append(problems, Problem{Breaks: true, Text: fmt.Sprintf("the Service will not come up: no listener of HTTPS has the port %s", to)})
		}
	}
	return problems
}

// span is a range of ports with the protocol of its listener.
type span struct {
	from, to       int
	protocol, text string
}

// checkRanges checks ranges of ports, which must not have a port in common.
func (s *Service) checkRanges(value string) (problems []Problem) {
	breaks := func(format string, args ...any) {
		problems = append(problems, Problem{Breaks: true, Text: "the Service will not come up: " + fmt.Sprintf(format, args...)})
	}
	ranges := make(map[string]span)
	for pair := range strings.SplitSeq(value, ",") {
		text, number, _ := strings.Cut(pair, ":")
		from, to, _ := strings.Cut(text, "-")
		var r span
		r.from, _ = strconv.Atoi(from)
		r.to, _ = strconv.Atoi(to)
		switch {
		case !s.hasPort(number):
			problems = append(problems, noPort(pair, number))
		case r.from >= r.to || r.from < 1 || r.to > 65535:
			breaks("%s is no range of ports from 1 to 65535", text)
		default:
			ranges[number] = r
		}
	}
	var all []span
	protocols := s.protocols()
	for i, port := range s.ports() {
		number := strconv.Itoa(port.Number)
		r, ranged := ranges[number]
		if !ranged {
			r = span{from: port.Number, to: port.Number}
		}
		r.protocol, r.text = protocols[i], "port "+number
		for _, other := range all {
			if other.protocol == r.protocol && other.from <= r.to && r.from <= other.to {
				breaks("the listeners of %s and %s have ports in common", other.text, r.text)
			}
		}
		all = append(all, r)
	}
	return problems
}

// checkZones checks that no zone is there twice.
func (s *Service) checkZones(value string) (problems []Problem) {
	seen := make(map[string]bool)
	for pair := range strings.SplitSeq(value, ",") {
		zone, _, _ := strings.Cut(pair, ":")
		if seen[zone] {
			problems = append(problems, Problem{Breaks: true, Text: fmt.Sprintf("the Service will not come up: the zone %s is there twice", zone), Advice: "name another zone, with a vSwitch in it"})
		}
		seen[zone] = true
	}
	return problems
}
