// Command controllers is a bank of small controllers, by which clbemu's own judges are
// judged: five are right, the others have one planted bug each. All of them make a load
// balancer web with a server group, two servers and a listener, or delete it:
//
//	clbemu explore -- go run ./contracttests/controllers token
//	clbemu scenario watch reply-lost-after-create -- go run ./contracttests/controllers double
//
// Each is a few lines on the steps that all share. It finds the cloud in the variables of
// clbemu env.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// bank has the controllers by name.
var bank = map[string]func(*controller) error{
	// Right.
	"polling":  polling,
	"adopting": adopting,
	"token":    token,
	"once":     once,
	"event":    event,
	// With a planted bug each.
	"double":        double,
	"new-token":     newToken,
	"late":          late,
	"leak":          leak,
	"renamed":       renamed,
	"wrong-order":   wrongOrder,
	"foreign":       foreign,
	"replaced":      replaced,
	"emptied":       emptied,
	"lost-update":   lostUpdate,
	"stale-read":    staleRead,
	"missing-retry": missingRetry,
	"stuck":         stuck,
	"hot-loop":      hotLoop,
	"restless":      restless,
	// Wrong for program parts alone.
	"gives-up":  givesUp,
	"impatient": impatient,
}

func main() {
	c := &controller{name: "web"}
	flag.StringVar(&c.vSwitch, "vswitch", "", "make an intranet load balancer in this vSwitch")
	flag.BoolVar(&c.deletes, "delete", false, "delete the load balancer")
	flag.DurationVar(&c.lateness, "late", 20*time.Second, "when late repeats a creation")
	flag.Parse()
	run := bank[flag.Arg(0)]
	if run == nil {
		fmt.Fprintf(os.Stderr, "controllers: no controller is called %q: there are %s\n", flag.Arg(0), strings.Join(slices.Sorted(maps.Keys(bank)), ", "))
		os.Exit(2)
	}
	if err := run(c); err != nil {
		fmt.Fprintln(os.Stderr, "controllers:", err)
		os.Exit(1)
	}
}
