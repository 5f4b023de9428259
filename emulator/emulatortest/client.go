package emulatortest

import (
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
)

// The versions that choose a product.
var (
	Slb = emulator.Version("Slb")
	Nlb = emulator.Version("Nlb")
	Vpc = emulator.Version("Vpc")
	Ecs = emulator.Version("Ecs")
)

// Client calls the API over HTTP as the RPC-style SDKs do.
type Client = apiclient.Client

// Reply is an answer in JSON.
type Reply = apiclient.Reply

// Client returns a client of the server.
func (s *Server) Client() *Client { return &Client{URL: s.URL()} }

// Sign returns the query of a POST, signed with the default world's key.
func Sign(version, action string, params map[string]string) string {
	return (&Client{}).Sign(version, action, params)
}
