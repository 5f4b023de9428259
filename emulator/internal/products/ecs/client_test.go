package ecs_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/products/ecs"
	"github.com/clbemu/clbemu/state"
)

func newClient(t *testing.T, plants ...func(*state.Tx) error) *gatewaytest.Client {
	t.Helper()
	store := gatewaytest.Store(t, append([]func(*state.Tx) error{plantWorld}, plants...)...)
	return gatewaytest.NewClient(t, store, ecs.Product(gateway.Deps{}))
}
