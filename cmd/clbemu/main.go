// Command clbemu emulates Alibaba Cloud's Classic Load Balancer API on this machine.
package main

import "github.com/clbemu/clbemu/cmd/internal/command"

func main() { command.Program{Name: "clbemu"}.Main() }
