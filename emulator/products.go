package emulator

import (
	"github.com/clbemu/clbemu/emulator/rpc"
)

// Products lists the APIs of the emulated cloud.
func Products() []*rpc.Product {
	return []*rpc.Product{}
}
