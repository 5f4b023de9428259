package emulator

import (
	"github.com/clbemu/clbemu/emulator/clb"
	"github.com/clbemu/clbemu/emulator/ecs"
	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/emulator/vpc"
)

// Products lists the APIs of the emulated cloud.
func Products() []*rpc.Product {
	return []*rpc.Product{clb.Product(), vpc.Product(), ecs.Product()}
}
