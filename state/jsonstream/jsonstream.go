// Package jsonstream reads a large JSON document piece by piece, so that only the parts
// that its caller keeps stay in memory. It bounds the size of one piece, and knows
// nothing of the contents.
package jsonstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Reader reads one document.
type Reader struct {
	decoder *json.Decoder
	source  *bounded
}

// MaxValue is the size of the largest value read as one, in bytes.
const MaxValue = 4 << 20

// ErrTooLarge is the error for a value of more than MaxValue bytes.
var ErrTooLarge = fmt.Errorf("a value has more than %d bytes", MaxValue)

// New returns a reader of what r has.
func New(r io.Reader) *Reader {
	source := &bounded{r: r}
	return &Reader{json.NewDecoder(source), source}
}

// bounded hands out so much before it fails.
type bounded struct {
	r    io.Reader
	room int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.room <= 0 {
		return 0, ErrTooLarge
	}
	n, err := b.r.Read(p[:min(len(p), b.room)])
	b.room -= n
	return n, err
}

// token reads the next token, which may be a text of some length.
func (r *Reader) token() (json.Token, error) {
	r.source.room = MaxValue
	return r.decoder.Token()
}

// Value reads the next value.
func (r *Reader) Value(into any) error {
	r.source.room = MaxValue
	err := r.decoder.Decode(into)
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Object reads an object. For each key, value must read its value.
func (r *Reader) Object(value func(key string) error) error {
	return r.within('{', '}', func() error {
		key, err := r.token()
		if err != nil {
			return err
		}
		return value(key.(string)) // the decoder takes nothing else for a key
	})
}

// Array reads an array. For each element, value must read it.
func (r *Reader) Array(value func() error) error {
	return r.within('[', ']', value)
}

func (r *Reader) within(begin, end json.Delim, read func() error) error {
	if err := r.delimiter(begin); err != nil {
		return err
	}
	for r.more() {
		if err := read(); err != nil {
			return err
		}
	}
	return r.delimiter(end)
}

func (r *Reader) more() bool {
	r.source.room = MaxValue
	return r.decoder.More()
}

func (r *Reader) delimiter(want json.Delim) error {
	got, err := r.token()
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case got != want:
		return fmt.Errorf("byte %d: want %s", r.decoder.InputOffset(), want)
	}
	return nil
}

// Skip passes over the next value, however large it is.
func (r *Reader) Skip() error {
	for depth := 0; ; {
		token, err := r.token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// End makes sure that nothing follows the document.
func (r *Reader) End() error {
	_, err := r.token()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		err = errors.New("there is more behind it")
	}
	return err
}

// InWords returns an error of the JSON library in words for people who don't know Go's types.
func InWords(err error) error {
	wrong := (*json.UnmarshalTypeError)(nil)
	if !errors.As(err, &wrong) {
		return err
	}
	field := wrong.Field
	if field == "" {
		field = "it"
	}
	return fmt.Errorf("%s can't be of the kind %s", field, wrong.Value)
}
