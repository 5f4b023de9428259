package dns

import (
	"testing"

	"github.com/miekg/dns"
)

// TestDropped proves that a query over the bound is dropped: the server has neither a
// store to ask nor a server to answer.
func TestDropped(t *testing.T) {
	s := &Server{slots: make(chan struct{}, 1)}
	s.slots <- struct{}{}
	s.ServeDNS(nil, new(dns.Msg).SetQuestion("nlb-a.cn-hangzhou.nlb.aliyuncs.com.", dns.TypeA))
	if len(s.slots) != 1 {
		t.Errorf("%d slots are taken, want the one that was", len(s.slots))
	}
}
