package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/agents"
	"github.com/clbemu/clbemu/emulator/annotations"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

func newMCP() *cobra.Command {
	f := &connection{}
	changes := false
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let a program with a language model work with a running emulator",
		Long: `Serve the Model Context Protocol (MCP) on standard input and output, for programs that
use a language model. Its tools read a running emulator: clouds, resources, journal,
conditions and fault rules; they explain errors, and check scenarios. With
--allow-changes they also fork clouds, call actions that change them, set conditions,
add fault rules and run scenarios.

An emulator may start before or after it.

The program starts the command itself; enter the command line in its list of MCP servers.`,
		Example: `  clbemu mcp
  clbemu mcp --allow-changes --server 127.0.0.1:9601`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := f.client(); err != nil {
				return err
			}
			err := agents.Serve(cmd.Context(), agents.Config{
				Client: func(cloud string) (*controlclient.Client, error) {
					switch cloud {
					case "":
						cloud = f.forked()
					case controlapi.DefaultCloud:
						cloud = ""
					}
					return f.clientOf(cloud)
				},
				Changes: changes, Lint: lintText, Compare: changesOf, Names: knownNames(), Version: version().Version,
			}, &mcp.IOTransport{Reader: io.NopCloser(cmd.InOrStdin()), Writer: nopCloser{cmd.OutOrStdout()}})
			if err == nil || cmd.Context().Err() != nil || errors.Is(err, io.EOF) {
				return nil // the client has left
			}
			return cannot(fmt.Errorf("the client's messages can't be read: %w", err))
		},
	}
	f.define(cmd.Flags())
	cmd.Flags().BoolVar(&changes, "allow-changes", false, "add the tools that change the emulator")
	return cmd
}

// lintText checks Services as lint-service does.
func lintText(ctx context.Context, text, ccm string) (any, error) {
	if _, is := annotations.IsVersion(ccm); ccm != "" && !is {
		return nil, fmt.Errorf("ccm_version: %q is not a version, such as v2.9.1", ccm)
	}
	found, services, unread := (&serviceLint{version: ccm}).checkAll(ctx, []lintedText{{file: "yaml", text: []byte(text)}})
	if unread == nil && services == 0 && len(found) == 0 {
		unread = []error{errors.New("there is no Service to check")}
	}
	if len(found) == 0 {
		return list("problems", found), errors.Join(unread...)
	}
	shown := map[string]any{"problems": found}
	if unread != nil {
		shown["unread"] = errors.Join(unread...).Error()
	}
	return shown, nil
}

// nopCloser leaves standard output open.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
