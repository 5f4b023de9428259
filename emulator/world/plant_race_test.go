package world_test

import (
	"strconv"
	"testing"

	"github.com/clbemu/clbemu/emulator/world"
)

// TestPlantAtOnce proves that planting leaves a world as it is: stores that are planted
// with one at once get the same rows, and the race detector finds nothing.
func TestPlantAtOnce(t *testing.T) {
	w := world.Default()
	want := exported(t, mustPlant(t, w))
	for n := range 4 {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			if got := exported(t, mustPlant(t, w)); got != want {
				t.Errorf("planted %.300s, want %.300s", got, want)
			}
		})
	}
}
