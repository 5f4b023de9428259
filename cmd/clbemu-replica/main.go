// Command clbemu-replica is clbemu with one more engine: etcd, in which several emulators
// share a state. It is a module of its own, so that clbemu does not link etcd's client.
package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/clbemu/clbemu/cmd/clbemu-replica/etcd"
	"github.com/clbemu/clbemu/cmd/internal/command"
	"github.com/clbemu/clbemu/state/engine"
)

func main() {
	seen := &etcd.Seen{} // over all terms of this process
	// The image has this program under the name clbemu.
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	command.Program{Name: name, OpenEtcd: func(ctx context.Context, at command.Etcd) (engine.Elected, error) {
		return etcd.Open(ctx, etcd.Config{Endpoints: at.Endpoints, Prefix: at.Prefix, TLS: at.TLS, Username: at.Username, Password: at.Password, Seen: seen})
	}}.Main()
}
