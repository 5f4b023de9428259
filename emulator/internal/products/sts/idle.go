package sts

import "github.com/clbemu/clbemu/emulator/internal/gateway"

// idle are the parameters that nothing here reads, as they change no answer.
var idle = []gateway.Idle{
	{Parameter: "ExternalId", Actions: []string{"AssumeRole"}, Why: "roles have no trust policy that could ask for it"},
}
