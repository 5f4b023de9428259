package ecs

import "github.com/clbemu/clbemu/emulator/internal/gateway"

var guesses = []gateway.Guess{
	{Evidence: "CLB-0335", Actions: []string{"AuthorizeSecurityGroup", "DescribeSecurityGroupAttribute"}},
}
