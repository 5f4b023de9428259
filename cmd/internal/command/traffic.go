package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlapi"
)

func newTraffic() *cobra.Command {
	var to connection
	cmd := &cobra.Command{
		Use:   "traffic [NAME|ID]",
		Short: "Show the connections, requests and bytes of listeners, by server",
		Long: `Show what went through listeners since they began to answer, by server: open
connections, all connections, requests, bytes and failures. NAME names
load balancers or listeners, and may be a glob.`,
		Example: `  clbemu traffic
  clbemu traffic web
  clbemu traffic web --json`,
		Args: atMost(1, "a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			traffic, err := to.traffic(cmd, args)
			if err != nil {
				return err
			}
			return printing(cmd).show(traffic, func(s *terminal.Screen) error { return printTraffic(s, traffic.Listeners) })
		},
	}
	to.define(cmd.Flags())
	return cmd
}

func (f *connection) traffic(cmd *cobra.Command, args []string) (traffic controlapi.Traffic, err error) {
	c, err := f.client()
	if err != nil {
		return traffic, err
	}
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	traffic, err = c.Traffic(cmd.Context(), name)
	return traffic, withExitCode(err)
}

func printTraffic(s *terminal.Screen, listeners []controlapi.ListenerTraffic) error {
	var rows [][]string
	for _, l := range listeners {
		if len(l.Servers) == 0 {
			rows = append(rows, []string{l.Listener, "", "", "", "", "", "", ""})
		}
		for _, server := range l.Servers {
			rows = append(rows, []string{l.Listener, server.Server, fmt.Sprint(server.Active), fmt.Sprint(server.Connections), fmt.Sprint(server.Requests),
				fmt.Sprint(server.BytesIn), fmt.Sprint(server.BytesOut), fmt.Sprint(server.Errors)})
		}
	}
	if len(rows) == 0 {
		s.Printf("no listener answers\n")
		return nil
	}
	return s.Table([]string{"LISTENER", "SERVER", "OPEN", "CONNECTIONS", "REQUESTS", "IN", "OUT", "ERRORS"}, rows)
}

func newURL() *cobra.Command {
	var to connection
	cmd := &cobra.Command{
		Use:   "url NAME|ID",
		Short: "Print where the listeners of a load balancer answer on this machine",
		Long: `Print the URL at which each listener of a load balancer, or one listener, answers on
this machine: http://, https://, tcp://, tls:// or udp:// with an address and port,
which stay the same as long as the listener exists. With clbemu serve --data-plane
addresses a listener has one URL for each address of its load balancer, and ports that
follow each other are a range.`,
		Example: `  clbemu url web
  curl "$(clbemu url web)"`,
		Args: one("the name of a load balancer or the id of a listener"),
		RunE: func(cmd *cobra.Command, args []string) error {
			traffic, err := to.traffic(cmd, args)
			if err != nil {
				return err
			}
			return printing(cmd).show(traffic, func(s *terminal.Screen) error { return printURLs(s, traffic.Listeners) })
		},
	}
	to.define(cmd.Flags())
	return cmd
}

func printURLs(s *terminal.Screen, listeners []controlapi.ListenerTraffic) error {
	var problems []error
	for _, l := range listeners {
		if l.AnswersAt == "" {
			problems = append(problems, fmt.Errorf("the listener %s does not answer: %s", l.Listener, l.Problem))
			continue
		}
		scheme := l.Protocol
		if scheme == "tcpssl" {
			scheme = "tls"
		}
		for _, at := range strings.Split(l.AnswersAt, ", ") {
			s.Printf("%s://%s\n", scheme, at)
		}
	}
	if len(listeners) == 0 {
		problems = append(problems, errors.New("it has no listener: create and start one"))
	}
	return cannot(errors.Join(problems...))
}
