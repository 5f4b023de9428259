package trail

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxEvent limits an event, in bytes.
const maxEvent = 4 << 20

// maxNested limits lists in lists.
const maxNested = 20

// errBroken is the error of a text that is no JSON, behind which the next line may be.
var errBroken = errors.New("it is no JSON")

// pieces reads JSON values one after the other, and keeps one object of at most maxEvent
// bytes at a time.
type pieces struct {
	*bufio.Reader
	kept []byte // of the object that is read
	long bool   // it has more than maxEvent bytes
}

// keep adds a byte to the object that is read.
func (p *pieces) keep(b byte) {
	if p.long = p.long || len(p.kept) >= maxEvent; !p.long {
		p.kept = append(p.kept, b)
	}
}

// next reads the next byte that is neither a space nor to be left out.
func (p *pieces) next(leave string) (byte, error) {
	for {
		b, err := p.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' && bytes.IndexByte([]byte(leave), b) < 0 {
			return b, nil
		}
	}
}

// value reads a value that begins with a byte, which has been read. It calls object for each object that
// is in no other one, or in a list of events.
func (p *pieces) value(begin byte, object func(), nested int) error {
	switch {
	case nested > maxNested:
		return fmt.Errorf("it has more than %d lists within each other", maxNested)
	case begin == '{':
		return p.object(object, nested)
	case begin != '[':
		p.kept, p.long = p.kept[:0], false
		defer object()
		return p.whole(begin)
	}
	for {
		b, err := p.next(",")
		if err != nil || b == ']' {
			return err
		}
		if err := p.value(b, object, nested+1); err != nil {
			return err
		}
	}
}

// object reads an object, whose first byte has been read. If it has a list of events, these
// are its objects.
func (p *pieces) object(object func(), nested int) error {
	p.kept, p.long = append(p.kept[:0], '{'), false
	events := false
	for {
		b, err := p.next("")
		if err != nil {
			return err
		}
		if b == '}' {
			break
		}
		if b == ',' {
			p.keep(b)
			continue
		}
		if b != '"' {
			return errBroken
		}
		list, err := p.field()
		if err != nil {
			return err
		}
		if list {
			events = true
			if err := p.value('[', object, nested+1); err != nil {
				return err
			}
			p.kept, p.long = append(p.kept[:0], '{'), false
		}
	}
	if p.keep('}'); !events {
		object()
	}
	return nil
}

// field reads a field of an object, after its first quotation mark. It reports whether the field is
// a list of events, of which it has read only the first byte.
func (p *pieces) field() (list bool, err error) {
	begin := len(p.kept)
	if err := p.text(); err != nil {
		return false, err
	}
	key := string(p.kept[begin:])
	b, err := p.next("")
	if err == nil && b != ':' {
		err = errBroken
	}
	if err != nil {
		return false, err
	}
	p.keep(':')
	if b, err = p.next(""); err != nil {
		return false, err
	}
	switch key {
	case `"Events"`, `"entries"`, `"Records"`, `"records"`:
		if b == '[' {
			return true, nil
		}
	}
	return false, p.whole(b)
}

// text reads the rest of a text, whose first quotation mark has been read.
func (p *pieces) text() error {
	p.keep('"')
	for escaped := false; ; {
		b, err := p.ReadByte()
		if err != nil {
			return err
		}
		if b == '\n' {
			return errors.Join(errBroken, p.UnreadByte()) // the line ends here
		}
		p.keep(b)
		if b == '"' && !escaped {
			return nil
		}
		escaped = b == '\\' && !escaped
	}
}

// whole reads the rest of a value, whose first byte has been read.
func (p *pieces) whole(b byte) error {
	for depth := 0; ; {
		var err error
		switch b {
		case '"':
			err = p.text()
		case '{', '[':
			p.keep(b)
			depth++
		case '}', ']':
			p.keep(b)
			depth--
		default:
			p.keep(b)
		}
		if err == nil && depth < 0 {
			err = errBroken
		}
		if err != nil {
			return err
		}
		if depth == 0 {
			begun, err := p.Peek(1)
			if b == '"' || b == '}' || b == ']' || err != nil || bytes.IndexByte([]byte(",]} \t\r\n"), begun[0]) >= 0 {
				return nil
			}
		}
		if b, err = p.ReadByte(); err != nil {
			return err
		}
	}
}

// line reads the rest of a line. What is longer than the reader's buffer is left out.
func (p *pieces) line() ([]byte, error) {
	line, err := p.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	line = bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = p.ReadSlice('\n')
	}
	return line, err
}

// noEOF returns the error, in words if it says that the file ends too early.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends in the middle of an event")
	}
	return err
}
