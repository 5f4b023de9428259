package enginetest

import (
	"context"
	"errors"

	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// FullDisk is an engine in memory that takes nothing more once it is Full.
type FullDisk struct {
	memory.Engine
	Full bool
}

var _ engine.Engine = (*FullDisk)(nil)

// FullPath is the path of the disk in its errors.
const FullPath = "/home/somebody/clbemu-data"

// ErrFull is why it takes nothing.
var ErrFull = errors.New("write " + FullPath + ": no space left on device")

// Commit implements engine.Engine.
func (d *FullDisk) Commit(ctx context.Context, sets []engine.ChangeSet) error {
	if d.Full {
		return ErrFull
	}
	return d.Engine.Commit(ctx, sets)
}

// Recover implements engine.Engine.
func (d *FullDisk) Recover(ctx context.Context) error {
	if d.Full {
		return ErrFull
	}
	return d.Engine.Recover(ctx)
}
