package gateway

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// The file of used nonces is a header and records of the same size: the floor
// first, and then a nonce each, in the order in which they were used.
const (
	nonceHeader = "clbemu nonces 1\n"
	nonceRecord = len(nonceHeader)
)

// nonceFile appends records, and is written anew when most of them are of no use.
type nonceFile struct {
	path string
	file *os.File
	size int64 // of what is good: a record that was half written is written over
}

func (r nonce) bytes() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, nonceRecord), uint64(r.span))
	return binary.BigEndian.AppendUint64(b, r.digest)
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
	if len(text) < 2*nonceRecord || string(text[:nonceRecord]) != nonceHeader {
		return 0, nil, fmt.Errorf("%s holds no used nonces: delete it, which lets calls of the last %s be sent again", path, timestampWindow)
	}
	for rest := text[nonceRecord:]; len(rest) >= nonceRecord; rest = rest[nonceRecord:] {
		records = append(records, nonce{int64(binary.BigEndian.Uint64(rest)), binary.BigEndian.Uint64(rest[8:])})
	}
	return records[0].span, records[1:], nil
}

// append adds one of the nonces.
func (f *nonceFile) append(all *Nonces, used nonce) error {
	if f.size >= int64(2*cmp.Or(all.limit, maxNonces)*nonceRecord) {
		return f.write(all)
	}
	if _, err := f.file.WriteAt(used.bytes(), f.size); err != nil {
		return err
	}
	f.size += int64(nonceRecord)
	return nil
}

// write puts a new file with all nonces in place of what is there.
func (f *nonceFile) write(all *Nonces) error {
	text := append([]byte(nonceHeader), nonce{span: all.floor}.bytes()...)
	for span, digests := range all.spans {
		for digest := range digests {
			text = append(text, nonce{span, digest}.bytes()...)
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
