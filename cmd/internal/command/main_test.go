package command

import (
	"os"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// plain is clbemu.
var plain = Program{Name: programName}
