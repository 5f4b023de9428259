package memory_test

import (
	"testing"

	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/enginetest"
	"github.com/clbemu/clbemu/state/engine/memory"
)

func TestEngine(t *testing.T) {
	media := make(map[string]*memory.Engine)
	enginetest.Run(t, func(t *testing.T) engine.Engine {
		if media[t.Name()] == nil {
			media[t.Name()] = &memory.Engine{}
		}
		return media[t.Name()]
	})
}

func TestFollow(t *testing.T) { enginetest.Follow(t, &memory.Engine{}) }
