package console

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// tokenless is a script that has no ClientToken; one of its names is markup.
const tokenless = `about: A client creates a load balancer with a group.
client:
  steps:
    - call: {action: DescribeLoadBalancers, params: {LoadBalancerName: "<b>web</b>"}}
    - call: {action: CreateLoadBalancer, params: {LoadBalancerName: web, InstanceChargeType: PayByCLCU}, save: {lb: LoadBalancerId}}
    - call: {action: CreateVServerGroup, params: {LoadBalancerId: "{{lb}}", VServerGroupName: web}}
    - call: {action: SetLoadBalancerDeleteProtection, params: {LoadBalancerId: "{{lb}}", DeleteProtection: "on"}}
`

// explored lets the page have the results of an exploration.
func (b *tab) explored(flags ...string) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "web.yaml")
	if err := os.WriteFile(file, []byte(tokenless), 0o600); err != nil {
		b.Fatal(err)
	}
	r := binary.Run(b.T, append([]string{"explore", file, "--console", b.ControlURL()}, flags...)...)
	if r.Code != 1 || !strings.Contains(r.Stdout, "violation of double: lost at CreateLoadBalancer") {
		b.Fatalf("explore = %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}

// TestExplore proves that the page shows the results as they come, and that each cell opens
// the journals of its plays, each of which can be chosen.
func TestExplore(t *testing.T) {
	b := open(t)
	b.visit("/explore")
	b.shows("#about", "clbemu explore --console "+strings.TrimPrefix(b.ControlURL(), "http://"))
	b.explored()
	b.shows("#about", "2 violated")
	b.shows("#findings", "too much: LoadBalancer web")
	b.until("document.querySelectorAll('#cells tbody tr').length === 4")
	b.click("#cells .cell[data-mood=bad] a")
	b.shows("#detail h2", "lost at CreateLoadBalancer")
	b.shows("#detail .badge", "violated: double")
	b.until("[...document.querySelectorAll('#detail tbody th')].filter((e) => e.textContent.startsWith('CreateLoadBalancer')).length === 2")
	b.shows("#detail tbody", "disturbance")
	b.shows("#detail pre:last-child", "afterCommit: reset")
	b.do("go back", back)
	b.shows("#detail", "Choose a cell")
	b.visit("/explore?play=slow+at+CreateVServerGroup")
	b.shows("#detail .badge", "fine")
	b.click("#detail summary")
	b.shows("#detail details", "LoadBalancerName=<b>web</b>")
	// A cell of several plays.
	b.click("#cells tbody tr:nth-child(2) td:nth-child(4) a")
	b.until("document.querySelectorAll('#detail .tags li').length > 2")
	b.click("#detail .tags a")
	b.until("document.querySelector('#detail .tags strong').textContent === document.querySelector('#detail h2').textContent")
	b.visit("/explore?play=none")
	b.shows("#detail", "There is no such play")
	// In Chinese, what clbemu explore names is too.
	b.prefers("zh-CN")
	b.visit("/explore?play=lost+at+CreateLoadBalancer")
	b.shows("#about", "2 次违规")
	b.shows("#detail .badge", "违规: 重复")
	b.until("document.querySelectorAll('#cells tbody tr').length === 4")
	english := regexp.MustCompile(`(?i)\b(at|plays|lost|throttled|killed|violated|fine|ok|double|state|too much|missing|want)\b`)
	for _, part := range []string{"#about", "#findings", "#cells", "#detail h2"} {
		if text := value[string](b, "document.querySelector('"+part+"').innerText"); english.MatchString(text) {
			t.Errorf("%s says %q in Chinese: %s", part, english.FindString(text), text)
		}
	}
}
