// Package world owns the world file: the YAML that describes the cloud before the
// first call, such as accounts, regions, networks and instances. It turns the file
// into resources of package state. Load balancers are created by the handlers of their
// APIs; the world knows no other.
//
// Parse checks a file by planting it into a scratch store, with the same code that
// plants it into the real one: a file that Parse accepts can be planted.
package world

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/yamlfile"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// defaultName is the name of the default world in errors.
const defaultName = "default.yaml"

// DefaultText is the default world, with comments that explain every field.
//
//go:embed default.yaml
var DefaultText []byte

// apis holds what a world file describes: the kinds of resources, and the products that create some
// of them.
type apis struct {
	schema   *state.Schema
	products func() []*products.Product
}

// emulated is the cloud that clbemu emulates. Its products are built once, and not where no
// world needs them: that takes longer than the rest of a start.
var emulated = &apis{kinds.Schema, sync.OnceValue(products.All)}

// World is a world file without errors.
type World struct {
	of   *apis
	name string
	spec *spec
}

// RegionIDs returns the ids of the world's regions.
func (w *World) RegionIDs() []string {
	ids := make([]string, len(w.spec.Regions))
	for i, r := range w.spec.Regions {
		ids[i] = r.ID.text
	}
	return ids
}

// Default returns the world of DefaultText, which a test rehearses in place of
// each start.
func Default() *World { return readDefault() }

// readDefault reads the default once: it takes longer than the rest of a start.
var readDefault = sync.OnceValue(func() *World {
	d := &yamlfile.Decoder{File: defaultName}
	s := read(d, DefaultText)
	if err := d.Err(); err != nil {
		panic(fmt.Sprintf("world: the default is wrong: %v", err))
	}
	return &World{emulated, defaultName, s}
})

// Load reads a world file.
func Load(path string) (*World, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the world: %w", err)
	}
	return Parse(path, text)
}

// mostText bounds a world file, in bytes.
const mostText = 64 << 20

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, mostText+1))
	if err == nil && len(text) > mostText {
		err = fmt.Errorf("%s has more than %d MiB", path, mostText>>20)
	}
	return text, err
}

// Parse reads the text of a world file. The error is yamlfile.Problems: everything
// that is wrong with it.
func Parse(name string, text []byte) (*World, error) { return emulated.parse(name, text) }

// ParseWith reads the text of a world file of a cloud with more kinds and products than the
// emulated one.
func ParseWith(schema *state.Schema, list []*products.Product, name string, text []byte) (*World, error) {
	return (&apis{schema, func() []*products.Product { return list }}).parse(name, text)
}

func (c *apis) parse(name string, text []byte) (*World, error) {
	d := &yamlfile.Decoder{File: name}
	s := read(d, text)
	if s == nil {
		return nil, d.Err()
	}
	planted, err := c.dryRun(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, p := range planted.in(name) {
		d.Add(p)
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	return &World{c, name, s}, nil
}

// read decodes a world file; nil is a text that is none.
func read(d *yamlfile.Decoder, text []byte) *spec {
	root := d.Document(text)
	if root == nil {
		return nil
	}
	s := &spec{}
	d.Decode(root, s, "")
	return s
}

// errDryRun undoes a rehearsal.
var errDryRun = errors.New("rehearsed")

// dryRun plants into a scratch store and returns what went wrong.
func (c *apis) dryRun(s *spec) (found problems, err error) {
	store, err := state.Open(context.Background(), state.Config{
		Schema: c.schema, Engine: &memory.Engine{},
		Clock: state.NewManualClock(time.Unix(0, 0)),
		Seed:  1,
	})
	if err != nil {
		return nil, err
	}
	err = store.Update(state.Owner{}, func(tx *state.Tx) error {
		found = c.plant(tx, s)
		return errDryRun
	})
	if !errors.Is(err, errDryRun) {
		return nil, err
	}
	return found, store.Close()
}

// Plant creates the world in an empty store, and leaves the world as it is: several
// stores may be planted with one at once.
func (w *World) Plant(tx *state.Tx) error {
	everything := tx.In(state.Owner{})
	if !everything.Empty() {
		return errors.New("a world can be planted only where nothing is yet: reset the state first")
	}
	return w.of.plant(everything, w.spec).in(w.name).Err()
}
