package gateway

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cespare/xxhash/v2"
)

// The file of used nonces is a header and records of the same size: the floor
// first, and then a nonce each, in the order of use. A record ends with
// a checksum of itself. Version 1 had none.
const (
	nonceHeader = "clbemu nonces 2\n"
	nonceRecord = 24

	olderHeader = "clbemu nonces 1\n"
	olderRecord = 16
)

// nonceFile appends records, and is rewritten when most of them are useless.
type nonceFile struct {
	path string
	file *os.File
	size int64 // of what is good: a record that was half written is written over
}

func (r nonce) bytes() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, nonceRecord), uint64(r.span))
	b = binary.BigEndian.AppendUint64(b, r.digest)
	return binary.BigEndian.AppendUint64(b, xxhash.Sum64(b))
}

// readRecord reads a record, and reports whether it is intact.
func readRecord(b []byte) (r nonce, good bool) {
	r = nonce{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint64(b[8:])}
	return r, len(b) == olderRecord || binary.BigEndian.Uint64(b[16:]) == xxhash.Sum64(b[:16])
}

// readNonces reads a file; one that is not there has none.
func readNonces(path string) (floor int64, records []nonce, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, fmt.Errorf("used nonces: %w", err)
	}
	unusable := func(what string) error {
		return fmt.Errorf("%s %s: delete it, which lets calls of the last %s be sent again", path, what, timestampWindow)
	}
	size := nonceRecord
	switch {
	case bytes.HasPrefix(text, []byte(nonceHeader)):
	case bytes.HasPrefix(text, []byte(olderHeader)):
		size = olderRecord
	default:
		return 0, nil, unusable("holds no used nonces")
	}
	text = text[len(nonceHeader):]
	bad := -1 // the first record that is damaged
	for n := 0; len(text) >= size; n, text = n+1, text[size:] {
		r, good := readRecord(text[:size])
		switch {
		case good && bad >= 0:
			// What was not on the disk when the machine lost its power is at the end.
			return 0, nil, unusable(fmt.Sprintf("is damaged (record %d does not have its checksum)", bad))
		case good:
			records = append(records, r)
		case bad < 0:
			bad = n
		}
	}
	if len(records) == 0 {
		return 0, nil, unusable("is damaged, or cut off")
	}
	return records[0].span, records[1:], nil
}

// append adds one of the nonces.
func (f *nonceFile) append(all *Nonces, used nonce) error {
	if f.file == nil || f.size >= int64(2*cmp.Or(all.limit, maxNonces)*nonceRecord) {
		return f.write(all)
	}
	if _, err := f.file.WriteAt(used.bytes(), f.size); err != nil {
		return err
	}
	f.size += int64(nonceRecord)
	return nil
}

// write replaces the file with a new one that has all nonces.
func (f *nonceFile) write(all *Nonces) error {
	text := append([]byte(nonceHeader), nonce{span: all.floor}.bytes()...)
	for at, s := range all.spans {
		for digest := range s.digests {
			text = append(text, nonce{at, digest}.bytes()...)
		}
	}
	file, err := os.OpenFile(f.path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = errors.Join(file.Sync(), os.Rename(file.Name(), f.path))
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if f.file != nil {
		err = f.file.Close()
	}
	f.file, f.size = file, int64(len(text))
	return err
}

func (f *nonceFile) close() error {
	err := errors.Join(f.file.Sync(), f.file.Close())
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
