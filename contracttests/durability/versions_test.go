package durability_test

import "github.com/clbemu/clbemu/emulator"

var (
	ecsVersion = emulator.Version("Ecs")
	slbVersion = emulator.Version("Slb")
	vpcVersion = emulator.Version("Vpc")
)
